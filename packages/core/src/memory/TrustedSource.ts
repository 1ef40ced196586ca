/** Source text in `trustedSandbox`: JavaScript only, without a build and without modules. */
import { Effect } from "effect"
import { utf8Encode } from "../foundation/Utf8.ts"
import { BundleRejected, type SourceText } from "../platform/sandbox/Sandbox.ts"
import type { TrustedModule } from "./TrustedSandbox.ts"

/** Begin of the artifacts of sources. No key of a module has it. */
export const sourceMark = "\u0000source:"

type AsyncFunction = (...args: ReadonlyArray<unknown>) => Promise<unknown>

const prototype: { readonly constructor: new (...parts: ReadonlyArray<string>) => AsyncFunction } =
  Object.getPrototypeOf(async () => undefined)

/** Compiles an expression or the body of an async function. */
export const compileTrusted = ({ text }: SourceText): Effect.Effect<Uint8Array, BundleRejected> =>
  Effect.try({
    try: () => utf8Encode(sourceMark + findBody(text)),
    catch: (error) => new BundleRejected({ reason: `eval.ts: ${error instanceof Error ? error.message : ""}` })
  })

const sources = new WeakSet<TrustedModule>()

/** True for the module of a source. Its function takes `svc`, which is a global in real isolates, then the arguments. */
export const isSource = (module: TrustedModule): boolean => sources.has(module)

/** Makes functions of the module take `svc` before the arguments. */
export const markSource = (module: TrustedModule): TrustedModule => {
  sources.add(module)
  return module
}

/** Returns the module of a compiled source. */
export const toTrustedModule = (body: string): TrustedModule => {
  const run = new prototype.constructor("svc", "args", body)
  return markSource({ main: { default: (svc: unknown, ...args: ReadonlyArray<unknown>) => run(svc, args) } })
}

const findBody = (text: string): string => {
  const expression = `return (\n${text}\n)`
  try {
    new prototype.constructor("svc", "args", expression)
    return expression
  } catch {
    new prototype.constructor("svc", "args", text)
    return text
  }
}
