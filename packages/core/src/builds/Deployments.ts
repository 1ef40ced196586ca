/**
 * What every environment serves now, in memory: no query between an event or a webhook and its functions.
 *
 * A snapshot lives until its environment's deployments change: on this node at once, on others when the feed
 * tells, and where the feed lost the message within `ageLimit`.
 */
import { Context, type Duration, Effect, Layer } from "effect"
import { Feed } from "../activity/Feed.ts"
import { listen } from "../activity/Listener.ts"
import { makeSnapshots } from "../activity/Snapshots.ts"
import type { StoreUnavailable } from "../errors/Errors.ts"
import type { BuildId, EnvId } from "../ids/Ids.ts"
import type { Build } from "./Build.ts"
import { BuildStore, type Deployment } from "./BuildStore.ts"
import type { Endpoint, FunctionEntry, Tool } from "./Manifest.ts"

/** A function that is to run in the background, in the build that served its project when that was decided. */
export interface Match {
  readonly build: Build
  readonly handler: FunctionEntry
  readonly run_type: "event" | "call" | "schedule" | "run"
}

/** A function behind a webhook URL. */
export interface Route {
  readonly build: Build
  readonly endpoint: Endpoint
}

/** A tool, and the build that it is of. */
export interface OfferedTool {
  readonly build: Build
  readonly tool: Tool
}

export interface EnvDeployments {
  /**
   * The handlers of an event type. A function is there once, even when several of its patterns match. In no
   * order that handlers may rely on.
   */
  readonly matches: (eventType: string) => ReadonlyArray<Match>
  /** The endpoint of exactly this method, service and path; `path` as in the URL, starting with `/`. */
  readonly endpoint: (method: string, service: string, path: string) => Route | undefined
  /**
   * What a function reference means: `ns/var`, or `project:ns/var` to choose among projects. Every function that it
   * may mean, so that more than one is ambiguous and none is unknown.
   */
  readonly functions: (reference: string) => ReadonlyArray<Match>
  /**
   * The tools of a service by name, in the order of their names. Of two projects with one of the same name, the one
   * whose name sorts first has it.
   */
  readonly tools: (service: string) => ReadonlyMap<string, OfferedTool>
  readonly builds: ReadonlyMap<BuildId, Deployment>
}

/** The longest that a node which missed the news goes on with what it knows. */
const ageLimit: Duration.Input = "60 seconds"

/** Environments whose snapshots a node keeps; beyond, the one that was not asked for the longest goes. */
const capacity = 10_000

export class Deployments extends Context.Service<
  Deployments,
  {
    /** A map look-up when the snapshot is warm; concurrent callers of a cold one share one query. */
    readonly of: (envId: EnvId) => Effect.Effect<EnvDeployments, StoreUnavailable>
    /** As `of`, where it is at hand. */
    readonly peek: (envId: EnvId) => EnvDeployments | undefined
    /** To be called after what an environment serves was changed: this node forgets at once, the others are told. */
    readonly changed: (envId: EnvId) => Effect.Effect<void>
  }
>()("@weft/core/builds/Deployments") {
  static readonly layer: Layer.Layer<Deployments, never, BuildStore | Feed> = Layer.effect(
    Deployments,
    Effect.gen(function* () {
      const store = yield* BuildStore
      const feed = yield* Feed
      const snapshots = yield* makeSnapshots((envId: EnvId) => Effect.map(store.deployments(envId), snapshotOf), {
        capacity,
        ageLimit
      })

      yield* listen(
        (message) => (message.type === "deployments:changed" ? snapshots.forget(message.env_id) : Effect.void),
        snapshots.forgetAll
      )

      return Deployments.of({
        of: snapshots.get,
        peek: snapshots.peek,
        changed: (envId) =>
          Effect.andThen(snapshots.forget(envId), feed.tell([{ type: "deployments:changed", env_id: envId }]))
      })
    })
  )
}

/** Indexes what an environment serves. Pure. */
export const snapshotOf = (deployments: ReadonlyArray<Deployment>): EnvDeployments => {
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
      return more.length === 0 ? found : oncePerFunction([...found, ...more.map(({ match }) => match)])
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

const noTools: ReadonlyMap<string, OfferedTool> = new Map()

const toolsByService = (
  deployments: ReadonlyArray<Deployment>
): ReadonlyMap<string, ReadonlyMap<string, OfferedTool>> => {
  const offered = deployments.flatMap(({ build, manifest }) => manifest.tools.map((tool) => ({ build, tool })))
  const services = new Map<string, Map<string, OfferedTool>>()
  // What comes later replaces what came before, but keeps its place.
  for (const offer of offered.sort(
    (a, b) => order(a.tool.name, b.tool.name) || order(b.build.project_name, a.build.project_name)
  )) {
    const tools = services.get(offer.tool.service) ?? new Map<string, OfferedTool>()
    services.set(offer.tool.service, tools.set(offer.tool.name, offer))
  }
  return services
}

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** No part of a stored endpoint has a space, so only its own three parts make its key. */
const routeKey = (method: string, service: string, path: string): string => `${method} ${service} ${path}`

const oncePerFunction = (matches: ReadonlyArray<Match>): ReadonlyArray<Match> => {
  const byFunction = new Map<string, Match>()
  for (const match of matches) {
    const key = `${match.build.build_id} ${match.handler.ns}/${match.handler.var}`
    if (!byFunction.has(key)) byFunction.set(key, match)
  }
  return [...byFunction.values()]
}
