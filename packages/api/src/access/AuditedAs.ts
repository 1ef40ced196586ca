/** Endpoints whose refusals stand in the audit log, and under what action. What they do is noted where it is stored. */
import type { AuditAction } from "@weft/core"
import type { NeedKey } from "./Needs.ts"

const audited: { readonly [Key in NeedKey]?: AuditAction } = {
  "projects.remove": "project.remove",
  "builds.deploy": "build.deploy",
  "builds.endLive": "build.end_live",
  "context.create": "context.create",
  "context.update": "context.update",
  "context.remove": "context.remove",
  "sessions.create": "session.create",
  "sessions.revoke": "session.revoke",
  "sessions.revokeAll": "session.revoke_all",
  "serviceKeys.create": "service_key.create",
  "serviceKeys.revoke": "service_key.revoke",
  "serviceKeys.revokeAll": "service_key.revoke_all",
  "domains.add": "domain.add",
  "domains.remove": "domain.remove"
}

/** By group and name of the endpoint; undefined for one whose refusals are not noted. */
export const auditedAs = (group: string, endpoint: string): AuditAction | undefined => byKey.get(`${group}.${endpoint}`)

const byKey: ReadonlyMap<string, AuditAction> = new Map(Object.entries(audited))
