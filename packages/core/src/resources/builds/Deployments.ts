/**
 * Snapshots of the active builds of each environment, so that events and webhooks find their functions without a query.
 *
 * A change of deployments invalidates the snapshot: at once on this node, and on others when they receive the message of
 * the bus. If the message is lost, the snapshot expires after `ageLimit`.
 */
import { Context, type Duration, Effect, Layer } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import type { BuildId, EnvId } from "../../foundation/Ids.ts"
import { ClusterBus } from "../../platform/cluster/ClusterBus.ts"
import { makeSnapshots } from "../../platform/cluster/Snapshots.ts"
import { subscribe } from "../../platform/cluster/subscribe.ts"
import type { Build } from "./Build.ts"
import { BuildStore, type Deployment } from "./BuildStore.ts"
import type { Endpoint, FunctionEntry, Manifest } from "./Manifest.ts"
import type { Prompt, Resource, Tool } from "./McpEntries.ts"
import { failureEventType } from "./OnFailure.ts"

/** A function to run in the background, and the build that was active when it was selected. */
export interface Match {
  readonly build: Build
  readonly handler: FunctionEntry
  readonly run_type: "event" | "call" | "schedule" | "run"
  /** Expression that is true for the events that the handler gets; without it, it gets all. */
  readonly condition?: string
}

/** The endpoint of a webhook URL and its build. */
export interface Route {
  readonly build: Build
  readonly endpoint: Endpoint
}

/** A tool and its build. */
export interface DeployedTool {
  readonly build: Build
  readonly tool: Tool
}

/** A resource and its build. */
export interface DeployedResource {
  readonly build: Build
  readonly resource: Resource
}

/** A prompt and its build. */
export interface DeployedPrompt {
  readonly build: Build
  readonly prompt: Prompt
}

/** Entries of a service for clients of the Model Context Protocol, each kind sorted by its key. */
export interface McpService {
  /** Tools by name. */
  readonly tools: ReadonlyMap<string, DeployedTool>
  /** Resources by URI or URI template. */
  readonly resources: ReadonlyMap<string, DeployedResource>
  /** Prompts by name. */
  readonly prompts: ReadonlyMap<string, DeployedPrompt>
}

export interface EnvDeployments {
  /**
   * Returns the handlers of an event type, in no guaranteed order. Contains a function once, even if several of its
   * patterns match.
   */
  readonly matches: (eventType: string) => ReadonlyArray<Match>
  /** Handlers that name the type of a system event; those of prefixes do not receive it. */
  readonly systemHandlers: (eventType: string) => ReadonlyArray<Match>
  /** Handlers of the event about runs that failed for good. */
  readonly failureHandlers: ReadonlyArray<Match>
  /** Returns the functions whose runs an event of the type may cancel, with their conditions on the event. */
  readonly cancels: (eventType: string) => ReadonlyArray<Match>
  /** Returns the endpoint of this method, service and path. `path` is that of the URL and starts with `/`. */
  readonly endpoint: (method: string, service: string, path: string) => Route | undefined
  /**
   * Returns the functions that match a reference: `ns/var`, or `project:ns/var` to select a project. Several results mean
   * that the reference is ambiguous.
   */
  readonly functions: (reference: string) => ReadonlyArray<Match>
  /**
   * Returns the tools, resources and prompts of a service. If two projects have one of the same name or URI, the project
   * whose name sorts first wins.
   */
  readonly mcp: (service: string) => McpService
  readonly builds: ReadonlyMap<BuildId, Deployment>
}

/** Maximum age of a snapshot on a node that missed the `deployments:changed` message. */
const ageLimit: Duration.Input = "60 seconds"

/** Maximum snapshots in the cache of a node, which evicts the least recently used. */
const capacity = 10_000

export class Deployments extends Context.Service<
  Deployments,
  {
    /** Returns the snapshot: one map look-up if it is cached. Concurrent callers share one query if it is not. */
    readonly of: (envId: EnvId) => Effect.Effect<EnvDeployments, StoreUnavailable>
    /** Returns the cached snapshot, or undefined. */
    readonly getCached: (envId: EnvId) => EnvDeployments | undefined
    /** Invalidates the snapshot on this node and notifies the others. Call it after a change of deployments. */
    readonly changed: (envId: EnvId) => Effect.Effect<void>
  }
>()("@weft/core/resources/builds/Deployments") {
  static readonly layer: Layer.Layer<Deployments, never, BuildStore | ClusterBus> = Layer.effect(
    Deployments,
    Effect.gen(function* () {
      const store = yield* BuildStore
      const bus = yield* ClusterBus
      const snapshots = yield* makeSnapshots((envId: EnvId) => Effect.map(store.deployments(envId), toSnapshot), {
        capacity,
        ageLimit
      })

      yield* subscribe(
        (message) => (message.type === "deployments:changed" ? snapshots.invalidate(message.env_id) : Effect.void),
        snapshots.invalidateAll
      )

      return Deployments.of({
        of: snapshots.get,
        getCached: snapshots.getCached,
        changed: (envId) =>
          Effect.andThen(snapshots.invalidate(envId), bus.sendControl([{ type: "deployments:changed", env_id: envId }]))
      })
    })
  )
}

/** Indexes the active builds of an environment. Pure. */
export const toSnapshot = (deployments: ReadonlyArray<Deployment>): EnvDeployments => {
  const exact = new Map<string, Array<Match>>()
  const prefixes: Array<{ readonly prefix: string; readonly match: Match }> = []
  const routes = new Map<string, Route>()
  const functions = new Map<string, Array<Match>>()
  const cancels = new Map<string, Array<Match>>()
  for (const { build, manifest } of deployments) {
    for (const handler of manifest.handlers) {
      const condition = handler.if === undefined ? {} : { condition: handler.if }
      const match: Match = { build, handler, run_type: "event", ...condition }
      if (handler.event_type.endsWith("*")) prefixes.push({ prefix: handler.event_type.slice(0, -1), match })
      else add(exact, handler.event_type, match)
    }
    for (const handler of manifest.functions) {
      const name = `${handler.ns}/${handler.var}`
      const match: Match = { build, handler, run_type: "call" }
      add(functions, name, match)
      add(functions, `${build.project_name}:${name}`, match)
      const cancelOn = handler.flow?.cancel_on
      for (const type of new Set(cancelOn?.events)) {
        add(cancels, type, cancelOn?.if === undefined ? match : { ...match, condition: cancelOn.if })
      }
    }
    for (const endpoint of manifest.endpoints) {
      routes.set(routeKey(endpoint.method, endpoint.service, endpoint.path), { build, endpoint })
    }
  }
  const tools = byService(
    deployments,
    (it) => it.tools,
    (tool) => tool.name,
    (build, tool) => ({ build, tool })
  )
  const resources = byService(
    deployments,
    (it) => it.resources,
    ({ uri }) => uri,
    (build, resource) => ({ build, resource })
  )
  const prompts = byService(
    deployments,
    (it) => it.prompts,
    (prompt) => prompt.name,
    (build, prompt) => ({ build, prompt })
  )
  return {
    matches: (eventType) => {
      const found = exact.get(eventType) ?? []
      const more = prefixes.filter(({ prefix }) => eventType.startsWith(prefix))
      return more.length === 0 ? found : uniqueByFunction([...found, ...more.map(({ match }) => match)])
    },
    systemHandlers: (eventType) => exact.get(eventType) ?? none,
    failureHandlers: exact.get(failureEventType) ?? [],
    cancels: (eventType) => cancels.get(eventType) ?? none,
    endpoint: (method, service, path) => routes.get(routeKey(method, service, path)),
    functions: (reference) => functions.get(reference) ?? [],
    mcp: (service) => ({
      tools: tools.get(service) ?? new Map(),
      resources: resources.get(service) ?? new Map(),
      prompts: prompts.get(service) ?? new Map()
    }),
    builds: new Map(deployments.map((deployment) => [deployment.build.build_id, deployment]))
  }
}

const none: ReadonlyArray<Match> = []

const add = (matches: Map<string, Array<Match>>, key: string, match: Match): void => {
  const known = matches.get(key)
  if (known === undefined) matches.set(key, [match])
  else known.push(match)
}

/** Indexes the entries of one kind by service, then by key. */
const byService = <Entry extends { readonly service: string }, Deployed>(
  deployments: ReadonlyArray<Deployment>,
  select: (manifest: Manifest) => ReadonlyArray<Entry>,
  keyOf: (entry: Entry) => string,
  deployed: (build: Build, entry: Entry) => Deployed
): ReadonlyMap<string, ReadonlyMap<string, Deployed>> => {
  const all = deployments.flatMap(({ build, manifest }) => select(manifest).map((entry) => ({ build, entry })))
  const services = new Map<string, Map<string, Deployed>>()
  // `Map.set` on an existing key replaces the value and keeps its position.
  for (const { build, entry } of all.sort(
    (a, b) => order(keyOf(a.entry), keyOf(b.entry)) || order(b.build.project_name, a.build.project_name)
  )) {
    const entries = services.get(entry.service) ?? new Map<string, Deployed>()
    services.set(entry.service, entries.set(keyOf(entry), deployed(build, entry)))
  }
  return services
}

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Returns a unique key: no part of a stored endpoint contains a space. */
const routeKey = (method: string, service: string, path: string): string => `${method} ${service} ${path}`

const uniqueByFunction = (matches: ReadonlyArray<Match>): ReadonlyArray<Match> => {
  const byFunction = new Map<string, Match>()
  for (const match of matches) {
    const key = `${match.build.build_id} ${match.handler.ns}/${match.handler.var}`
    if (!byFunction.has(key)) byFunction.set(key, match)
  }
  return [...byFunction.values()]
}
