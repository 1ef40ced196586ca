/** Limits of an operation, which apply between the decoding of the payload and the handler. */
import { Clock, Effect } from "effect"
import type { JsonText } from "../../foundation/JsonText.ts"
import { utf8Length } from "../../foundation/Utf8.ts"
import { type HostCallRefused, hostCallRefused } from "../../platform/sandbox/Sandbox.ts"
import type { Run } from "../runs/Run.ts"

export interface Limits<A> {
  /** Size of a part of the input. */
  readonly size?: {
    /** Returns the part as JSON text, which the handler receives. */
    readonly of: (input: A) => JsonText
    /** In bytes of UTF-8. */
    readonly max: number
  }
  /** Calls of each run that are not refused for another reason. */
  readonly rate?: {
    /** Maximum calls at once. */
    readonly burst: number
    readonly perSecond: number
    /** Message of the error. */
    readonly message: string
  }
}

interface Budget {
  remaining: number
  /** Epoch milliseconds of the last refill. */
  refilledAt: number
}

/** Returns a function that returns the error of an exceeded limit, else null. `text` is that of `size.of`. */
export const makeLimits = <A>(
  name: string,
  { size, rate }: Limits<A>
): Effect.Effect<(run: Run, text: string) => HostCallRefused | null> =>
  Effect.map(Clock.Clock, (clock) => {
    const budgets = new WeakMap<Run, Budget>()

    const takeCall = (run: Run, { burst, perSecond }: NonNullable<Limits<A>["rate"]>): boolean => {
      const now = clock.currentTimeMillisUnsafe()
      const budget = budgets.get(run) ?? { remaining: burst, refilledAt: now }
      budgets.set(run, budget)
      budget.remaining = Math.min(burst, budget.remaining + ((now - budget.refilledAt) * perSecond) / 1000)
      budget.refilledAt = now
      if (budget.remaining < 1) return false
      budget.remaining--
      return true
    }

    return (run, text) => {
      if (size !== undefined && utf8Length(text) > size.max) {
        return exceeded(`svc.${name} takes at most ${size.max} bytes of JSON`)
      }
      return rate === undefined || takeCall(run, rate) ? null : exceeded(rate.message)
    }
  })

const exceeded = (message: string): HostCallRefused => hostCallRefused("LimitExceeded", message)
