/** W3C Trace Context (https://www.w3.org/TR/trace-context): spans as text. Pure functions. */
import { Tracer } from "effect"

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const noTrace = /^0+$/

/** Parses a `traceparent`, or returns null. Of later versions only the fields of version 00 are read. */
export const parseTraceparent = (text: string): Tracer.ExternalSpan | null => {
  const [, version, traceId = "", spanId = "", flags = "", more] = form.exec(text) ?? []
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return null
  if (noTrace.test(traceId) || noTrace.test(spanId)) return null
  return Tracer.externalSpan({ traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 })
}

/** Formats a `traceparent`. Pads trace ids of 64 bits, which other formats use, with zeros. */
export const formatTraceparent = ({ traceId, spanId, sampled }: Tracer.AnySpan): string =>
  `00-${traceId.padStart(32, "0")}-${spanId}-${sampled ? "01" : "00"}`
