/** One environment, for the host: promises, plain records and all permissions. */
import { Effect, Stream } from "effect"
import type { EnvId } from "../foundation/Ids.ts"
import { firstPage, type Page, type PageRequest } from "../foundation/Page.ts"
import { inHostSpan } from "../foundation/telemetry/HostSpan.ts"
import type { ActivityEvent } from "../platform/cluster/ActivityEvent.ts"
import { ClusterBus } from "../platform/cluster/ClusterBus.ts"
import type { AuditLog } from "../resources/audit/AuditLog.ts"
import type { Build } from "../resources/builds/Build.ts"
import type { ComparedCapabilities } from "../resources/builds/BuildManifest.ts"
import { Builds } from "../resources/builds/Builds.ts"
import type { DeployOptions } from "../resources/builds/Deploy.ts"
import type { NewBuild, Uploaded } from "../resources/builds/Upload.ts"
import type { Domains } from "../resources/domains/Domains.ts"
import type { Files } from "../resources/files/Files.ts"
import type { Previews } from "../resources/previews/Previews.ts"
import type { Project } from "../resources/projects/Project.ts"
import { Projects } from "../resources/projects/Projects.ts"
import type { Schedule } from "../resources/schedules/Schedule.ts"
import { Schedules } from "../resources/schedules/Schedules.ts"
import type { ContextMetadata } from "../resources/secrets/ContextVariable.ts"
import {
  type ContextVariableChange,
  ContextVariables,
  type NewContextVariable
} from "../resources/secrets/ContextVariables.ts"
import type { OrgUsage } from "../resources/usage/OrgUsage.ts"
import { OrgUsages } from "../resources/usage/OrgUsages.ts"
import type { Alerts } from "../runtime/control/Alerts.ts"
import type { Calls, NewCall } from "../runtime/control/Calls.ts"
import type { Canaries } from "../runtime/control/Canaries.ts"
import type { DeadLetters } from "../runtime/control/DeadLetters.ts"
import { Deliveries } from "../runtime/control/Deliveries.ts"
import type { DeliveryQuery } from "../runtime/control/DeliveryQuery.ts"
import type { Operations } from "../runtime/control/Operations.ts"
import { type NewPause, type PauseState, Pauses } from "../runtime/control/Pauses.ts"
import type { RunControl } from "../runtime/control/RunControl.ts"
import type { RunStatistics } from "../runtime/control/RunStatistics.ts"
import { Runs } from "../runtime/control/Runs.ts"
import type { Tokens } from "../runtime/control/Tokens.ts"
import type { NewSnippet, SnippetEnd, Snippets } from "../runtime/evaluation/Snippets.ts"
import { Events, type NewEvent } from "../runtime/events/Events.ts"
import type { Pause } from "../runtime/runs/Pause.ts"
import type { Streams } from "../runtime/streams/Streams.ts"
import { ApiKeys } from "../tenants/access/ApiKeys.ts"
import { Caller, hostIdentity } from "../tenants/access/Caller.ts"
import type { ServiceKeys } from "../tenants/access/ServiceKeys.ts"
import type { Sessions } from "../tenants/access/Sessions.ts"
import { type HostAlerts, hostAlerts } from "./HostAlerts.ts"
import { type HostAudit, hostAudit } from "./HostAudit.ts"
import type { HostCalls } from "./HostCalls.ts"
import { type HostCanaries, hostCanaries } from "./HostCanaries.ts"
import { type HostServiceKeys, type HostSessions, hostServiceKeys, hostSessions } from "./HostCredentials.ts"
import { type HostDeadLetters, hostDeadLetters } from "./HostDeadLetters.ts"
import { type HostDomains, hostDomains } from "./HostDomains.ts"
import { type HostFiles, hostFiles } from "./HostFiles.ts"
import { type HostOperations, hostOperations } from "./HostOperations.ts"
import { type HostPreviews, hostPreviews } from "./HostPreviews.ts"
import { type HostEvent, type HostRun, hostEvent, hostRun, mapPage } from "./HostRecords.ts"
import { type HostCalled, type HostRuns, hostCall, hostRuns } from "./HostRuns.ts"
import { hostEvaluate, type SnippetSignal } from "./HostSnippets.ts"
import { type HostStreams, hostStreams } from "./HostStreams.ts"

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
    readonly deploy: (project: string, buildId: string, options?: DeployOptions) => Promise<Build>
    readonly capabilities: (project: string, buildId: string, compare?: "deployed") => Promise<ComparedCapabilities>
    readonly live: (project: string) => Promise<Build>
    readonly endLive: (project: string) => Promise<void>
    /** Lifts the quarantine of a build that repeatedly ended its runner process. */
    readonly release: (project: string, buildId: string) => Promise<void>
  }
  /** The latest canary of a project. `builds.deploy` starts one. */
  readonly canaries: HostCanaries
  readonly previews: HostPreviews
  /** The secrets of a project. Their values cannot be read. */
  readonly context: {
    readonly list: (project: string, page?: PageRequest) => Promise<Page<ContextMetadata>>
    readonly create: (project: string, input: NewContextVariable) => Promise<ContextMetadata>
    readonly update: (project: string, key: string, change: ContextVariableChange) => Promise<ContextMetadata>
    readonly remove: (project: string, key: string) => Promise<void>
  }
  readonly files: HostFiles
  readonly domains: HostDomains
  /** Actions on credentials, secrets, domains and deployments, with their actors. */
  readonly audit: HostAudit
  /** Sessions and service keys under the API keys of the environment. */
  readonly sessions: HostSessions
  readonly serviceKeys: HostServiceKeys
  readonly events: {
    /** Publishes an event, which is durable when the promise resolves. Without `stream_id` it begins a new stream. */
    readonly publish: (event: Omit<NewEvent, "causedBy" | "newStream">) => Promise<HostEvent>
    /** Publishes several events in one batch, which is cheaper; see `Events.publishMany`. */
    readonly publishMany: (
      events: ReadonlyArray<Omit<NewEvent, "causedBy" | "newStream">>
    ) => Promise<ReadonlyArray<HostEvent>>
    readonly list: (page?: PageRequest) => Promise<Page<HostEvent>>
    readonly get: (eventId: string) => Promise<HostEvent>
    /** Returns all runs that the event caused. */
    readonly runs: (eventId: string) => Promise<ReadonlyArray<HostRun>>
  }
  readonly runs: HostRuns
  /** Events that wait for the runs of their handlers. */
  readonly deliveries: {
    /** Cancels the pending deliveries that the query selects. Returns their number. */
    readonly cancel: (query?: DeliveryQuery) => Promise<number>
  }
  readonly deadLetters: HostDeadLetters
  /** Pauses of functions, projects and the environment. */
  readonly pauses: {
    readonly create: (pause?: NewPause) => Promise<Pause>
    readonly list: (page?: PageRequest) => Promise<Page<Pause>>
    readonly get: (pauseId: string) => Promise<PauseState>
    readonly remove: (pauseId: string) => Promise<void>
  }
  /** Cancellations and replays of many runs, in the background. */
  readonly operations: HostOperations
  /** Rules about failures, latencies, backlogs and silence. */
  readonly alerts: HostAlerts
  /** Dynamic schedules. Publish `svc:schedule:new` to create one. */
  readonly schedules: {
    readonly list: (page?: PageRequest) => Promise<Page<Schedule>>
    readonly remove: (scheduleId: string) => Promise<void>
  }
  /** Calls a function by its name. With `wait`, resolves with the run after it has ended. */
  readonly call: (call: NewCall) => Promise<HostCalled>
  /** Runs a snippet to its end. Rejects with the reason of the signal when it aborts. */
  readonly evaluate: (snippet: NewSnippet, signal?: SnippetSignal) => Promise<SnippetEnd>
  /** Returns the organization's usage of its plan, over all its environments. */
  readonly usage: () => Promise<OrgUsage>
  readonly streams: HostStreams
  /** Iterates over live activity, from the first `next()` until the iteration ends. */
  readonly activity: () => AsyncIterable<ActivityEvent>
}

/** The services that `WeftEnv` needs. */
export type HostEnvServices =
  | ApiKeys
  | Sessions
  | ServiceKeys
  | Domains
  | AuditLog
  | Projects
  | Previews
  | ContextVariables
  | Files
  | Builds
  | Events
  | Runs
  | RunStatistics
  | RunControl
  | Tokens
  | Deliveries
  | DeadLetters
  | Pauses
  | Canaries
  | Operations
  | Alerts
  | Schedules
  | Calls
  | Snippets
  | OrgUsages
  | Streams
  | ClusterBus

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
    builds: hostBuilds(run),
    canaries: hostCanaries(run),
    previews: hostPreviews(run),
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
    alerts: hostAlerts(run),
    schedules: {
      list: (page = firstPage) => run(Schedules.use((schedules) => schedules.list(page))),
      remove: (scheduleId) => run(Schedules.use((schedules) => schedules.remove(scheduleId)))
    },
    pauses: {
      create: (pause = {}) => run(Pauses.use((pauses) => pauses.pause(pause))),
      list: (page = firstPage) => run(Pauses.use((pauses) => pauses.list(page))),
      get: (pauseId) => run(Pauses.use((pauses) => pauses.get(pauseId))),
      remove: (pauseId) => run(Pauses.use((pauses) => pauses.resume(pauseId)))
    },
    operations: hostOperations(run),
    deliveries: { cancel: (query = {}) => run(Deliveries.use((deliveries) => deliveries.cancel(query))) },
    deadLetters: hostDeadLetters(run),
    call: hostCall(run),
    evaluate: (snippet, signal) => calls.run(hostEvaluate(envId, snippet, signal)),
    usage: () => run(OrgUsages.use((usages) => usages.get)),
    streams: hostStreams(run),
    activity: async function* () {
      yield* await run(Stream.toAsyncIterableEffect(readActivity(envId)))
    }
  }
}

const hostBuilds = (run: <A, E>(effect: Effect.Effect<A, E, Builds | Caller>) => Promise<A>): WeftEnv["builds"] => ({
  upload: (project, upload) => run(Builds.use((builds) => builds.upload(project, upload))),
  list: (page = firstPage) => run(Builds.use((builds) => builds.list(page))),
  get: (project, buildId) => run(Builds.use((builds) => builds.get(project, buildId))),
  deploy: (project, buildId, options) => run(Builds.use((builds) => builds.deploy(project, buildId, options))),
  capabilities: (project, buildId, compare) =>
    run(Builds.use((builds) => builds.capabilities(project, buildId, compare))),
  live: (project) => run(Builds.use((builds) => builds.live(project))),
  endLive: (project) => run(Builds.use((builds) => builds.endLive(project))),
  release: (project, buildId) => run(Builds.use((builds) => builds.release(project, buildId)))
})

const readActivity = (envId: EnvId): Stream.Stream<ActivityEvent, never, ClusterBus> =>
  ClusterBus.use((bus) => Effect.map(bus.activity, Stream.fromSubscription)).pipe(
    Stream.unwrap,
    Stream.filter((message) => message.env_id === envId)
  )
