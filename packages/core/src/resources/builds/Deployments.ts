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
import type { Endpoint, FunctionEntry, Tool } from "./Manifest.ts"

/** A function to run in the background, and the build that was active when it was selected. */
export interface Match {
  readonly build: Build
  readonly handler: FunctionEntry
  readonly run_type: "event" | "call" | "schedule" | "run"
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

export interface EnvDeployments {
  /**
   * Returns the handlers of an event type, in no guaranteed order. Contains a function once, even if several of its
   * patterns match.
   */
  readonly matches: (eventType: string) => ReadonlyArray<Match>
  /** Returns the endpoint of this method, service and path. `path` is that of the URL and starts with `/`. */
  readonly endpoint: (method: string, service: string, path: string) => Route | undefined
  /**
   * Returns the functions that match a reference: `ns/var`, or `project:ns/var` to select a project. Several results mean
   * that the reference is ambiguous.
   */
  readonly functions: (reference: string) => ReadonlyArray<Match>
  /**
   * Returns the tools of a service, sorted by name. If two projects have a tool of the same name, the project whose name
   * sorts first wins.
   */
  readonly tools: (service: string) => ReadonlyMap<string, DeployedTool>
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
  for (const { build, manifest } of deployments) {
    for (const handler of manifest.handlers) {
      const match: Match = { build, handler, run_type: "event" }
      if (handler.event_type.endsWith("*")) prefixes.push({ prefix: handler.event_type.slice(0, -1), match })
      else add(exact, handler.event_type, match)
    }
    for (const handler of manifest.functions) {
      const name = `${handler.ns}/${handler.var}`
      const match: Match = { build, handler, run_type: "call" }
      add(functions, name, match)
      add(functions, `${build.project_name}:${name}`, match)
    }
    for (const endpoint of manifest.endpoints) {
      routes.set(routeKey(endpoint.method, endpoint.service, endpoint.path), { build, endpoint })
    }
  }
  const services = toolsByService(deployments)
  return {
    matches: (eventType) => {
      const found = exact.get(eventType) ?? []
      const more = prefixes.filter(({ prefix }) => eventType.startsWith(prefix))
      return more.length === 0 ? found : uniqueByFunction([...found, ...more.map(({ match }) => match)])
    },
    endpoint: (method, service, path) => routes.get(routeKey(method, service, path)),
    functions: (reference) => functions.get(reference) ?? [],
    tools: (service) => services.get(service) ?? noTools,
    builds: new Map(deployments.map((deployment) => [deployment.build.build_id, deployment]))
  }
}

const add = (matches: Map<string, Array<Match>>, key: string, match: Match): void => {
  const known = matches.get(key)
  if (known === undefined) matches.set(key, [match])
  else known.push(match)
}

const noTools: ReadonlyMap<string, DeployedTool> = new Map()

const toolsByService = (
  deployments: ReadonlyArray<Deployment>
): ReadonlyMap<string, ReadonlyMap<string, DeployedTool>> => {
  const all = deployments.flatMap(({ build, manifest }) => manifest.tools.map((tool) => ({ build, tool })))
  const services = new Map<string, Map<string, DeployedTool>>()
  // `Map.set` on an existing key replaces the value and keeps its position.
  for (const deployed of all.sort(
    (a, b) => order(a.tool.name, b.tool.name) || order(b.build.project_name, a.build.project_name)
  )) {
    const tools = services.get(deployed.tool.service) ?? new Map<string, DeployedTool>()
    services.set(deployed.tool.service, tools.set(deployed.tool.name, deployed))
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
