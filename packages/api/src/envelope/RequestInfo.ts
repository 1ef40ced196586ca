/** What of the request that is being answered stands in its answer. */
import { CurrentOrigin } from "@weft/core"
import { Clock, Fiber } from "effect"

/** The id of the running fiber's request, a UUID; empty outside of one. */
export const currentRequestId = (): string => Fiber.getCurrent()?.getRef(CurrentOrigin).id ?? ""

/** ISO 8601 in UTC with milliseconds, by the running fiber's clock. Only for use inside a fiber. */
export const currentTimestamp = (): string => {
  const clock = Fiber.getCurrent()?.getRef(Clock.Clock)
  return new Date(clock?.currentTimeMillisUnsafe() ?? 0).toISOString()
}
