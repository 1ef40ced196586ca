/** What an embedding program has to do with the coming of tenants: `ProvisioningConfig` with promises. */
import { Effect } from "effect"
import type { WeftTenant } from "./HostTenant.ts"
import type { AskingLimits, ProvisioningConfig, TenantTerms } from "./tenancy/Provisioning.ts"
import type { Org, Tenant } from "./tenancy/Tenant.ts"
import type { WantedTenant } from "./tenancy/Tenants.ts"

export interface HostProvisioning extends AskingLimits {
  /**
   * Whether an environment is to be made, and its organization with it, that a webhook names and nobody has made; null:
   * it is not, and the webhook is not found. Has 5 seconds; when it rejects, the webhook is answered with 500.
   */
  readonly admit?: (wanted: Pick<WantedTenant, "org" | "env">) => TenantTerms | null | Promise<TenantTerms | null>
  /**
   * Called when an organization has been made, by whomever; who made it waits for this, 30 seconds at most. What rejects
   * is logged and called again, a minute later at the earliest; so is what a process that died did not end.
   */
  readonly onOrgCreated?: (org: Org) => unknown
  /** The same for environments. */
  readonly onEnvCreated?: (tenant: WeftTenant) => unknown
}

export const provisioningOf = (
  { admit, onOrgCreated, onEnvCreated, ...limits }: HostProvisioning,
  tenantOf: (tenant: Tenant) => WeftTenant
): ProvisioningConfig => ({
  ...limits,
  ...(admit === undefined ? {} : { admit: (wanted) => awaited(() => admit(wanted)) }),
  ...(onOrgCreated === undefined ? {} : { onOrgCreated: (org) => awaited(() => onOrgCreated(org)) }),
  ...(onEnvCreated === undefined ? {} : { onEnvCreated: (tenant) => awaited(() => onEnvCreated(tenantOf(tenant))) })
})

/** Whatever the host's function does: gives, promises, throws. */
const awaited = <A>(call: () => A | Promise<A>): Effect.Effect<A, unknown> =>
  Effect.tryPromise({ try: async () => call(), catch: (error) => error })
