/**
 * How every published package is built: one ES module per source module, types by `tsc -b` beside them.
 *
 * Modules keep their places, so that a worker or runner named by `new URL("./x.ts", import.meta.url)` is found
 * in `dist` as in `src`, and so that a host's bundler drops what it does not use.
 */
import { readFile } from "node:fs/promises"
import { dirname, sep } from "node:path"
import { defineConfig, type Options } from "tsup"
import { bundledDependencies } from "../Layout.ts"

/** tsup brings its own esbuild; its plugins are typed through it. */
type Plugin = NonNullable<Options["esbuildPlugins"]>[number]

const ownSources = `${process.cwd()}${sep}src${sep}`

/** Relative imports, and files named by URL, become the `.js` files that are built beside. */
const keepModules: Plugin = {
  name: "keep-modules",
  setup: (build) => {
    build.onResolve({ filter: /^\.\.?\// }, (imported) =>
      `${dirname(imported.importer)}${sep}`.startsWith(ownSources)
        ? { path: imported.path.replace(/\.ts$/, ".js"), external: true }
        : undefined
    )
    build.onLoad({ filter: /\.ts$/ }, async (module) =>
      module.path.startsWith(ownSources)
        ? { contents: withBuiltUrls(await readFile(module.path, "utf8")), loader: "ts" }
        : undefined
    )
  }
}

const withBuiltUrls = (code: string): string =>
  code.replace(/(new URL\(\s*["']\.[^"']*)\.ts(["'],\s*import\.meta\.url)/g, "$1.js$2")

/** `tsup.config.ts` of a published package: `export default weftPackage()`. */
export const weftPackage = () =>
  defineConfig({
    entry: ["src/**/*.ts"],
    format: "esm",
    target: "node24",
    platform: "node",
    splitting: false,
    sourcemap: true,
    dts: false,
    silent: true,
    // `node:sqlite` and its like have no name without it.
    removeNodeProtocol: false,
    noExternal: bundledDependencies,
    esbuildPlugins: [keepModules]
  })
