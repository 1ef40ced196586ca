/** Organizations and their environments. */
import { Schema } from "effect"
import { EnvId, OrgId } from "../../foundation/Ids.ts"
import { Timestamp } from "../../foundation/time/Timestamp.ts"
import { PlanName } from "./Plan.ts"

/** Name in URLs: 1 to 63 lowercase letters, digits and inner hyphens, like a DNS label. */
export const Slug = Schema.String.check(Schema.isPattern(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/))

export const isSlug = Schema.is(Slug)

export class Org extends Schema.Class<Org>("Org")({
  org_id: OrgId,
  slug: Slug,
  name: Schema.String,
  plan: PlanName,
  /** Number of members, as counted by the host. */
  members: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)),
  created_at: Timestamp,
  updated_at: Timestamp
}) {}

export class Env extends Schema.Class<Env>("Env")({
  env_id: EnvId,
  org_id: OrgId,
  /** Unique in the organization; part of webhook URLs. */
  name: Slug,
  active: Schema.Boolean,
  created_at: Timestamp
}) {}

/** An environment with its organization. */
export interface Tenant {
  readonly org: Org
  readonly env: Env
}
