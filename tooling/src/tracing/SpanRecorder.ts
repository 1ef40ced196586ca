/** A layer with a tracer that records its spans. */
import { Effect, Exit, Layer, Option, Tracer } from "effect"

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

  /** All spans, by start time. */
  get all(): ReadonlyArray<Tracer.NativeSpan> {
    return this.#spans
  }

  /** Returns the spans of a trace. */
  of(traceId: string): ReadonlyArray<Tracer.NativeSpan> {
    return this.#spans.filter((span) => span.traceId === traceId)
  }

  /** Returns the spans with the name. */
  named(name: string): ReadonlyArray<Tracer.NativeSpan> {
    return this.#spans.filter((span) => span.name === name)
  }

  /** Returns the only span with the name. Throws if the number of such spans is not 1. */
  one(name: string): Tracer.NativeSpan {
    const [span, ...others] = this.named(name)
    if (span === undefined || others.length > 0) {
      throw new Error(`${1 + others.length} spans ${name} among ${this.#spans.map((each) => each.name).join(", ")}`)
    }
    return span
  }
}

export const parentOf = (span: Tracer.Span): string | null =>
  Option.match(span.parent, { onNone: () => null, onSome: ({ spanId }) => spanId })

/** Returns the result of a span: "ok", the message of its failure, "interrupted", or "open" if it has not ended. */
export const endOf = ({ status }: Tracer.Span): string => {
  if (status._tag === "Started") return "open"
  if (Exit.isSuccess(status.exit)) return "ok"
  const [reason] = status.exit.cause.reasons
  if (reason?._tag !== "Fail") return "interrupted"
  return reason.error instanceof Error ? reason.error.message : "failure"
}

/** Runs an effect as a child of `span`. */
export const inSpan = (span: Tracer.AnySpan) => Effect.provideService(Tracer.ParentSpan, span)
