/** Previews: isolated copies of a project with their own triggers, which are removed after their time. */
import { Result, Schema } from "effect"
import { BuildId, EnvId, ProjectId } from "../../foundation/Ids.ts"
import { parseDuration } from "../../foundation/time/Duration.ts"
import { Timestamp } from "../../foundation/time/Timestamp.ts"
import { EnvPreview, isSlug, Slug } from "../../tenants/orgs/Tenant.ts"

export const Preview = Schema.Struct({
  /** The environment of the preview. */
  env_id: EnvId,
  parent_env_id: EnvId,
  /** The project in the parent environment. */
  project_id: ProjectId,
  /** The project of the preview. */
  copy_project_id: ProjectId,
  /** Unique in the parent environment. */
  name: Slug,
  /** The build of the project that was copied. The copy has another id. */
  build_id: BuildId,
  /** True if the schedules of the build fire. */
  schedules: Schema.Boolean,
  /** True if events that are published from outside of functions also reach the preview, as copies. */
  copy_events: Schema.Boolean,
  secrets: EnvPreview.fields.secrets,
  created_at: Timestamp,
  updated_at: Timestamp,
  expires_at: Timestamp
})
export type Preview = typeof Preview.Type

/** Settings as clients send them. */
export interface NewPreview {
  /** The build of the project to copy. */
  readonly build_id: string
  /** Time until the removal: a duration such as `7d`, the default. */
  readonly ttl?: string | number
  /** True if the schedules of the build fire; false by default. */
  readonly schedules?: boolean
  /** True if the preview gets copies of the events of its environment; false by default. */
  readonly copy_events?: boolean
  readonly secrets?: Preview["secrets"]
}

const defaultTtlMs = 7 * 24 * 3_600_000
const ttlMinMs = 60_000
const ttlMaxMs = 90 * 24 * 3_600_000

/** Reads a time until the removal. The failure names the field and the reason. */
export const readTtl = (sent: string | number | undefined): Result.Result<number, string> => {
  const ttl = sent === undefined ? defaultTtlMs : parseDuration(sent)
  return ttl === null || ttl < ttlMinMs || ttl > ttlMaxMs
    ? Result.fail("ttl must be a duration from 1m to 90d, such as 7d")
    : Result.succeed(Math.round(ttl))
}

/** Checks the name of a preview. The failure names the field and the reason. */
export const readPreviewName = (sent: string): Result.Result<string, string> =>
  isSlug(sent)
    ? Result.succeed(sent)
    : Result.fail("name must be 1 to 63 lowercase letters, digits and inner hyphens, such as pr-42")

/** Name of the environment of a preview, in URLs. */
export const previewEnvName = (parentName: string, name: string): string => `${parentName}~${name}`
