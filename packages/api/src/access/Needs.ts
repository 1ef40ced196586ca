/** Which permission each endpoint needs (decisions section 3): one table for the server and the document. */
import { type Action, isUuid, type ResourceType, toIdOrName } from "@weft/core"
import type { HttpApiGroup } from "effect/http-api"
import type { AuditApi } from "../routes/AuditApi.ts"
import type { BuildsApi, TriggersApi } from "../routes/BuildsApi.ts"
import type { CallsApi } from "../routes/CallsApi.ts"
import type { ContextApi } from "../routes/ContextApi.ts"
import type { DomainsApi } from "../routes/DomainsApi.ts"
import type { EnvApi } from "../routes/EnvApi.ts"
import type { EventsApi } from "../routes/EventsApi.ts"
import type { FilesApi } from "../routes/FilesApi.ts"
import type { ProjectsApi } from "../routes/ProjectsApi.ts"
import type { RunsApi } from "../routes/RunsApi.ts"
import type { SchedulesApi } from "../routes/SchedulesApi.ts"
import type { ServiceKeysApi } from "../routes/ServiceKeysApi.ts"
import type { SessionsApi } from "../routes/SessionsApi.ts"
import type { StreamsApi } from "../routes/StreamsApi.ts"

export interface Need {
  readonly type: ResourceType
  readonly action: Action
  /** Another action that suffices instead, depending on what is there or what the body says. */
  readonly or?: Action
  /** Another permission that is needed besides, on what the body names. */
  readonly also?: { readonly type: ResourceType; readonly action: Action }
  /**
   * What the path of the permission is matched with, and where that stands:
   * - `project`: the project in the URL.
   * - `body`: a field of the body, known when it is decoded.
   * - `resource`: the resource itself, known when it is loaded; lists are filtered.
   * - `path`: the path of a file in the URL, known when it is decoded.
   * - `stream`: the id of a stream in the URL; `all`: everything of the type.
   */
  readonly on: "project" | "body" | "resource" | "path" | "stream" | "all"
  /** Set where a service key or a session is refused whatever it holds. */
  readonly callers?: "api-key"
}

type KeysOf<Group> =
  Group extends HttpApiGroup.HttpApiGroup<infer Name, infer Endpoint>
    ? Endpoint extends { readonly identifier: infer Id extends string }
      ? `${Name}.${Id}`
      : never
    : never

type Instances = {
  [G in
    | typeof AuditApi
    | typeof BuildsApi
    | typeof TriggersApi
    | typeof CallsApi
    | typeof ContextApi
    | typeof DomainsApi
    | typeof EnvApi
    | typeof EventsApi
    | typeof FilesApi
    | typeof ProjectsApi
    | typeof RunsApi
    | typeof SchedulesApi
    | typeof SessionsApi
    | typeof StreamsApi
    | typeof ServiceKeysApi as G["identifier"]]: KeysOf<G>
}
export type NeedKey = Instances[keyof Instances]

export const needs: Readonly<Record<NeedKey, Need>> = {
  "projects.list": { type: "project", action: "read", on: "resource" },
  "projects.create": { type: "project", action: "create", on: "body" },
  "projects.get": { type: "project", action: "read", on: "project" },
  "projects.update": { type: "project", action: "update", on: "project" },
  "projects.remove": { type: "project", action: "delete", on: "project" },
  "builds.listAll": { type: "build", action: "read", on: "resource" },
  "builds.list": { type: "build", action: "read", on: "project" },
  "builds.upload": { type: "build", action: "create", or: "execute", on: "project" },
  "builds.deployed": { type: "build", action: "read", on: "project" },
  "builds.live": { type: "build", action: "read", on: "project" },
  "builds.endLive": { type: "build", action: "execute", on: "project" },
  "builds.get": { type: "build", action: "read", on: "project" },
  "builds.download": { type: "build", action: "read", on: "project" },
  "builds.deploy": { type: "build", action: "execute", on: "project" },
  "triggers.eventHandlers": { type: "build", action: "read", on: "project" },
  "triggers.schedules": { type: "build", action: "read", on: "project" },
  "schedules.list": { type: "build", action: "read", on: "resource" },
  "schedules.remove": { type: "build", action: "execute", on: "resource" },
  "context.list": { type: "context", action: "read", on: "project" },
  "context.create": { type: "context", action: "create", on: "project" },
  "context.update": { type: "context", action: "update", on: "project" },
  "context.remove": { type: "context", action: "delete", on: "project" },
  "files.list": { type: "file", action: "read", on: "resource" },
  "files.upload": { type: "file", action: "create", or: "update", on: "path" },
  "files.initiate": { type: "file", action: "create", or: "update", on: "body" },
  "files.putPart": { type: "file", action: "create", or: "update", on: "resource" },
  "files.complete": { type: "file", action: "create", or: "update", on: "resource" },
  "files.abort": { type: "file", action: "create", or: "update", on: "resource" },
  "files.get": { type: "file", action: "read", on: "resource" },
  "files.download": { type: "file", action: "read", on: "resource" },
  "files.link": { type: "file", action: "read", on: "resource" },
  "files.remove": { type: "file", action: "delete", on: "resource" },
  "events.publish": { type: "event", action: "create", on: "body" },
  "events.list": { type: "event", action: "read", on: "resource" },
  "events.get": { type: "event", action: "read", on: "resource" },
  "events.runs": { type: "run", action: "read", on: "resource" },
  "runs.list": { type: "run", action: "read", on: "resource" },
  "runs.stats": { type: "run", action: "read", on: "resource" },
  "runs.get": { type: "run", action: "read", on: "resource" },
  "runs.logs": { type: "run", action: "read", on: "resource" },
  "runs.usage": { type: "run", action: "read", on: "resource" },
  "runs.cancelAll": { type: "call", action: "create", on: "resource" },
  "runs.cancel": { type: "call", action: "create", on: "resource" },
  "runs.replay": { type: "call", action: "create", on: "resource" },
  "calls.call": { type: "call", action: "create", on: "body" },
  "streams.subscribeEnv": { type: "stream", action: "read", on: "all" },
  "streams.subscribe": { type: "stream", action: "read", on: "stream" },
  "streams.subscribeWithEvent": {
    type: "stream",
    action: "read",
    on: "body",
    also: { type: "event", action: "create" }
  },
  "sessions.create": { type: "session", action: "create", on: "resource", callers: "api-key" },
  "sessions.list": { type: "session", action: "read", on: "resource", callers: "api-key" },
  "sessions.revoke": { type: "session", action: "delete", on: "resource", callers: "api-key" },
  "sessions.revokeAll": { type: "session", action: "delete", on: "resource", callers: "api-key" },
  "serviceKeys.create": { type: "key", action: "create", on: "resource", callers: "api-key" },
  "serviceKeys.list": { type: "key", action: "read", on: "resource", callers: "api-key" },
  "serviceKeys.get": { type: "key", action: "read", on: "resource", callers: "api-key" },
  "serviceKeys.revoke": { type: "key", action: "delete", on: "resource", callers: "api-key" },
  "serviceKeys.revokeAll": { type: "key", action: "delete", on: "resource", callers: "api-key" },
  "domains.list": { type: "domain", action: "read", on: "resource" },
  "domains.add": { type: "domain", action: "create", on: "resource" },
  "domains.get": { type: "domain", action: "read", on: "resource" },
  "domains.verify": { type: "domain", action: "update", on: "resource" },
  "domains.remove": { type: "domain", action: "delete", on: "resource" },
  "env.get": { type: "env", action: "read", on: "resource" },
  "env.usage": { type: "env", action: "read", on: "resource" },
  "audit.list": { type: "key", action: "read", on: "resource" }
}

/** The need of an endpoint by group and name; undefined for one that needs no permission. */
export const needOf = (group: string, endpoint: string): Need | undefined => byKey.get(`${group}.${endpoint}`)

const byKey: ReadonlyMap<string, Need> = new Map(Object.entries(needs))

/**
 * Whether permissions on `granted` can cover the project that a URL names. An id and a name may mean the same
 * project, so that only the service can tell; two names or two ids can't.
 */
export const mayCover = (granted: "all" | ReadonlyArray<string>, project: string): boolean =>
  granted === "all" || granted.some((path) => path === toIdOrName(project) || isUuid(path) !== isUuid(project))
