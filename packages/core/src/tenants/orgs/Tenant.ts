/** Organizations and their environments. */
import { Schema } from "effect"
import { EnvId, OrgId, ProjectId } from "../../foundation/Ids.ts"
import { Timestamp } from "../../foundation/time/Timestamp.ts"
import { PlanName } from "./Plan.ts"

/** Name in URLs: 1 to 63 lowercase letters, digits and inner hyphens, like a DNS label. */
export const Slug = Schema.String.check(Schema.isPattern(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/))

export const isSlug = Schema.is(Slug)

/**
 * Name of an environment: a slug, or for a preview `{environment}~{preview}`, two slugs. So no other environment can have the
 * name of a preview. A removed preview has the name `~{id}` until its rows are deleted.
 */
const EnvName = Schema.String.check(
  Schema.isPattern(/^(?!$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)?(~[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)?$/)
)

/** True for names in URLs of webhooks, including those of previews. */
export const isEnvName = Schema.is(EnvName)

/** The project and the name of a preview, which is an environment of its own. */
export const EnvPreview = Schema.Struct({
  name: Slug,
  parent_env_id: EnvId,
  /** The project in the parent environment. */
  parent_project_id: ProjectId,
  /** The only project of the preview. */
  project_id: ProjectId,
  /** With `project`, functions also read the secrets of the parent project. */
  secrets: Schema.Literals(["project", "own"])
})
export type EnvPreview = typeof EnvPreview.Type

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
  name: EnvName,
  active: Schema.Boolean,
  created_at: Timestamp,
  /** Absent for environments that are no previews. */
  preview: Schema.optionalKey(EnvPreview)
}) {}

/** An environment with its organization. */
export interface Tenant {
  readonly org: Org
  readonly env: Env
}
