/** A tracer that keeps its spans, as a layer. */
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

  /** In the order of their beginnings. */
  get all(): ReadonlyArray<Tracer.NativeSpan> {
    return this.#spans
  }

  /** The spans of one trace. */
  of(traceId: string): ReadonlyArray<Tracer.NativeSpan> {
    return this.#spans.filter((span) => span.traceId === traceId)
  }

  /** The spans of the name. */
  named(name: string): ReadonlyArray<Tracer.NativeSpan> {
    return this.#spans.filter((span) => span.name === name)
  }

  /** The only span of the name. */
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

/** How a span ended: "ok", the name of its failure, "interrupted", or "open" when it has not. */
export const endOf = ({ status }: Tracer.Span): string => {
  if (status._tag === "Started") return "open"
  if (Exit.isSuccess(status.exit)) return "ok"
  const [reason] = status.exit.cause.reasons
  if (reason?._tag !== "Fail") return "interrupted"
  return reason.error instanceof Error ? reason.error.message : "failure"
}

/** The effect within a span of the host. */
export const inSpan = (span: Tracer.AnySpan) => Effect.provideService(Tracer.ParentSpan, span)
