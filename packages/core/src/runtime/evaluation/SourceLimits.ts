/** Limits of source text that clients send: its bytes and its time. */
import { Effect } from "effect"
import { BadRequest, PlanRequired } from "../../foundation/Errors.ts"
import type { Plan } from "../../tenants/orgs/Plan.ts"

/** Bytes of a source that no plan exceeds: a longer one would keep the compiler from others. */
export const sourceBytesMax = 1024 * 1024

/** Wall time of a source, in seconds. */
export const timeoutDefault = 30
const timeoutMax = 60

/** Fails for a wall time outside of its limits, in seconds. */
export const checkTimeout = (timeout: number): Effect.Effect<void, BadRequest> =>
  timeout > 0 && timeout <= timeoutMax
    ? Effect.void
    : Effect.fail(new BadRequest({ reason: `timeout must be above 0 and at most ${timeoutMax} seconds` }))

/** Fails for a source with more bytes than the plan allows. */
export const checkSource = (
  { max_eval_source_bytes: limit }: Plan,
  bytes: number
): Effect.Effect<void, PlanRequired | BadRequest> => {
  if (limit === 0) {
    return Effect.fail(
      new PlanRequired({ reason: "The plan allows no evaluation of source text (max_eval_source_bytes)" })
    )
  }
  const most = limit === -1 ? sourceBytesMax : Math.min(limit, sourceBytesMax)
  return bytes <= most
    ? Effect.void
    : Effect.fail(
        new BadRequest({ reason: `source has ${bytes} bytes, and the plan allows ${most} (max_eval_source_bytes)` })
      )
}
