/** Callbacks of the host for new tenants: `ProvisioningConfig` with promises. */
import { Effect } from "effect"
import type { AdmissionLimits, ProvisioningConfig, TenantTerms } from "../tenants/orgs/Provisioning.ts"
import type { Org, Tenant } from "../tenants/orgs/Tenant.ts"
import type { TenantRequest } from "../tenants/orgs/Tenants.ts"
import type { WeftTenant } from "./HostTenant.ts"

export interface HostProvisioning extends AdmissionLimits {
  /**
   * Decides whether to create an unknown environment that a webhook names, together with its organization. Null refuses:
   * the webhook is answered with 404. Times out after 5 s. If it rejects, the webhook is answered with 500.
   */
  readonly admit?: (wanted: Pick<TenantRequest, "org" | "env">) => TenantTerms | null | Promise<TenantTerms | null>
  /**
   * Called after an organization was created, by any caller. Creation waits for it, for at most 30 s. A rejection is
   * logged, and the call is retried after 1 minute at the earliest. A call that a crashed process did not finish is
   * retried as well.
   */
  readonly onOrgCreated?: (org: Org) => unknown
  /** The same for environments. */
  readonly onEnvCreated?: (tenant: WeftTenant) => unknown
}

export const toProvisioning = (
  { admit, onOrgCreated, onEnvCreated, ...limits }: HostProvisioning,
  toTenant: (tenant: Tenant) => WeftTenant
): ProvisioningConfig => ({
  ...limits,
  ...(admit === undefined ? {} : { admit: (wanted) => fromHost(() => admit(wanted)) }),
  ...(onOrgCreated === undefined ? {} : { onOrgCreated: (org) => fromHost(() => onOrgCreated(org)) }),
  ...(onEnvCreated === undefined ? {} : { onEnvCreated: (tenant) => fromHost(() => onEnvCreated(toTenant(tenant))) })
})

/** Runs a function of the host, which may return a value, return a promise or throw. */
const fromHost = <A>(call: () => A | Promise<A>): Effect.Effect<A, unknown> =>
  Effect.tryPromise({ try: async () => call(), catch: (error) => error })
