import { defineConfig, type Options } from "tsup"

const shared: Options = {
  format: "esm",
  target: "node24",
  platform: "node",
  // `node:sqlite` and its like have no name without it.
  removeNodeProtocol: false,
  dts: false,
  sourcemap: false,
  silent: true
}

/** Modules that bring the runtime with them. They are files of their own, so that other commands load nothing of it. */
const apart = /\/hosting\/(\w+)\.ts$/

/** Most commands are quick when there is one file to read and nothing to look for: what they need is inside. */
const program: Options = {
  ...shared,
  entry: ["src/main.ts"],
  splitting: true,
  minify: true,
  noExternal: [/^effect(\/|$)/, /^@effect\//, /^@weft\/client$/, /^fflate$/],
  esbuildOptions: (options) => {
    options.conditions = ["weft-source"]
  },
  esbuildPlugins: [
    {
      name: "apart",
      setup: (build) => {
        build.onResolve({ filter: apart }, ({ path }) => ({
          path: path.replace(/^.*(?=\/hosting\/)/, ".").replace(apart, "/hosting/$1.js"),
          external: true
        }))
      }
    }
  ]
}

const hosting: Options = { ...shared, entry: ["src/hosting/*.ts"], outDir: "dist/hosting", splitting: true }

export default defineConfig([program, hosting])
