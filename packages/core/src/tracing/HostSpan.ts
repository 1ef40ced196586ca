/** The span that the host's own code is in when it calls Weft, for hosts whose tracing is not Effect's. */
import { Context, Effect, Tracer } from "effect"
import { spanOf, tracerOf } from "./Spans.ts"

/** Asked at once when the host calls, where asynchronous context is still the caller's; null where there is no span. */
export const HostSpan = Context.Reference<() => Tracer.AnySpan | null>("@weft/core/tracing/HostSpan", {
  defaultValue: () => () => null
})

/** `effect` in the host's span. To be the outermost of what is run. */
export const inHostSpan = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) => {
    if (tracerOf(fiber) === null || spanOf(fiber) !== null) return effect
    const span = fiber.getRef(HostSpan)()
    return span === null ? effect : Effect.provideService(effect, Tracer.ParentSpan, span)
  })
