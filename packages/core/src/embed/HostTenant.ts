/** A tenant, for the host: its records and the operations of its environment. */

import type { Tenant } from "../tenants/orgs/Tenant.ts"
import type { HostCalls } from "./HostCalls.ts"
import { type HostEnvServices, hostEnv, type WeftEnv } from "./HostEnv.ts"

/** One environment with all permissions, and its records as of the time of this call. */
export interface WeftTenant extends WeftEnv, Tenant {}

export const hostTenant = (calls: HostCalls<HostEnvServices>, { org, env }: Tenant): WeftTenant => ({
  ...hostEnv(calls, env.env_id),
  org,
  env
})
