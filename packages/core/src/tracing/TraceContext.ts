/** W3C Trace Context (https://www.w3.org/TR/trace-context): the span that something belongs to, as text. Pure. */
import { Tracer } from "effect"

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const noTrace = /^0+$/

/** What a `traceparent` names; null for what is none. Later versions are read as far as they are like this one. */
export const parseTraceparent = (text: string): Tracer.ExternalSpan | null => {
  const [, version, traceId = "", spanId = "", flags = "", more] = form.exec(text) ?? []
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return null
  if (noTrace.test(traceId) || noTrace.test(spanId)) return null
  return Tracer.externalSpan({ traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 })
}

/** Trace ids of 64 bits, as other formats have them, are filled up with zeros. */
export const traceparentOf = ({ traceId, spanId, sampled }: Tracer.AnySpan): string =>
  `00-${traceId.padStart(32, "0")}-${spanId}-${sampled ? "01" : "00"}`
