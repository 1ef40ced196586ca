/** A tracer that keeps its spans, as a layer for `start`. */
import { Exit, Layer, Option, Tracer } from "effect"

export class SpanRecorder {
  readonly #spans: Array<Tracer.NativeSpan> = []

  readonly layer = Layer.succeed(
    Tracer.Tracer,
    Tracer.make({
      span: (options) => {
        const span = new Tracer.NativeSpan(options)
        this.#spans.push(span)
        return span
      }
    })
  )

  /** Of one trace, in the order of their beginnings. */
  of(traceId: string): ReadonlyArray<Tracer.NativeSpan> {
    return this.#spans.filter((span) => span.traceId === traceId)
  }

  get all(): ReadonlyArray<Tracer.NativeSpan> {
    return this.#spans
  }
}

export const parentOf = (span: Tracer.Span): string | null =>
  Option.match(span.parent, { onNone: () => null, onSome: ({ spanId }) => spanId })

/** "ok", the name of its failure, "interrupted", or "open" when it has not ended. */
export const endOf = ({ status }: Tracer.Span): string => {
  if (status._tag === "Started") return "open"
  if (Exit.isSuccess(status.exit)) return "ok"
  const [reason] = status.exit.cause.reasons
  if (reason?._tag !== "Fail") return "interrupted"
  return reason.error instanceof Error ? reason.error.message : "failure"
}
