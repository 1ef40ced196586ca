/**
 * The spans that Weft makes, for whatever tracer the host has installed.
 *
 * Without one, nothing is made: Effect's own tracer tells nobody, so it counts as none. `TracerEnabled`, which is off in
 * Weft's fibers (`Weft.ts`), does not matter here. It keeps libraries below from making spans of their own, whose
 * attributes and causes would be theirs to choose: what is in a span of Weft is decided where it is made, and what ends
 * it is told by a name, because the message of a failure may hold anything.
 */
import { Clock, Context, Effect, Exit, type Fiber, Option, Tracer } from "effect"
import { parseTraceparent, traceparentOf } from "./TraceContext.ts"

type AnyFiber = Fiber.Fiber<unknown, unknown>

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

export interface SpanStart {
  /** One of few: it must not hold ids. */
  readonly name: string
  readonly kind: Tracer.SpanKind
  readonly attributes: SpanAttributes
  /** By default the span that the fiber is in; null begins a trace. */
  readonly parent?: Tracer.AnySpan | null
  /** Nanoseconds of the clock; by default now. */
  readonly startTime?: bigint
}

/** How a span ends: well, by a failure of that name, or broken off. */
export type SpanEnd = "ok" | "interrupted" | { readonly fault: string }

/** The host's tracer; null where there is none. */
export const tracerOf = (fiber: AnyFiber): Tracer.Tracer | null => {
  const { tracer } = fiber.cache
  return tracer === undefined || tracer === Tracer.nativeTracer ? null : tracer
}

/** Whether fibers with this context have a tracer. */
export const hasTracer = (context: Context.Context<never>): boolean =>
  Context.get(context, Tracer.Tracer) !== Tracer.nativeTracer

/** The span that the fiber is in, if it is one that others may follow. */
export const spanOf = (fiber: AnyFiber): Tracer.AnySpan | null => {
  let span: Tracer.AnySpan | undefined = fiber.cache.span
  while (span !== undefined && Context.get(span.annotations, Tracer.DisablePropagation)) {
    span = span._tag === "Span" ? Option.getOrUndefined(span.parent) : undefined
  }
  return span ?? null
}

/** Begins a span, which its maker ends. */
export const beginSpan = (fiber: AnyFiber, tracer: Tracer.Tracer, start: SpanStart): Tracer.Span => {
  const parent = start.parent === undefined ? spanOf(fiber) : start.parent
  const span = tracer.span({
    name: start.name,
    parent: Option.fromNullishOr(parent),
    annotations: Context.empty(),
    links: [],
    startTime: start.startTime ?? nanosOf(fiber),
    kind: start.kind,
    // Otherwise a bridge to another tracing library might take what that has at hand.
    root: parent === null,
    sampled: parent?.sampled ?? true
  })
  annotate(span, start.attributes)
  return span
}

export const endSpan = (fiber: AnyFiber, span: Tracer.Span, end: SpanEnd): void => {
  if (typeof end !== "string") span.attribute("error.type", end.fault)
  span.end(nanosOf(fiber), exitOf(end))
}

export const nanosOf = (fiber: AnyFiber): bigint => fiber.getRef(Clock.Clock).currentTimeNanosUnsafe()

export const annotate = (span: Tracer.Span, attributes: SpanAttributes): void => {
  for (const name in attributes) span.attribute(name, attributes[name])
}

/**
 * `effect` in a span, where there is a tracer; `start` is asked only then. `end` says how it ended, and may note what
 * came of it; by default a failure is told by its tag.
 */
export const traced = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  start: () => SpanStart,
  end: (exit: Exit.Exit<A, E>, span: Tracer.Span) => SpanEnd = endOf
): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) => {
    const tracer = tracerOf(fiber)
    if (tracer === null) return effect
    const span = beginSpan(fiber, tracer, start())
    return Effect.onExit(Effect.provideService(effect, Tracer.ParentSpan, span), (exit) =>
      Effect.sync(() => endSpan(fiber, span, end(exit, span)))
    )
  })

/** How an effect ended, by the tag of its failure. */
export const endOf = (exit: Exit.Exit<unknown, unknown>): SpanEnd => {
  if (Exit.isSuccess(exit)) return "ok"
  const reason = exit.cause.reasons.find((one) => one._tag !== "Interrupt")
  if (reason === undefined) return "interrupted"
  return { fault: reason._tag === "Fail" ? tagOf(reason.error) : "defect" }
}

/** Notes something on the span that the fiber is in; asked for only where there is one. */
export const annotateSpan = (attributes: () => SpanAttributes): Effect.Effect<void> =>
  Effect.withFiber((fiber) => {
    if (tracerOf(fiber) !== null && fiber.cache.span?._tag === "Span") annotate(fiber.cache.span, attributes())
    return Effect.void
  })

/** What is to be stored with what the fiber sets off, so that it belongs to the same trace; undefined without a tracer. */
export const currentTraceparent: Effect.Effect<string | undefined> = Effect.withFiber((fiber) => {
  const span = tracerOf(fiber) === null ? null : spanOf(fiber)
  return Effect.succeed(span === null ? undefined : traceparentOf(span))
})

/** A context for what is a part of the trace that `currentTraceparent` gave, perhaps long ago and on another node. */
export const inTrace = (traceparent: string | undefined, context: Context.Context<never>): Context.Context<never> => {
  const span = traceparent === undefined ? null : parseTraceparent(traceparent)
  return span === null ? context : Context.add(context, Tracer.ParentSpan, span)
}

const tagOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "_tag" in error && typeof error._tag === "string"
    ? error._tag
    : "failure"

/** Why a span failed, for exporters, which look at causes. */
class SpanFault extends Error {
  constructor(fault: string) {
    super(fault)
    this.name = fault
    // Of this file, and of no use to anybody.
    this.stack = fault
  }
}

const interrupted = Exit.interrupt()

const exitOf = (end: SpanEnd): Exit.Exit<void, SpanFault> => {
  if (end === "ok") return Exit.void
  return end === "interrupted" ? interrupted : Exit.fail(new SpanFault(end.fault))
}
