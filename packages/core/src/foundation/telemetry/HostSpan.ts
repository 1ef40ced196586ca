/** The active span of the host's code when it calls Weft, for hosts that do not trace with Effect. */
import { Context, Effect, Tracer } from "effect"
import { spanOf, tracerOf } from "./Spans.ts"

/** Returns the host's span, or null. Called synchronously when the host calls, while its async context is active. */
export const HostSpan = Context.Reference<() => Tracer.AnySpan | null>("@weft/core/foundation/telemetry/HostSpan", {
  defaultValue: () => () => null
})

/** Runs `effect` in the host's span. Must be the outermost effect. */
export const inHostSpan = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) => {
    if (tracerOf(fiber) === null || spanOf(fiber) !== null) return effect
    const span = fiber.getRef(HostSpan)()
    return span === null ? effect : Effect.provideService(effect, Tracer.ParentSpan, span)
  })
