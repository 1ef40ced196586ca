/** The request that an answer belongs to, known to everything that runs for it. */
import { Clock, Context, Fiber } from "effect"

export interface RequestInfo {
  /** UUID; the header `X-Request-Id` and `request_id` of the body are this one. */
  readonly id: string
}

/** A reference, so that schemas can encode an envelope without a service in their type. */
export const CurrentRequest = Context.Reference<RequestInfo>("@weft/api/envelope/CurrentRequest", {
  defaultValue: () => ({ id: "" })
})

/** The id of the running fiber's request; empty outside of one. */
export const currentRequestId = (): string => Fiber.getCurrent()?.getRef(CurrentRequest).id ?? ""

/** ISO 8601 in UTC with milliseconds, by the running fiber's clock. Only for use inside a fiber. */
export const currentTimestamp = (): string => {
  const clock = Fiber.getCurrent()?.getRef(Clock.Clock)
  return new Date(clock?.currentTimeMillisUnsafe() ?? 0).toISOString()
}
