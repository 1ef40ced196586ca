/** Turns the author's ES module into the script that isolates run, and keeps the way back to the author's lines. */
import { BundleRejected, SandboxUnavailable } from "@weft/core"
import { Effect, Semaphore } from "effect"
import type { BuildOptions, Message, Plugin } from "esbuild"
import { entryFile } from "./Archive.ts"

export interface Compiled {
  readonly script: string
  /** A source map of the script, with the author's own merged in. */
  readonly sourceMap: string
}

/**
 * There is one compiler for all sandboxes of this process: esbuild keeps a process of its own, and ends it as a whole. Bundles
 * take turns, so that what ends it was being compiled, and nobody else loses anything by that.
 */
const turns = Semaphore.makeUnsafe(1)

/**
 * Fails with `BundleRejected`, with the position at fault, also where it takes longer than `compileMs` or the compiler dies
 * of it twice; with `SandboxUnavailable` where the compiler cannot be started. Waits for its turn.
 */
export const compile = (
  source: string,
  authorMap: string | undefined,
  compileMs: number
): Effect.Effect<Compiled, BundleRejected | SandboxUnavailable> =>
  Effect.retry(compileOnce(source, authorMap), { times: 1, while: (failed) => failed === died }).pipe(
    Effect.catchTag("CompilerDied", () => Effect.fail(rejected("index.js ended the compiler's process"))),
    Effect.timeoutOrElse({
      duration: compileMs,
      orElse: () => Effect.fail(rejected(`index.js did not compile within ${compileMs} ms`))
    }),
    Semaphore.withPermits(turns, 1)
  )

const compileOnce = Effect.fnUntraced(function* (source: string, authorMap: string | undefined) {
  // Loaded with the first upload: most starts of a server see none.
  const { build, stop } = yield* Effect.promise(() => import("esbuild"))
  const end = Effect.promise(stop)
  const { outputFiles } = yield* Effect.tryPromise({
    try: () => build(optionsOf(source, authorMap)),
    catch: failureOf
  }).pipe(
    // One that died is noticed, but another one begins only when it was told to stop.
    Effect.tapError((failed) => (failed instanceof BundleRejected ? Effect.void : end)),
    // It would go on with what nobody waits for.
    Effect.onInterrupt(() => end)
  )
  const script = outputFiles.find((file) => file.path.endsWith(".js"))?.text
  const sourceMap = outputFiles.find((file) => file.path.endsWith(".map"))?.text
  if (script === undefined || sourceMap === undefined) return yield* rejected("index.js compiles to nothing")
  return { script, sourceMap }
})

/** In characters, as far as lines can be broken. */
const lineLengthMax = 10_000

const optionsOf = (source: string, authorMap: string | undefined) =>
  ({
    entryPoints: [entryFile],
    outfile: "bundle.js",
    bundle: true,
    write: false,
    plugins: [onlyThisModule(withMap(source, authorMap))],
    format: "iife",
    globalName: "__weft_bundle",
    platform: "neutral",
    target: "es2024",
    treeShaking: false,
    sourcemap: "external",
    sourcesContent: false,
    charset: "utf8",
    legalComments: "none",
    // Indented, the output is as long as the square of how deep blocks are nested: 20 kB made 200 MB.
    minifyWhitespace: true,
    // The positions in stacks are numbers of up to seven digits.
    lineLimit: lineLengthMax,
    // The kernel calls the bundle, so that nothing it throws while loading reaches the engine.
    // A module is strict code; the compiler does not say so in a script.
    banner: { js: '__weft_load(()=>{"use strict";' },
    footer: { js: "return __weft_bundle})" },
    logLevel: "silent"
  }) satisfies BuildOptions

const died = { _tag: "CompilerDied" } as const

/** What is wrong with a module has a place in it. */
const failureOf = (error: unknown): BundleRejected | SandboxUnavailable | typeof died => {
  const { location, text } = firstMessage(error) ?? {
    location: null,
    text: error instanceof Error ? error.message : ""
  }
  if (location !== null) return rejected(reasonOf(error))
  if (/^(The service .*: )?spawn /.test(text)) return new SandboxUnavailable({ reason: `the compiler: ${text}` })
  return /^The service (was stopped|is no longer running)/.test(text) ? died : rejected(reasonOf(error))
}

const rejected = (reason: string): BundleRejected => new BundleRejected({ reason })

/** Gives the compiler one module out of memory. It never looks for a file: neither imports nor maps lead to any. */
const onlyThisModule = (contents: string): Plugin => ({
  name: "only-this-module",
  setup: (compiler) => {
    compiler.onResolve({ filter: /.*/ }, ({ kind, path }) => {
      if (kind === "entry-point") return { path: entryFile, namespace: "bundle" }
      // Left in place: it throws if it is ever reached, which code that asks for Node's modules cautiously expects.
      if (kind === "require-call" || kind === "require-resolve") return { path, external: true }
      return { errors: [{ text: `imports ${JSON.stringify(path)}: a bundler must put everything into index.js` }] }
    })
    compiler.onLoad({ filter: /.*/, namespace: "bundle" }, () => ({ contents, loader: "js" }))
  }
})

/** The compiler merges a map that it finds in the module's last comment. */
const withMap = (source: string, authorMap: string | undefined): string => {
  if (authorMap === undefined) return source
  const encoded = Buffer.from(authorMap, "utf8").toString("base64")
  return `${source}\n//# sourceMappingURL=data:application/json;base64,${encoded}\n`
}

const reasonOf = (error: unknown): string => {
  const first = firstMessage(error)
  if (first === undefined) return `index.js does not compile: ${error instanceof Error ? error.message : String(error)}`
  const { location, text } = first
  return location === null ? `index.js: ${text}` : `index.js:${location.line}:${location.column + 1} ${text}`
}

const firstMessage = (error: unknown): Message | undefined => {
  if (!(error instanceof Error) || !("errors" in error) || !Array.isArray(error.errors)) return undefined
  const [first]: Array<Message> = error.errors
  return first
}
