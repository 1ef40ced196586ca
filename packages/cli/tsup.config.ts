import { defineConfig, type Options } from "tsup"

const shared: Options = {
  format: "esm",
  target: "node24",
  platform: "node",
  // Modules such as `node:sqlite` exist only with the prefix.
  removeNodeProtocol: false,
  dts: false,
  sourcemap: false,
  silent: true
}

/** Modules that import the runtime. They are separate files, so that other commands do not load it. */
const separate = /\/hosting\/(\w+)\.ts$/

/** One file without module resolution at run time, so that commands start fast. */
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
      name: "separate-hosting",
      setup: (build) => {
        build.onResolve({ filter: separate }, ({ path }) => ({
          path: path.replace(/^.*(?=\/hosting\/)/, ".").replace(separate, "/hosting/$1.js"),
          external: true
        }))
      }
    }
  ]
}

const hosting: Options = { ...shared, entry: ["src/hosting/*.ts"], outDir: "dist/hosting", splitting: true }

export default defineConfig([program, hosting])
