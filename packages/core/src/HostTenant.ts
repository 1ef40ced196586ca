/** A tenant as an embedding program sees it: its records, and all that can be done in its environment. */
import type { HostCalls } from "./HostCalls.ts"
import { type HostEnvServices, hostEnv, type WeftEnv } from "./HostEnv.ts"
import type { Tenant } from "./tenancy/Tenant.ts"

/** One environment, with the rights of the host, and its records as they were when this was made. */
export interface WeftTenant extends WeftEnv, Tenant {}

export const hostTenant = (calls: HostCalls<HostEnvServices>, { org, env }: Tenant): WeftTenant => ({
  ...hostEnv(calls, env.env_id),
  org,
  env
})
