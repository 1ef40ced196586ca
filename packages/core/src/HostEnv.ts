/** One environment as an embedding program sees it: promises, plain records, every right. */
import { Effect, Stream } from "effect"
import { ApiKeys } from "./access/ApiKeys.ts"
import { Caller, hostIdentity } from "./access/Caller.ts"
import type { ServiceKeys } from "./access/ServiceKeys.ts"
import type { Sessions } from "./access/Sessions.ts"
import type { Activity } from "./activity/Activity.ts"
import { Feed } from "./activity/Feed.ts"
import type { AuditLog } from "./audit/AuditLog.ts"
import type { Build } from "./builds/Build.ts"
import { Builds } from "./builds/Builds.ts"
import type { NewBuild, Uploaded } from "./builds/Upload.ts"
import type { Calls, NewCall } from "./control/Calls.ts"
import type { RunControl } from "./control/RunControl.ts"
import { Runs } from "./control/Runs.ts"
import type { Domains } from "./domains/Domains.ts"
import { Events, type NewEvent } from "./events/Events.ts"
import type { Files } from "./files/Files.ts"
import { type HostAudit, hostAudit } from "./HostAudit.ts"
import type { HostCalls } from "./HostCalls.ts"
import { type HostServiceKeys, type HostSessions, hostServiceKeys, hostSessions } from "./HostCredentials.ts"
import { type HostDomains, hostDomains } from "./HostDomains.ts"
import { type HostFiles, hostFiles } from "./HostFiles.ts"
import { type HostEvent, type HostRun, hostEvent, hostRun, mapPage } from "./HostRecords.ts"
import { type HostCalled, type HostRuns, hostCall, hostRuns } from "./HostRuns.ts"
import { type HostStreams, hostStreams } from "./HostStreams.ts"
import type { EnvId } from "./ids/Ids.ts"
import { firstPage, type Page, type PageRequest } from "./ids/Page.ts"
import type { Project } from "./projects/Project.ts"
import { Projects } from "./projects/Projects.ts"
import type { Schedule } from "./schedules/Schedule.ts"
import { Schedules } from "./schedules/Schedules.ts"
import type { ContextMetadata } from "./secrets/ContextVariable.ts"
import { type ContextVariableChange, ContextVariables, type NewContextVariable } from "./secrets/ContextVariables.ts"
import type { Streams } from "./streams/Streams.ts"
import { inHostSpan } from "./tracing/HostSpan.ts"
import type { OrgUsage } from "./usage/OrgUsage.ts"
import { OrgUsages } from "./usage/OrgUsages.ts"

export interface WeftEnv {
  readonly projects: {
    readonly list: (page?: PageRequest) => Promise<Page<Project>>
    readonly create: (input: { readonly name: string }) => Promise<Project>
    readonly get: (idOrName: string) => Promise<Project>
    readonly update: (idOrName: string, input: { readonly name: string }) => Promise<Project>
    readonly remove: (idOrName: string) => Promise<void>
  }
  readonly builds: {
    readonly upload: (project: string, upload: NewBuild) => Promise<Uploaded>
    readonly list: (page?: PageRequest) => Promise<Page<Build>>
    readonly get: (project: string, buildId: string) => Promise<Build>
    readonly deploy: (project: string, buildId: string) => Promise<Build>
    readonly live: (project: string) => Promise<Build>
    readonly endLive: (project: string) => Promise<void>
  }
  /** The secrets of a project; no value ever comes back. */
  readonly context: {
    readonly list: (project: string, page?: PageRequest) => Promise<Page<ContextMetadata>>
    readonly create: (project: string, input: NewContextVariable) => Promise<ContextMetadata>
    readonly update: (project: string, key: string, change: ContextVariableChange) => Promise<ContextMetadata>
    readonly remove: (project: string, key: string) => Promise<void>
  }
  readonly files: HostFiles
  readonly domains: HostDomains
  /** Who did what with credentials, secrets, domains and deployments. */
  readonly audit: HostAudit
  /** What the host hands out under its API keys of the environment. */
  readonly sessions: HostSessions
  readonly serviceKeys: HostServiceKeys
  readonly events: {
    /** Durable when it resolves. Without `stream_id` the event begins a stream of its own. */
    readonly publish: (event: Omit<NewEvent, "causedBy" | "newStream">) => Promise<HostEvent>
    /** Many at once, which is cheaper; see `Events.publishMany`. */
    readonly publishMany: (
      events: ReadonlyArray<Omit<NewEvent, "causedBy" | "newStream">>
    ) => Promise<ReadonlyArray<HostEvent>>
    readonly list: (page?: PageRequest) => Promise<Page<HostEvent>>
    readonly get: (eventId: string) => Promise<HostEvent>
    /** All runs that the event set off. */
    readonly runs: (eventId: string) => Promise<ReadonlyArray<HostRun>>
  }
  readonly runs: HostRuns
  /** Those that events have made: publish `svc:schedule:new` to make one. */
  readonly schedules: {
    readonly list: (page?: PageRequest) => Promise<Page<Schedule>>
    readonly remove: (scheduleId: string) => Promise<void>
  }
  /** Calls a function by its name; with `wait`, gives the run when it is over. */
  readonly call: (call: NewCall) => Promise<HostCalled>
  /** What the organization uses of its plan, across its environments. */
  readonly usage: () => Promise<OrgUsage>
  readonly streams: HostStreams
  /** What happens from the first `next()` on, until the iteration is ended. */
  readonly activity: () => AsyncIterable<Activity>
}

/** What stands behind it. */
export type HostEnvServices =
  | ApiKeys
  | Sessions
  | ServiceKeys
  | Domains
  | AuditLog
  | Projects
  | ContextVariables
  | Files
  | Builds
  | Events
  | Runs
  | RunControl
  | Schedules
  | Calls
  | OrgUsages
  | Streams
  | Feed

export const hostEnv = (calls: HostCalls<HostEnvServices>, envId: EnvId): WeftEnv => {
  const identity = hostIdentity(envId)
  const run = <A, E>(effect: Effect.Effect<A, E, HostEnvServices | Caller>): Promise<A> =>
    calls.run(inHostSpan(Effect.provideService(effect, Caller, identity)))
  const runAs = <A, E>(apiKeyId: string, effect: Effect.Effect<A, E, HostEnvServices | Caller>): Promise<A> =>
    calls.run(
      ApiKeys.use((keys) => keys.identity(envId, apiKeyId)).pipe(
        Effect.flatMap((key) => Effect.provideService(effect, Caller, key)),
        inHostSpan
      )
    )

  return {
    projects: {
      list: (page = firstPage) => run(Projects.use((projects) => projects.list(page))),
      create: (input) => run(Projects.use((projects) => projects.create(input))),
      get: (idOrName) => run(Projects.use((projects) => projects.get(idOrName))),
      update: (idOrName, input) => run(Projects.use((projects) => projects.update(idOrName, input))),
      remove: (idOrName) => run(Projects.use((projects) => projects.remove(idOrName)))
    },
    builds: {
      upload: (project, upload) => run(Builds.use((builds) => builds.upload(project, upload))),
      list: (page = firstPage) => run(Builds.use((builds) => builds.list(page))),
      get: (project, buildId) => run(Builds.use((builds) => builds.get(project, buildId))),
      deploy: (project, buildId) => run(Builds.use((builds) => builds.deploy(project, buildId))),
      live: (project) => run(Builds.use((builds) => builds.live(project))),
      endLive: (project) => run(Builds.use((builds) => builds.endLive(project)))
    },
    context: {
      list: (project, page = firstPage) => run(ContextVariables.use((context) => context.list(project, page))),
      create: (project, input) => run(ContextVariables.use((context) => context.create(project, input))),
      update: (project, key, change) => run(ContextVariables.use((context) => context.update(project, key, change))),
      remove: (project, key) => run(ContextVariables.use((context) => context.remove(project, key)))
    },
    files: hostFiles(run),
    domains: hostDomains(run),
    audit: hostAudit(run),
    sessions: hostSessions(runAs),
    serviceKeys: hostServiceKeys(runAs),
    events: {
      publish: (event) =>
        run(
          Effect.map(
            Events.use((events) => events.publish(event)),
            hostEvent
          )
        ),
      publishMany: (many) =>
        run(
          Effect.map(
            Events.use((events) => events.publishMany(many)),
            (events) => events.map(hostEvent)
          )
        ),
      list: (page = firstPage) =>
        run(
          Effect.map(
            Events.use((events) => events.list(page)),
            mapPage(hostEvent)
          )
        ),
      get: (eventId) =>
        run(
          Effect.map(
            Events.use((events) => events.get(eventId)),
            hostEvent
          )
        ),
      runs: (eventId) =>
        run(
          Effect.map(
            Runs.use((runs) => runs.ofEvent(eventId)),
            (runs) => runs.map(hostRun)
          )
        )
    },
    runs: hostRuns(run),
    schedules: {
      list: (page = firstPage) => run(Schedules.use((schedules) => schedules.list(page))),
      remove: (scheduleId) => run(Schedules.use((schedules) => schedules.remove(scheduleId)))
    },
    call: hostCall(run),
    usage: () => run(OrgUsages.use((usages) => usages.get)),
    streams: hostStreams(run),
    activity: async function* () {
      yield* await run(Stream.toAsyncIterableEffect(activityOf(envId)))
    }
  }
}

const activityOf = (envId: EnvId): Stream.Stream<Activity, never, Feed> =>
  Feed.use((feed) => Effect.map(feed.activity, Stream.fromSubscription)).pipe(
    Stream.unwrap,
    Stream.filter((message) => message.env_id === envId)
  )
