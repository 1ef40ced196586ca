/** Compiles the program of sessions, and prepares their inputs. */
import { BundleRejected } from "@weft/core/adapter"
import { Effect } from "effect"
import { readSessionProgram } from "../supervisor/GuestScript.ts"
import { compileModules, type ModuleText, removeTypes } from "./Compile.ts"
import { attempt, buildPath, isNestedDeeper, isSyntaxError, nestingMax } from "./CompileSource.ts"

/** Path of the program in stacks, which have no frames of it. */
const sessionPath = "weft:session"
const entryPath = "weft:entry"

/** Name of inputs in syntax errors. */
const inputFile = "repl.ts"

/**
 * Compiles the program of a session. Its functions are in the namespace `weft:session`. The functions of the build are
 * those that the code of inputs can invoke.
 */
export const compileSession = Effect.fnUntraced(function* (build: ModuleText | null, compileMs: number) {
  const program = yield* Effect.promise(readSessionProgram)
  const files = new Map<string, ModuleText>([
    [entryPath, { contents: build === null ? plainEntry : entryWithBuild, loader: "js" }],
    [sessionPath, { contents: program, loader: "js" }]
  ])
  if (build !== null) files.set(buildPath, build)
  return yield* compileModules({ entry: entryPath, files }, compileMs)
})

const exported = `export { session as "${sessionPath}" }`
const plainEntry = `import { makeSession } from "${sessionPath}"; const session = makeSession(null); ${exported}`
const entryWithBuild = `import { makeSession } from "${sessionPath}"; import * as build from "${buildPath}"; export * from "${buildPath}"; const session = makeSession(build); ${exported}`

/** End of the reason for an input that more text may complete. */
const incomplete = "Unexpected end of the input"

/**
 * Returns an input as JavaScript. A text that is JavaScript already stays as it is, so that positions in stacks are those
 * of its author. Fails with `BundleRejected` for a syntax error.
 */
export const prepareInput = Effect.fnUntraced(function* (text: string, compileMs: number) {
  if (isNestedDeeper(text, nestingMax))
    return yield* new BundleRejected({ reason: `${inputFile}: brackets are nested deeper than ${nestingMax} levels` })
  // `{ a: 1 }` is an object here, as in other consoles, and no block with a label.
  const isObject = /^\s*\{/.test(text) && !/;\s*$/.test(text)
  const object = isObject ? yield* prepare(`(${text}\n)`, compileMs) : null
  if (typeof object === "string") return object
  const prepared = yield* prepare(text, compileMs)
  if (typeof prepared === "string") return prepared
  return yield* (yield* isIncomplete(prepared, text, compileMs))
    ? new BundleRejected({ reason: `${endOf(text)} ${incomplete}` })
    : prepared
})

/** Returns the script of a text, or its syntax error. Other failures fail. */
const prepare = Effect.fnUntraced(function* (contents: string, compileMs: number) {
  const typed = yield* attempt(removeTypes({ contents, loader: "ts" }, inputFile, compileMs))
  if (typeof typed !== "string") return isSyntaxError(typed) ? typed : yield* typed
  const plain = yield* attempt(removeTypes({ contents, loader: "js" }, inputFile, compileMs))
  return plain === typed ? contents : typed
})

const isIncomplete = Effect.fnUntraced(function* ({ reason }: BundleRejected, text: string, compileMs: number) {
  if (/ (?:Unexpected end of file|Expected .* but found end of file|Expected "\*\/" to terminate .*)$/.test(reason))
    return true
  if (!reason.endsWith("Unterminated string literal") || !text.includes("`")) return false
  // A template literal continues on the next line, and other strings do not.
  const closed = yield* attempt(removeTypes({ contents: `${text}\n\``, loader: "ts" }, inputFile, compileMs))
  return typeof closed === "string" || !closed.reason.endsWith("Unterminated string literal")
})

const endOf = (text: string): string => {
  const lines = text.split("\n")
  return `${inputFile}:${lines.length}:${(lines.at(-1)?.length ?? 0) + 1}`
}

/** Removes the frames of the program from a stack, and the line that it adds to each input. */
export const toInputStack = (stack: string): string =>
  stack
    .split("\n")
    .filter((line) => !line.includes(sessionPath))
    .map((line) =>
      line.replace(
        /\brepl-(\d{1,9})\.ts:(\d{1,7})/g,
        (_, input, at) => `repl-${input}.ts:${Math.max(1, Number(at) - 1)}`
      )
    )
    .join("\n")
