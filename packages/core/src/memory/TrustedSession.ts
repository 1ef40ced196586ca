/**
 * Sessions in `trustedSandbox`, for tests of hosts. An input is an expression, or statements that declare one name each,
 * at the start of a line. Types are not removed.
 */
import { Effect } from "effect"
import { utf8Encode } from "../foundation/Utf8.ts"
import { BundleRejected, sessionNamespace } from "../platform/sandbox/Sandbox.ts"
import type { TrustedModule } from "./TrustedSandbox.ts"
import { markSource } from "./TrustedSource.ts"

/** The artifact of sessions. No key of a module equals it. */
export const sessionKey = "\u0000session"
export const sessionArtifact: Uint8Array = utf8Encode(sessionKey)

const declaration = /^\s*(?:const|let|var)\s+(\w+)\s*=/gm

type AsyncFunction = (...args: ReadonlyArray<unknown>) => Promise<unknown>

const prototype: { readonly constructor: new (...parts: ReadonlyArray<string>) => AsyncFunction } =
  Object.getPrototypeOf(async () => undefined)

const compile = (body: string): AsyncFunction => new prototype.constructor("scope", "svc", `with (scope) {\n${body}\n}`)

const toFunction = (text: string): AsyncFunction => {
  try {
    return compile(`return (${text}\n)`)
  } catch {
    return compile(text.replace(declaration, "scope.$1 ="))
  }
}

/** Checks the syntax of an input. */
export const prepareTrusted = (text: string): Effect.Effect<string, BundleRejected> =>
  Effect.try({
    try: () => {
      toFunction(text)
      return text
    },
    catch: (error) => new BundleRejected({ reason: describe(text, error) })
  })

const describe = (text: string, error: unknown): string =>
  /[({[,+]\s*$/.test(text)
    ? "repl.ts:1:1 Unexpected end of the input"
    : `repl.ts:1:1 ${error instanceof Error ? error.message : ""}`

/** Returns a session with a scope of its own. */
export const makeTrustedSession = (): TrustedModule => {
  const scope: Record<string, unknown> = {}
  return markSource({
    [sessionNamespace]: {
      open: () => true,
      input: async (svc: unknown, _number: number, text: string) => {
        const value = await toFunction(text)(scope, svc)
        if (value !== undefined) scope._ = value
        const json: string | undefined = JSON.stringify(value)
        return { text: json ?? "", json: json ?? null }
      },
      complete: (_svc: unknown, source: string, cursor: number) => {
        const prefix = /\w*$/.exec(source.slice(0, cursor))?.[0] ?? ""
        const candidates = Object.keys(scope).filter((name) => name.startsWith(prefix))
        return { from: cursor - prefix.length, candidates }
      }
    }
  })
}
