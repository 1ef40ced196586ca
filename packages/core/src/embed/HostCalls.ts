/** Calls of a host as promises, and the calls in flight. */
import { Effect, Fiber, type ManagedRuntime, Scope } from "effect"
import { InFlightMap } from "../foundation/InFlightMap.ts"

export interface HostCalls<Services> {
  readonly run: <A, E>(effect: Effect.Effect<A, E, Services>) => Promise<A>
}

/**
 * Returns a function that runs effects with the services of the runtime. Closing the runtime interrupts calls in flight
 * first.
 *
 * `ManagedRuntime` keeps running fibers in a `Map`, which also retains their results for long (see `InFlightMap`). That is
 * too expensive if a host publishes thousands of events per second.
 */
export const makeHostCalls = <Services>(
  runtime: ManagedRuntime.ManagedRuntime<Services, unknown>
): HostCalls<Services> => {
  type Call = Fiber.Fiber<unknown, unknown>
  const inFlight = new InFlightMap<Call, Call>()
  const runOptions = {
    onFiberStart: (fiber: Call): void => {
      inFlight.set(fiber, fiber)
      fiber.addObserver(() => inFlight.delete(fiber))
    }
  }
  const interruptAll = Effect.suspend(() => Fiber.interruptAll(inFlight.values()))
  Effect.runSync(Scope.addFinalizer(runtime.scope, interruptAll))
  return {
    run: (effect) => {
      // There is no context before the runtime is built and after it is closed.
      const context = runtime.cachedContext
      return context === undefined ? runtime.runPromise(effect) : Effect.runPromiseWith(context)(effect, runOptions)
    }
  }
}
