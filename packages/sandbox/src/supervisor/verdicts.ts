/** What a runner reports as the end of a run, checked and turned into an `Outcome`. */
import type { Limits, Outcome } from "@weft/core"
import { encodings, errorLengthMax, type FromRunner, headersLengthMax, type LossCause } from "../protocol/FromRunner.ts"
import type { StopReason } from "../protocol/ToRunner.ts"
import { ProtocolError } from "../protocol/Wire.ts"

/** The messages that end a run. */
export type Ending = Extract<FromRunner, { readonly run: number; readonly cpuMs: number }>

const headerName = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** Headers of the connection itself: not the function's to say. */
const connectionHeaders = new Set([
  "connection",
  "content-length",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade"
])

/**
 * The outcome that an ending says. Throws `ProtocolError` for what the kernel never sends: then the isolate was broken
 * out of. Stacks are not yet mapped.
 */
export const outcomeOf = (ending: Exclude<Ending, { readonly kind: "stopped" }>, limits: Limits): Outcome => {
  switch (ending.kind) {
    case "returned":
      requireSize(ending.output, limits)
      requireJson(ending.output)
      return { _tag: "Returned", output: ending.output }
    case "responded":
      return respondedOf(ending, limits)
    case "threw":
      requireShort(ending.name, ending.message, ending.stack)
      return { _tag: "Threw", name: ending.name, message: ending.message, stack: ending.stack }
    case "exceeded":
      requireShort(ending.limit, ending.message)
      return { _tag: "LimitExceeded", limit: ending.limit, message: ending.message }
  }
}

/** How a run ended that its isolate took down while it was computing. */
export const guiltyOutcome = (cause: LossCause, limits: Limits): Outcome => {
  if (cause === "cpu") return { _tag: "CpuExhausted", limitMs: limits.cpuSliceMs }
  if (cause === "memory") return { _tag: "OutOfMemory", limitBytes: limits.heapBytes }
  return { _tag: "RunnerLost", message: "the isolate was broken while this run was computing" }
}

/** How runs end whose bundle could not be loaded. */
export const unloadedOutcome = (
  { failure, name, message, stack }: Extract<FromRunner, { readonly kind: "loadFailed" }>,
  limits: Limits
): Outcome => {
  if (failure === "threw") return { _tag: "Threw", name, message: `while loading: ${message}`, stack }
  if (failure === "memory") return { _tag: "OutOfMemory", limitBytes: limits.heapBytes }
  return { _tag: "CpuExhausted", limitMs: limits.loadMs }
}

export const stoppedOutcome = (reason: StopReason, timeoutMs: number): Outcome =>
  reason === "timeout" ? { _tag: "TimedOut", limitMs: timeoutMs } : { _tag: "Cancelled" }

const respondedOf = (ending: Extract<Ending, { readonly kind: "responded" }>, limits: Limits): Outcome => {
  const { status, encoding, body } = ending
  if (status < 200 || status > 599 || !encodings.includes(encoding))
    throw new ProtocolError("a response is no response")
  requireSize(body, limits)
  if (encoding === "json") requireJson(body)
  if (encoding === "base64" && !base64.test(body)) throw new ProtocolError("a body is not base64")
  return { _tag: "Responded", status, headers: headersOf(ending.headers), encoding, body }
}

const headersOf = (text: string): Record<string, string | ReadonlyArray<string>> => {
  if (text.length > headersLengthMax) throw new ProtocolError("headers are too long")
  const parsed = requireJson(text)
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) throw new ProtocolError("no headers")
  const headers: Record<string, string | ReadonlyArray<string>> = Object.create(null)
  for (const [name, value] of Object.entries(parsed)) {
    const isSendable =
      isHeaderValue(value) || (name === "set-cookie" && Array.isArray(value) && value.every(isHeaderValue))
    if (!isSendable || !headerName.test(name)) throw new ProtocolError("a header cannot be sent")
    if (!connectionHeaders.has(name)) headers[name] = value
  }
  return headers
}

const isHeaderValue = (value: unknown): value is string => typeof value === "string" && headerValue.test(value)

const requireSize = (text: string, limits: Limits): void => {
  if (text.length > limits.resultBytes) throw new ProtocolError("a result is too large")
}

/** What is said of an error. */
export const requireShort = (...texts: ReadonlyArray<string>): void => {
  if (texts.some(({ length }) => length > errorLengthMax)) throw new ProtocolError("an error says too much")
}

/** What a bundle says of its exports, before anything reads it. */
export const requireFewExports = (text: string, limits: Limits): void => {
  if (text.length > limits.exportsBytes) throw new ProtocolError("it says too much of its exports")
}

/** What the kernel has made with `JSON.stringify`. */
export const requireJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    throw new ProtocolError("what should be JSON is not")
  }
}
