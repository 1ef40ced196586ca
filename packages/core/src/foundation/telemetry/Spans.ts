/**
 * The spans of Weft, for the tracer that the host has installed.
 *
 * Without a tracer no span is made. Effect's native tracer exports nothing, so it does not count as a tracer.
 *
 * `TracerEnabled` is off in Weft's fibers (`Weft.ts`) and has no effect here. It prevents libraries from making spans
 * whose attributes and causes Weft does not control. The code that begins a span of Weft decides its content. A failure
 * is recorded by a name, because its message may contain anything.
 */
import { Clock, Context, Effect, Exit, type Fiber, Option, Tracer } from "effect"
import { formatTraceparent, parseTraceparent } from "./TraceContext.ts"

type AnyFiber = Fiber.Fiber<unknown, unknown>

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

export interface SpanStart {
  /** Low cardinality: it must not contain ids. */
  readonly name: string
  readonly kind: Tracer.SpanKind
  readonly attributes: SpanAttributes
  /** By default the fiber's current span; null begins a trace. */
  readonly parent?: Tracer.AnySpan | null
  /** Nanoseconds of the clock; by default now. */
  readonly startTime?: bigint
}

/** Result of a span: success, interruption, or a failure of that name. */
export type SpanEnd = "ok" | "interrupted" | { readonly fault: string }

/** Returns the host's tracer, or null. */
export const tracerOf = (fiber: AnyFiber): Tracer.Tracer | null => {
  const { tracer } = fiber.cache
  return tracer === undefined || tracer === Tracer.nativeTracer ? null : tracer
}

/** True if fibers with this context have a tracer. */
export const hasTracer = (context: Context.Context<never>): boolean =>
  Context.get(context, Tracer.Tracer) !== Tracer.nativeTracer

/** Returns the fiber's current span, skipping spans that disable propagation. */
export const spanOf = (fiber: AnyFiber): Tracer.AnySpan | null => {
  let span: Tracer.AnySpan | undefined = fiber.cache.span
  while (span !== undefined && Context.get(span.annotations, Tracer.DisablePropagation)) {
    span = span._tag === "Span" ? Option.getOrUndefined(span.parent) : undefined
  }
  return span ?? null
}

/** Begins a span, which the caller must end. */
export const beginSpan = (fiber: AnyFiber, tracer: Tracer.Tracer, start: SpanStart): Tracer.Span => {
  const parent = start.parent === undefined ? spanOf(fiber) : start.parent
  const span = tracer.span({
    name: start.name,
    parent: Option.fromNullishOr(parent),
    annotations: Context.empty(),
    links: [],
    startTime: start.startTime ?? nanosOf(fiber),
    kind: start.kind,
    // Otherwise a bridge to another tracing library might use that library's current span as parent.
    root: parent === null,
    sampled: parent?.sampled ?? true
  })
  annotate(span, start.attributes)
  return span
}

export const endSpan = (fiber: AnyFiber, span: Tracer.Span, end: SpanEnd): void => {
  if (typeof end !== "string") span.attribute("error.type", end.fault)
  span.end(nanosOf(fiber), toExit(end))
}

export const nanosOf = (fiber: AnyFiber): bigint => fiber.getRef(Clock.Clock).currentTimeNanosUnsafe()

export const annotate = (span: Tracer.Span, attributes: SpanAttributes): void => {
  for (const name in attributes) span.attribute(name, attributes[name])
}

/**
 * Runs `effect` in a span if there is a tracer; `start` is called only then. `end` returns the result of the span and may
 * annotate it. By default a failure is recorded by its tag.
 */
export const traced = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  start: () => SpanStart,
  end: (exit: Exit.Exit<A, E>, span: Tracer.Span) => SpanEnd = toSpanEnd
): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) => {
    const tracer = tracerOf(fiber)
    if (tracer === null) return effect
    const span = beginSpan(fiber, tracer, start())
    return Effect.onExit(Effect.provideService(effect, Tracer.ParentSpan, span), (exit) =>
      Effect.sync(() => endSpan(fiber, span, end(exit, span)))
    )
  })

/** Converts an exit to the result of a span, with the failure's tag as its name. */
export const toSpanEnd = (exit: Exit.Exit<unknown, unknown>): SpanEnd => {
  if (Exit.isSuccess(exit)) return "ok"
  const reason = exit.cause.reasons.find((one) => one._tag !== "Interrupt")
  if (reason === undefined) return "interrupted"
  return { fault: reason._tag === "Fail" ? readTag(reason.error) : "defect" }
}

/** Annotates the fiber's current span. `attributes` is called only if there is one. */
export const annotateSpan = (attributes: () => SpanAttributes): Effect.Effect<void> =>
  Effect.withFiber((fiber) => {
    if (tracerOf(fiber) !== null && fiber.cache.span?._tag === "Span") annotate(fiber.cache.span, attributes())
    return Effect.void
  })

/** The `traceparent` to store with deferred work, so that it joins the current trace; undefined without a tracer. */
export const currentTraceparent: Effect.Effect<string | undefined> = Effect.withFiber((fiber) => {
  const span = tracerOf(fiber) === null ? null : spanOf(fiber)
  return Effect.succeed(span === null ? undefined : formatTraceparent(span))
})

/** Returns a context that continues the trace of a stored `traceparent`, perhaps much later and on another node. */
export const inTrace = (traceparent: string | undefined, context: Context.Context<never>): Context.Context<never> => {
  const span = traceparent === undefined ? null : parseTraceparent(traceparent)
  return span === null ? context : Context.add(context, Tracer.ParentSpan, span)
}

const readTag = (error: unknown): string =>
  typeof error === "object" && error !== null && "_tag" in error && typeof error._tag === "string"
    ? error._tag
    : "failure"

/** Cause of a failed span, for exporters, which read causes. */
class SpanFault extends Error {
  constructor(fault: string) {
    super(fault)
    this.name = fault
    // The real stack would only point to this file.
    this.stack = fault
  }
}

const interrupted = Exit.interrupt()

const toExit = (end: SpanEnd): Exit.Exit<void, SpanFault> => {
  if (end === "ok") return Exit.void
  return end === "interrupted" ? interrupted : Exit.fail(new SpanFault(end.fault))
}
