/**
 * How every published package is built: one ES module per source module, types by `tsc -b` beside them.
 *
 * Modules keep their places, so that a worker or runner named by `new URL("./x.ts", import.meta.url)` is found
 * in `dist` as in `src`, and so that a host's bundler drops what it does not use.
 */
import { readFile } from "node:fs/promises"
import { dirname, sep } from "node:path"
import { defineConfig, type Options } from "tsup"
import { withBuiltUrls } from "./BuiltUrls.ts"
import { requireOfPrograms, withoutUnused } from "./Program.ts"

/** tsup brings its own esbuild; its plugins are typed through it. */
type Plugin = NonNullable<Options["esbuildPlugins"]>[number]
type BuildOptions = Parameters<NonNullable<Options["esbuildOptions"]>>[0]

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
        ? { contents: withBuiltUrls(await readFile(module.path, "utf8"), ".js"), loader: "ts" }
        : undefined
    )
  }
}

export interface PackageOptions {
  /**
   * Folders of `src` whose `main.ts` becomes one script, by what the bundler is told: for places where there is no
   * module to import.
   */
  readonly scripts?: Readonly<Record<string, BuildOptions>>
  /**
   * Modules of `src` that begin a process or a thread of their own, `folder/main` or `module`: each is built into one
   * file with all that it uses, so that it starts quickly. Such a folder has nothing in it for others.
   */
  readonly programs?: ReadonlyArray<string>
}

/** `tsup.config.ts` of a published package: `export default weftPackage()`. */
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
  // `node:sqlite` and its like have no name without it.
  removeNodeProtocol: false,
  esbuildPlugins: [keepModules]
})

const wholeScript = (folder: string, script: BuildOptions): Options => ({
  entry: { [`${folder}/main`]: `src/${folder}/main.ts` },
  // Of the name only: what it becomes is said below.
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
  // The engine is native.
  noExternal: [/^(?!isolated-vm$)/],
  // Its map would be larger than all the rest of a package. Traces still name functions.
  sourcemap: false,
  banner: { js: requireOfPrograms },
  esbuildPlugins: [withoutUnused],
  esbuildOptions: (options) => {
    options.minifySyntax = true
    options.minifyWhitespace = true
    options.legalComments = "none"
    // Packages of this repository may not have been built yet.
    options.conditions = ["weft-source"]
  }
})
