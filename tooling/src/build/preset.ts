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

export interface PackageOptions {
  /**
   * A folder of `src` that is built into one file, its `main.ts`, with all that it imports: a program for
   * a place where there is no module to import, and whose `require` is the bundler's lazy initialiser.
   */
  readonly program?: string
}

/** `tsup.config.ts` of a published package: `export default weftPackage()`. */
export const weftPackage = ({ program }: PackageOptions = {}) =>
  defineConfig(program === undefined ? modulesBut() : [modulesBut(program), wholeProgram(program)])

const shared: Options = { format: "esm", target: "node24", splitting: false, sourcemap: true, dts: false, silent: true }

const modulesBut = (program?: string): Options => ({
  ...shared,
  entry: ["src/**/*.ts", ...(program === undefined ? [] : [`!src/${program}/**`])],
  platform: "node",
  // `node:sqlite` and its like have no name without it.
  removeNodeProtocol: false,
  noExternal: bundledDependencies,
  esbuildPlugins: [keepModules]
})

const wholeProgram = (program: string): Options => ({
  ...shared,
  entry: { [`${program}/main`]: `src/${program}/main.ts` },
  platform: "neutral",
  noExternal: [/./]
})
