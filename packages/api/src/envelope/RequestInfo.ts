/** Properties of the current request that its response contains. */
import { CurrentOrigin } from "@weft/core/adapter"
import { Clock, Fiber } from "effect"

/** Returns the UUID of the current fiber's request, or an empty string without a request. */
export const currentRequestId = (): string => Fiber.getCurrent()?.getRef(CurrentOrigin).id ?? ""

/** Returns the time of the current fiber's clock as ISO 8601 in UTC with milliseconds. Only for use inside a fiber. */
export const currentTimestamp = (): string => {
  const clock = Fiber.getCurrent()?.getRef(Clock.Clock)
  return new Date(clock?.currentTimeMillisUnsafe() ?? 0).toISOString()
}
