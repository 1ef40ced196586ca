/** A tenant as an embedding program sees it: its records, and all that can be done in its environment. */

import type { ManagedRuntime } from "effect"
import { type HostEnvServices, hostEnv, type WeftEnv } from "./HostEnv.ts"
import type { Tenant } from "./tenancy/Tenant.ts"

/** One environment, with the rights of the host, and its records as they were when this was made. */
export interface WeftTenant extends WeftEnv, Tenant {}

export const hostTenant = (
  runtime: ManagedRuntime.ManagedRuntime<HostEnvServices, unknown>,
  { org, env }: Tenant
): WeftTenant => ({ ...hostEnv(runtime, env.env_id), org, env })
