/** Compiles the author's ES module to the script that isolates run, with a source map to the author's lines. */
import { ChildProcess } from "node:child_process"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import { BundleRejected, SandboxUnavailable } from "@weft/core/adapter"
import { Effect, Semaphore } from "effect"
import type * as Esbuild from "esbuild"
import type { BuildOptions, Message, OutputFile, Plugin, TransformOptions } from "esbuild"
import { markOptional } from "../protocol/OptionalNames.ts"
import { entryFile } from "./Archive.ts"
import { originalLine } from "./SourceText.ts"

export interface Compiled {
  readonly script: string
  /** A source map of the script, with the author's own merged in. */
  readonly sourceMap: string
}

/**
 * Lock of the compiler, which all sandboxes of this process share: esbuild has one process of its own, and stops it as a
 * whole. One bundle is compiled at a time. So a bundle that crashes the compiler is known, and affects no other.
 */
const compilerLock = Semaphore.makeUnsafe(1)

/** A module in memory, by the path with which others import it. */
export interface ModuleText {
  readonly contents: string
  readonly loader: "js" | "ts"
}

/** Modules to compile. The compiler reads nothing else. */
export interface Modules {
  readonly entry: string
  readonly files: ReadonlyMap<string, ModuleText>
}

/** Returns the only module of a bundle. Its last comment is the author's source map, which the compiler merges. */
export const bundleModule = (source: string, authorMap: string | undefined): ModuleText => ({
  contents: withMap(source, authorMap),
  loader: "js"
})

/** Compiles a bundle, as `compileModules` does. */
export const compile = (
  source: string,
  authorMap: string | undefined,
  compileMs: number
): Effect.Effect<Compiled, BundleRejected | SandboxUnavailable> =>
  compileModules({ entry: entryFile, files: new Map([[entryFile, bundleModule(source, authorMap)]]) }, compileMs)

/**
 * Compiles modules after those before them.
 *
 * Fails with `BundleRejected` for an error in the module, with its position. The same applies if it takes longer than
 * `compileMs`, or crashes the compiler twice. Fails with `SandboxUnavailable` if the compiler cannot be started.
 */
export const compileModules = (
  modules: Modules,
  compileMs: number
): Effect.Effect<Compiled, BundleRejected | SandboxUnavailable> =>
  compileGuarded(({ build }) => build(buildOptions(modules)).then(toTexts), compileMs)

/** Compiles one module without imports, as `compileModules` does, in about half the time. */
export const compileModule = (
  module: ModuleText,
  path: string,
  compileMs: number
): Effect.Effect<Compiled, BundleRejected | SandboxUnavailable> =>
  compileGuarded(
    ({ transform }) =>
      transform(module.contents, transformOptions(module, path)).then(({ code, map }) => ({
        script: code,
        sourceMap: map
      })),
    compileMs
  )

/**
 * Removes the types of a text without other changes, as `compileModules` compiles. With the loader `js`, the text is only
 * formatted in the same way.
 */
export const removeTypes = (
  module: ModuleText,
  path: string,
  compileMs: number
): Effect.Effect<string, BundleRejected | SandboxUnavailable> =>
  Effect.map(
    compileGuarded(
      ({ transform }) =>
        transform(module.contents, { ...typesOptions, loader: module.loader, sourcefile: path }).then(({ code }) => ({
          script: code,
          sourceMap: ""
        })),
      compileMs,
      (script) => script
    ),
    ({ script }) => script
  )

/** Starts a compilation. It calls the compiler before it returns. */
type Start = (compiler: Pick<typeof Esbuild, "build" | "transform">) => Promise<Texts>

interface Texts {
  readonly script: string | undefined
  readonly sourceMap: string | undefined
}

const toTexts = ({ outputFiles }: { readonly outputFiles: ReadonlyArray<OutputFile> }): Texts => ({
  script: outputFiles.find((file) => file.path.endsWith(".js"))?.text,
  sourceMap: outputFiles.find((file) => file.path.endsWith(".map"))?.text
})

const compileGuarded = (
  start: Start,
  compileMs: number,
  finish: (script: string) => string = markOptional
): Effect.Effect<Compiled, BundleRejected | SandboxUnavailable> =>
  Effect.retry(compileOnce(start, finish), { times: 1, while: (failed) => failed === died }).pipe(
    Effect.catchTag("CompilerDied", () => Effect.fail(rejected("index.js crashed the compiler"))),
    Effect.timeoutOrElse({
      duration: compileMs,
      orElse: () => Effect.fail(rejected(`index.js did not compile within ${compileMs} ms`))
    }),
    Semaphore.withPermits(compilerLock, 1)
  )

const compileOnce = Effect.fnUntraced(function* (start: Start, finish: (script: string) => string) {
  // Loaded at the first upload: most servers start without one.
  const compiler = yield* Effect.promise(() => import("esbuild"))
  const end = Effect.promise(compiler.stop)
  const compiling = yield* Effect.try({
    try: () => withGuardedProcesses(() => start(compiler)),
    // Errors in the module come later. The compiler cannot start now, for example without free descriptors.
    catch: (error) => new SandboxUnavailable({ reason: `the compiler: ${firstLine(error)}` })
  })
  const { script, sourceMap } = yield* Effect.tryPromise({ try: () => compiling, catch: toFailure }).pipe(
    // esbuild detects a dead process, but starts another one only after `stop`.
    Effect.tapError((failed) => (failed instanceof BundleRejected ? Effect.void : end)),
    // Otherwise it would continue an abandoned compilation.
    Effect.onInterrupt(() => end)
  )
  if (script === undefined || sourceMap === undefined) return yield* rejected("index.js compiles to an empty script")
  return { script: finish(script), sourceMap }
})

/**
 * Calls `start`, and ignores later errors of the processes that it starts. If the system has no descriptors for a process,
 * esbuild throws before it listens for the error that follows, which would end the host.
 */
const withGuardedProcesses = <A>(start: () => A): A => {
  const guard = (message: unknown): void => {
    if (typeof message !== "object" || message === null || !("process" in message)) return
    if (message.process instanceof ChildProcess) message.process.on("error", () => undefined)
  }
  subscribe("child_process", guard)
  try {
    return start()
  } finally {
    unsubscribe("child_process", guard)
  }
}

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).trim().split("\n")[0] ?? ""

/** Maximum length of lines that can be broken, in characters. */
const lineLengthMax = 10_000

/** Options of every compilation: a script that the kernel calls. */
const scriptOptions = {
  format: "iife",
  globalName: "__weft_bundle",
  platform: "neutral",
  target: "es2024",
  treeShaking: false,
  sourcemap: "external",
  sourcesContent: false,
  charset: "utf8",
  legalComments: "none",
  // With indentation, the output grows with the square of the nesting depth: 20 kB became 200 MB.
  minifyWhitespace: true,
  // The positions in stacks are numbers of up to seven digits.
  lineLimit: lineLengthMax,
  logLevel: "silent"
} as const

/** Options of a text that stays a text of its own, such as an input of a session. */
const typesOptions = {
  target: "es2024",
  treeShaking: false,
  charset: "utf8",
  legalComments: "none",
  minifyWhitespace: true,
  logLevel: "silent",
  // Imports that the text does not use are for later inputs.
  tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } }
} as const

/** The kernel calls the bundle, so that no error while loading reaches the engine. */
// A module is strict code, but the compiler omits the directive in a script.
const before = '__weft_load(()=>{"use strict";'
const after = "return __weft_bundle})"

const buildOptions = (modules: Modules) =>
  ({
    ...scriptOptions,
    entryPoints: [modules.entry],
    outfile: "bundle.js",
    bundle: true,
    write: false,
    plugins: [onlyTheseModules(modules)],
    banner: { js: before },
    footer: { js: after }
  }) satisfies BuildOptions

/** Options for one module without imports, which the compiler need not bundle. */
const transformOptions = ({ loader }: ModuleText, sourcefile: string) =>
  ({ ...scriptOptions, loader, sourcefile, banner: before, footer: after }) satisfies TransformOptions

const died = { _tag: "CompilerDied" } as const

/** Converts an error of esbuild. Errors in the module have a location. */
const toFailure = (error: unknown): BundleRejected | SandboxUnavailable | typeof died => {
  const { location, text } = firstMessage(error) ?? {
    location: null,
    text: error instanceof Error ? error.message : ""
  }
  if (location !== null) return rejected(describeFailure(error))
  if (/^(The service .*: )?spawn /.test(text)) return new SandboxUnavailable({ reason: `the compiler: ${text}` })
  return /^The service (was stopped|is no longer running)/.test(text) ? died : rejected(describeFailure(error))
}

const rejected = (reason: string): BundleRejected => new BundleRejected({ reason })

/** A plugin that provides modules from memory. The compiler reads no file, neither for imports nor for maps. */
const onlyTheseModules = ({ files }: Modules): Plugin => ({
  name: "only-these-modules",
  setup: (compiler) => {
    compiler.onResolve({ filter: /.*/ }, ({ kind, path }) => {
      if (files.has(path)) return { path, namespace: "bundle" }
      // Stays in the output and throws if reached. Code that tries to load Node's modules expects that.
      if (kind === "require-call" || kind === "require-resolve") return { path, external: true }
      return { errors: [{ text: `imports ${JSON.stringify(path)}: a bundler must put everything into index.js` }] }
    })
    compiler.onLoad({ filter: /.*/, namespace: "bundle" }, ({ path }) => files.get(path))
  }
})

/** Appends the source map as the module's last comment, which the compiler merges. */
const withMap = (source: string, authorMap: string | undefined): string => {
  if (authorMap === undefined) return source
  const encoded = Buffer.from(authorMap, "utf8").toString("base64")
  return `${source}\n//# sourceMappingURL=data:application/json;base64,${encoded}\n`
}

const describeFailure = (error: unknown): string => {
  const first = firstMessage(error)
  if (first === undefined) return `index.js does not compile: ${error instanceof Error ? error.message : String(error)}`
  const { location, text } = first
  if (location === null) return `index.js: ${text}`
  const file = location.file.replace(/^bundle:/, "")
  return `${file}:${originalLine(file, location.line)}:${location.column + 1} ${text}`
}

const firstMessage = (error: unknown): Message | undefined => {
  if (!(error instanceof Error) || !("errors" in error) || !Array.isArray(error.errors)) return undefined
  const [first]: Array<Message> = error.errors
  return first
}
