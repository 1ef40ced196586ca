/** Validates a runner's report of the end of a run and converts it to an `Outcome`. */
import type { Limits, Outcome } from "@weft/core/adapter"
import {
  encodings,
  errorLengthMax,
  type FromRunner,
  headersLengthMax,
  type LossCause,
  type RunEndMessage,
  retryDelayMaxMs
} from "../protocol/FromRunner.ts"
import type { StopReason } from "../protocol/ToRunner.ts"
import { ProtocolError } from "../protocol/Wire.ts"

const headerName = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** Headers of the connection itself: a function cannot set them. */
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
 * Converts the end of a run to an outcome. Throws `ProtocolError` for anything that the kernel never sends: then a guest
 * has escaped its isolate. Stacks are not yet mapped.
 */
export const toOutcome = (ending: Exclude<RunEndMessage, { readonly kind: "stopped" }>, limits: Limits): Outcome => {
  switch (ending.kind) {
    case "returned":
      requireSize(ending.output, limits)
      requireJson(ending.output)
      return { _tag: "Returned", output: ending.output }
    case "responded":
      return toResponded(ending, limits)
    case "threw":
      requireShort(ending.name, ending.message, ending.stack)
      return { _tag: "Threw", name: ending.name, message: ending.message, stack: ending.stack, ...toRetry(ending) }
    case "exceeded":
      requireShort(ending.limit, ending.message)
      return { _tag: "LimitExceeded", limit: ending.limit, message: ending.message }
  }
}

/** Returns the outcome of the run that was computing when its isolate was lost. */
export const lossOutcome = (cause: LossCause, limits: Limits): Outcome => {
  if (cause === "cpu") return { _tag: "CpuExhausted", limitMs: limits.cpuSliceMs }
  if (cause === "memory") return { _tag: "OutOfMemory", limitBytes: limits.heapBytes }
  return { _tag: "RunnerLost", message: "the isolate was broken while this run was computing" }
}

/** Returns the outcome of runs whose bundle failed to load. */
export const loadFailureOutcome = (
  { failure, name, message, stack }: Extract<FromRunner, { readonly kind: "loadFailed" }>,
  limits: Limits
): Outcome => {
  if (failure === "threw") return { _tag: "Threw", name, message: `while loading: ${message}`, stack }
  if (failure === "memory") return { _tag: "OutOfMemory", limitBytes: limits.heapBytes }
  return { _tag: "CpuExhausted", limitMs: limits.loadMs }
}

export const stoppedOutcome = (reason: StopReason, timeoutMs: number): Outcome =>
  reason === "timeout" ? { _tag: "TimedOut", limitMs: timeoutMs } : { _tag: "Cancelled" }

/** Returns the instructions of an error about further attempts, if it has any. */
const toRetry = ({ isFinal, afterMs }: Extract<RunEndMessage, { readonly kind: "threw" }>) => {
  if (afterMs !== null && !(Number.isInteger(afterMs) && afterMs >= 0 && afterMs <= retryDelayMaxMs)) {
    throw new ProtocolError(`an error has the retry delay ${afterMs} ms`)
  }
  return isFinal || afterMs !== null ? { retry: { final: isFinal, after_ms: afterMs } } : {}
}

const toResponded = (ending: Extract<RunEndMessage, { readonly kind: "responded" }>, limits: Limits): Outcome => {
  const { status, encoding, body } = ending
  if (status < 200 || status > 599 || !encodings.includes(encoding))
    throw new ProtocolError(`a response has the status ${status} and the encoding ${encoding}`)
  requireSize(body, limits)
  if (encoding === "json") requireJson(body)
  if (encoding === "base64" && !base64.test(body)) throw new ProtocolError("a body is not base64")
  return { _tag: "Responded", status, headers: parseHeaders(ending.headers), encoding, body }
}

const parseHeaders = (text: string): Record<string, string | ReadonlyArray<string>> => {
  if (text.length > headersLengthMax) throw new ProtocolError(`headers have over ${headersLengthMax} characters`)
  const parsed = requireJson(text)
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
    throw new ProtocolError("headers are not a JSON object")
  }
  const headers: Record<string, string | ReadonlyArray<string>> = Object.create(null)
  for (const [name, value] of Object.entries(parsed)) {
    const isSendable =
      isHeaderValue(value) || (name === "set-cookie" && Array.isArray(value) && value.every(isHeaderValue))
    if (!isSendable || !headerName.test(name)) throw new ProtocolError("a header has an invalid name or value")
    if (!connectionHeaders.has(name)) headers[name] = value
  }
  return headers
}

const isHeaderValue = (value: unknown): value is string => typeof value === "string" && headerValue.test(value)

const requireSize = (text: string, limits: Limits): void => {
  if (text.length > limits.resultBytes) throw new ProtocolError(`a result has over ${limits.resultBytes} bytes`)
}

/** Throws `ProtocolError` if a text of an error is too long. */
export const requireShort = (...texts: ReadonlyArray<string>): void => {
  if (texts.some(({ length }) => length > errorLengthMax)) {
    throw new ProtocolError(`a text of an error has over ${errorLengthMax} characters`)
  }
}

/** Throws `ProtocolError` if the description of exports is too long. Called before anything parses it. */
export const requireFewExports = (text: string, limits: Limits): void => {
  if (text.length > limits.exportsBytes) {
    throw new ProtocolError(`the description of exports has over ${limits.exportsBytes} bytes`)
  }
}

/** Parses text that the kernel produced with `JSON.stringify`; throws `ProtocolError` if it is not JSON. */
export const requireJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    throw new ProtocolError("a text is not JSON")
  }
}
