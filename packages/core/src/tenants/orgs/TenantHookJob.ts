/**
 * A pending call of a host's hook for a new tenant. The store writes it in the transaction of the tenant and removes it
 * when the hook has succeeded. Therefore another node calls the hook if the first one crashes.
 */
import { Schema } from "effect"
import { addMillis, Timestamp } from "../../foundation/time/Timestamp.ts"

export const TenantHookJob = Schema.Struct({
  kind: Schema.Literals(["org", "env"]),
  /** The id of the organization or environment. */
  tenant_id: Schema.String,
  /** Number of attempts that nodes have started. Also the fencing token of the current attempt. */
  attempts: Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)),
  /** Time from which the last attempt counts as failed and any node may make the next one. */
  due_at: Timestamp
})
export type TenantHookJob = typeof TenantHookJob.Type

/** Time limit of one call of a hook, in milliseconds. */
export const hookTimeoutMs = 30_000

const firstDelayMs = 60_000
const delayMaxMs = 3_600_000

/** Returns the job for a tenant created at `now`, whose first attempt the creating node makes at once. */
export const firstHookJob = (kind: TenantHookJob["kind"], tenantId: string, now: Timestamp): TenantHookJob => ({
  kind,
  tenant_id: tenantId,
  attempts: 1,
  due_at: addMillis(now, firstDelayMs)
})

/** Returns the job during its next attempt. It is due again after 2, 4, 8, … minutes, at most an hour. */
export const nextHookJob = (job: TenantHookJob, now: Timestamp): TenantHookJob => ({
  ...job,
  attempts: job.attempts + 1,
  due_at: addMillis(now, Math.min(firstDelayMs * 2 ** job.attempts, delayMaxMs))
})
