/** Organizations and their environments. */
import { Schema } from "effect"
import { EnvId, OrgId } from "../ids/Ids.ts"
import { Timestamp } from "../ids/Timestamp.ts"
import { PlanName } from "./Plan.ts"

/** What stands in URLs: lowercase letters, digits and hyphens, 1 to 63, like a DNS label. */
export const Slug = Schema.String.check(Schema.isPattern(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/))

export const isSlug = Schema.is(Slug)

export class Org extends Schema.Class<Org>("Org")({
  org_id: OrgId,
  slug: Slug,
  name: Schema.String,
  plan: PlanName,
  /** How many people the host counts as members. */
  members: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)),
  created_at: Timestamp,
  updated_at: Timestamp
}) {}

export class Env extends Schema.Class<Env>("Env")({
  env_id: EnvId,
  org_id: OrgId,
  /** Unique in its organization; part of webhook URLs. */
  name: Slug,
  active: Schema.Boolean,
  created_at: Timestamp
}) {}

/** An environment with its organization. */
export interface Tenant {
  readonly org: Org
  readonly env: Env
}
