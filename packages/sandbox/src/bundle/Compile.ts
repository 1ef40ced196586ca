/** Turns the author's ES module into the script that isolates run, and keeps the way back to the author's lines. */
import { BundleRejected, SandboxUnavailable } from "@weft/core"
import type { Message, Plugin } from "esbuild"
import { entryFile } from "./Archive.ts"

export interface Compiled {
  readonly script: string
  /** A source map of the script, with the author's own merged in. */
  readonly sourceMap: string
}

/**
 * Rejects with `BundleRejected`, with the position at fault; with `SandboxUnavailable` when the compiler, which is a process
 * of its own, died twice.
 */
export const compile = async (source: string, authorMap: string | undefined): Promise<Compiled> => {
  try {
    return await compileOnce(source, authorMap)
  } catch (error) {
    if (!(error instanceof SandboxUnavailable)) throw error
    // It notices its end, but begins another process only when it was told to stop.
    const { stop } = await import("esbuild")
    await stop()
    return compileOnce(source, authorMap)
  }
}

const compileOnce = async (source: string, authorMap: string | undefined): Promise<Compiled> => {
  // Loaded with the first upload: most starts of a server see none.
  const { build } = await import("esbuild")
  try {
    const { outputFiles } = await build({
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
      // The kernel calls the bundle, so that nothing it throws while loading reaches the engine.
      // A module is strict code; the compiler does not say so in a script.
      banner: { js: '__weft_load(()=>{"use strict";' },
      footer: { js: "return __weft_bundle})" },
      logLevel: "silent"
    })
    const script = outputFiles.find((file) => file.path.endsWith(".js"))?.text
    const sourceMap = outputFiles.find((file) => file.path.endsWith(".map"))?.text
    if (script === undefined || sourceMap === undefined)
      throw new BundleRejected({ reason: "index.js compiles to nothing" })
    return { script, sourceMap }
  } catch (error) {
    if (error instanceof BundleRejected) throw error
    throw isOfCompiler(error)
      ? new SandboxUnavailable({ reason: "the compiler has died" })
      : new BundleRejected({ reason: reasonOf(error) })
  }
}

/** What is wrong with a module has a place in it. */
const isOfCompiler = (error: unknown): boolean => {
  const { location, text } = firstMessage(error) ?? {
    location: null,
    text: error instanceof Error ? error.message : ""
  }
  return location === null && /^The service (was stopped|is no longer running)/.test(text)
}

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
