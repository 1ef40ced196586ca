/** What a host has asked for, as promises, and what is under way of it. */
import { Effect, Fiber, type ManagedRuntime, Scope } from "effect"
import { Roster } from "./runs/Roster.ts"

export interface HostCalls<Services> {
  readonly run: <A, E>(effect: Effect.Effect<A, E, Services>) => Promise<A>
}

/**
 * The calls of a host, in what the runtime has built, which end before that does. The runtime itself keeps who is under way
 * in a `Map`, and so their results for long (see `Roster`): too dear where a host publishes thousands of events in a second.
 */
export const makeHostCalls = <Services>(
  runtime: ManagedRuntime.ManagedRuntime<Services, unknown>
): HostCalls<Services> => {
  type Call = Fiber.Fiber<unknown, unknown>
  const underWay = new Roster<Call, Call>()
  const noted = {
    onFiberStart: (fiber: Call): void => {
      underWay.set(fiber, fiber)
      fiber.addObserver(() => underWay.delete(fiber))
    }
  }
  const interruptAll = Effect.suspend(() => Fiber.interruptAll(underWay.values()))
  Effect.runSync(Scope.addFinalizer(runtime.scope, interruptAll))
  return {
    run: (effect) => {
      // There is nothing before it is built, and when it is closed.
      const built = runtime.cachedContext
      return built === undefined ? runtime.runPromise(effect) : Effect.runPromiseWith(built)(effect, noted)
    }
  }
}
