/**
 * The tsup configuration of every published package: one ES module per source module, next to the types of `tsc -b`.
 *
 * `dist` has the folder structure of `src`. Workers and runners that are named by `new URL("./x.ts", import.meta.url)`
 * are therefore found in both, and the bundler of a host can drop unused modules.
 */
import { readFile } from "node:fs/promises"
import { dirname, sep } from "node:path"
import { defineConfig, type Options } from "tsup"
import { withBuiltUrls } from "./BuiltUrls.ts"
import { requireOfPrograms, withoutUnused } from "./Program.ts"

/** tsup depends on its own version of esbuild, so the plugin types come from tsup. */
type Plugin = NonNullable<Options["esbuildPlugins"]>[number]
type BuildOptions = Parameters<NonNullable<Options["esbuildOptions"]>>[0]

const ownSources = `${process.cwd()}${sep}src${sep}`

/** Keeps relative imports external and rewrites their extension, and that of files named by URL, to `.js`. */
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
        ? { contents: withBuiltUrls(await readFile(module.path, "utf8"), ".js"), loader: "ts" }
        : undefined
    )
  }
}

export interface PackageOptions {
  /**
   * Folders of `src` whose `main.ts` is bundled into one script, with the esbuild options of each. For environments
   * that cannot import modules.
   */
  readonly scripts?: Readonly<Record<string, BuildOptions>>
  /**
   * Entry modules of processes and threads, as `folder/main` or `module`. Each is bundled into one file, so that it
   * starts quickly. Other modules must not import from such a folder.
   */
  readonly programs?: ReadonlyArray<string>
}

/** Returns the content of a `tsup.config.ts`: `export default weftPackage()`. */
export const weftPackage = ({ scripts = {}, programs = [] }: PackageOptions = {}) =>
  defineConfig([
    modulesBut([...Object.keys(scripts).map((folder) => `${folder}/main`), ...programs]),
    ...Object.entries(scripts).map(([folder, options]) => wholeScript(folder, options)),
    ...programs.map(wholeProgram)
  ])

const shared: Options = { format: "esm", target: "node24", splitting: false, sourcemap: true, dts: false, silent: true }

const withNeighbours = (module: string): string =>
  module.endsWith("/main") ? `!src/${module.slice(0, -"main".length)}**` : `!src/${module}.ts`

const modulesBut = (others: ReadonlyArray<string>): Options => ({
  ...shared,
  entry: ["src/**/*.ts", ...others.map(withNeighbours)],
  platform: "node",
  // `node:sqlite` and some other modules exist only with the prefix.
  removeNodeProtocol: false,
  esbuildPlugins: [keepModules]
})

const wholeScript = (folder: string, script: BuildOptions): Options => ({
  entry: { [`${folder}/main`]: `src/${folder}/main.ts` },
  // Determines the file extension only; `script` sets the real format below.
  format: "esm",
  splitting: false,
  noExternal: [/./],
  silent: true,
  esbuildOptions: (options) => void Object.assign(options, script)
})

const wholeProgram = (program: string): Options => ({
  ...shared,
  entry: { [program]: `src/${program}.ts` },
  platform: "node",
  removeNodeProtocol: false,
  // isolated-vm is a native addon.
  noExternal: [/^(?!isolated-vm$)/],
  // The source map would be larger than the rest of the package. Stack traces still name functions.
  sourcemap: false,
  banner: { js: requireOfPrograms },
  esbuildPlugins: [withoutUnused],
  esbuildOptions: (options) => {
    options.minifySyntax = true
    options.minifyWhitespace = true
    options.legalComments = "none"
    // Other packages of this repository may not be built yet.
    options.conditions = ["weft-source"]
  }
})
