/** The quotas of a delivery that is started by hand. */
import { Effect } from "effect"
import type { EnvId } from "../../foundation/Ids.ts"
import type { FunctionEntry } from "../../resources/builds/Manifest.ts"
import type { Quotas } from "../../tenants/orgs/Quotas.ts"

/** Fails if the environment may have no further pending delivery, run, or suspended run of a durable function. */
export const admitDelivery = Effect.fnUntraced(function* (
  quotas: Quotas["Service"],
  envId: EnvId,
  { durable }: Pick<FunctionEntry, "durable">
) {
  yield* quotas.admitPending(envId, 1)
  yield* quotas.admit(envId, 1)
  if (durable) yield* quotas.admitDurable(envId)
})
