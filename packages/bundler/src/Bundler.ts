/** Bundles the code of a project with esbuild. */
import { basename, resolve } from "node:path"
import { type BuildContext, type BuildFailure, type BuildOptions, type BuildResult, context } from "esbuild"
import { aliasPlugin } from "./Alias.ts"
import { createRequirePlugin } from "./CreateRequire.ts"
import { definitions, globalsPlugin, injections } from "./Globals.ts"
import { leftOutPlugin } from "./LeftOut.ts"
import { findMissing, findNeeds, mergeNeeds, type Needs, noNeeds } from "./Needs.ts"
import { nodePlugin } from "./NodePlugin.ts"

export interface BundleSettings {
  /** Folder of the project. Errors and source maps name files relative to it. */
  readonly folder: string
  /** Absolute path of the module that exports all functions. */
  readonly entry: string
  /** Additional conditions for conditional exports of packages. */
  readonly conditions?: ReadonlyArray<string>
  /** Replacements of imports: the name of a package, and what to import instead. */
  readonly alias?: Readonly<Record<string, string>>
  /** Packages that the build leaves out. Using one fails when the function runs. */
  readonly external?: ReadonlyArray<string>
}

type Options = ReturnType<typeof buildOptions>

type Result = BuildResult<Options>

export interface Bundled {
  /** Contents by name: `index.js`, and its source map `index.js.map`. */
  readonly files: Readonly<Record<string, Uint8Array>>
  /** Absolute paths of the source files. */
  readonly inputs: ReadonlyArray<string>
}

export interface ProjectBundler {
  /** Rejects with a `BuildFailure` of esbuild. The second bundle takes milliseconds, because modules are cached. */
  readonly bundle: () => Promise<Bundled>
  readonly dispose: () => Promise<void>
}

/**
 * Opens a bundler. It writes nothing: `bundle` returns `index.js` and its source map.
 *
 * It bundles the code without additions first. Most projects need none. Others are bundled again, with the additions that
 * the result needs.
 */
export const openBundler = (settings: BundleSettings): ProjectBundler => {
  const contexts = new Map<string, Promise<BuildContext<Options>>>()
  const rebuild = async (needs: Needs): Promise<Result> => {
    const key = JSON.stringify(needs)
    const opened = contexts.get(key) ?? context(buildOptions(settings, needs))
    contexts.set(key, opened)
    return (await opened).rebuild()
  }
  return {
    bundle: async () => {
      let needs = noNeeds
      while (true) {
        const attempt = await rebuild(needs).then(succeeded, failed)
        const next = mergeNeeds(
          needs,
          "result" in attempt ? needsOf(settings, attempt.result) : findMissing(attempt.failure)
        )
        if (JSON.stringify(next) !== JSON.stringify(needs)) needs = next
        else if ("result" in attempt) return toBundled(settings, attempt.result)
        else throw attempt.failure
      }
    },
    dispose: async () => {
      for (const opened of contexts.values()) await (await opened).dispose()
    }
  }
}

type Attempt = { readonly result: Result } | { readonly failure: BuildFailure }

const succeeded = (result: Result): Attempt => ({ result })

const failed = (error: unknown): Attempt => {
  if (isBuildFailure(error)) return { failure: error }
  throw error
}

const isBuildFailure = (error: unknown): error is BuildFailure => error instanceof Error && "errors" in error

const needsOf = ({ folder }: BundleSettings, { metafile, outputFiles }: Result): Needs =>
  findNeeds(folder, metafile, outputFiles.find(({ path }) => path.endsWith(".js"))?.text ?? "")

const toBundled = ({ folder }: BundleSettings, { metafile, outputFiles }: Result): Bundled => ({
  files: Object.fromEntries(outputFiles.map(({ path, contents }) => [basename(path), contents])),
  // Modules that a plugin made have a namespace instead of a file.
  inputs: Object.keys(metafile.inputs)
    .filter((input) => !/^[\w()-]+:/.test(input))
    .map((input) => resolve(folder, input))
})

/** Text and bytes that code can import. */
const loaders = {
  ...Object.fromEntries(
    [
      "css",
      "csv",
      "ejs",
      "gql",
      "graphql",
      "hbs",
      "html",
      "md",
      "mustache",
      "pem",
      "sql",
      "svg",
      "txt",
      "xml",
      "yaml",
      "yml"
    ].map((extension) => [`.${extension}`, "text"] as const)
  ),
  ...Object.fromEntries(
    ["bin", "gif", "gz", "ico", "jpeg", "jpg", "otf", "pdf", "png", "ttf", "wasm", "webp", "woff", "woff2", "zip"].map(
      (extension) => [`.${extension}`, "binary"] as const
    )
  ),
  // Some packages have JSX in files with this extension.
  ".js": "jsx" as const
}

/** Async functions that become generators: `node:async_hooks` can follow those across awaits. */
const lowered = { "async-await": false, "for-await": false, "async-generator": false } as const

const buildOptions = (settings: BundleSettings, { globals, asyncHooks, missing, requiring }: Needs) => {
  const { folder, entry, conditions = [], alias = {}, external = [] } = settings
  return {
    absWorkingDir: folder,
    entryPoints: [entry],
    outfile: "index.js",
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    // Neutral, so that packages are resolved for Node: their form for browsers expects a DOM.
    platform: "neutral",
    mainFields: ["module", "main"],
    conditions: [...conditions, "weft", "workerd", "worker", "node", "module"],
    define: definitions(globals),
    inject: injections(globals),
    plugins: [
      aliasPlugin(alias, folder),
      leftOutPlugin(external, missing),
      nodePlugin,
      createRequirePlugin(requiring),
      globalsPlugin(globals)
    ],
    loader: loaders,
    jsx: "automatic",
    target: "es2024",
    supported: asyncHooks ? lowered : {},
    sourcemap: "linked",
    // Stacks need names and lines, but the sources are not uploaded.
    sourcesContent: false,
    logLevel: "silent"
  } satisfies BuildOptions
}
