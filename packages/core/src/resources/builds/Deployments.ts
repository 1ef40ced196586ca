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
import { type CanarySubject, makeIsCanarySide } from "./Canary.ts"
import { type CanaryDeployment, CanaryStore } from "./CanaryStore.ts"
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
  /** Returns the handlers of exactly this type. Events of Weft itself reach no handler for all types. */
  readonly exactMatches: (eventType: string) => ReadonlyArray<Match>
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
  /** Includes canaries. */
  readonly builds: ReadonlyMap<BuildId, Deployment>
  /** Null without a canary. With one, all other fields are those of the deployed builds: use `assignTo`. */
  readonly canaries: Canaries | null
}

/** Active canaries of an environment. */
export interface Canaries {
  /** Returns the deployments for one event or request: for each project, those of the side that gets it. */
  readonly assign: (subject: CanarySubject) => EnvDeployments
}

/** Returns the deployments for one event or request. */
export const assignTo = (deployed: EnvDeployments, subject: () => CanarySubject): EnvDeployments =>
  deployed.canaries === null ? deployed : deployed.canaries.assign(subject())

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
  static readonly layer: Layer.Layer<Deployments, never, BuildStore | CanaryStore | ClusterBus> = Layer.effect(
    Deployments,
    Effect.gen(function* () {
      const store = yield* BuildStore
      const canaries = yield* CanaryStore
      const bus = yield* ClusterBus
      const read = (envId: EnvId) => Effect.zipWith(store.deployments(envId), canaries.active(envId), toSnapshot)
      const snapshots = yield* makeSnapshots(read, { capacity, ageLimit })

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
export const toSnapshot = (
  deployments: ReadonlyArray<Deployment>,
  canaries: ReadonlyArray<CanaryDeployment> = []
): EnvDeployments => {
  if (canaries.length === 0) return toView(deployments, [])
  const sides = canaries.map(({ canary, build, manifest }) => ({
    isCanary: makeIsCanarySide(canary),
    projectId: canary.project_id,
    deployment: { build, manifest }
  }))
  const base = toView(deployments, [])
  const builds = new Map([
    ...base.builds,
    ...sides.map(({ deployment }) => [deployment.build.build_id, deployment] as const)
  ])
  /** Views by the sides of all projects, as bits. */
  const views = new Map<number, EnvDeployments>()

  const makeView = (bits: number): EnvDeployments => {
    const chosen = new Map(
      sides.flatMap((side, index) => ((bits >> index) & 1 ? [[side.projectId, side.deployment]] : []))
    )
    const others = deployments.filter(({ build }) => chosen.has(build.project_id))
    const unchosen = sides.flatMap(({ projectId, deployment }) => (chosen.has(projectId) ? [] : [deployment]))
    const selected = deployments.map((deployment) => chosen.get(deployment.build.project_id) ?? deployment)
    return { ...toView(selected, [...others, ...unchosen]), builds }
  }

  const assign = (subject: CanarySubject): EnvDeployments => {
    let bits = 0
    for (const [index, { isCanary }] of sides.entries()) if (isCanary(subject)) bits |= 1 << index
    const known = views.get(bits)
    if (known !== undefined) return known
    const view = makeView(bits)
    views.set(bits, view)
    return view
  }
  return { ...base, builds, canaries: { assign } }
}

/**
 * Indexes builds. `others` are the builds of the sides that do not get the event or request. Endpoints,
 * functions and entries for models that only they have come from them. So no caller finds less than before.
 */
const toView = (deployments: ReadonlyArray<Deployment>, others: ReadonlyArray<Deployment>): EnvDeployments => {
  const { exact, prefixes } = indexHandlers(deployments)
  const { functions, cancels } = indexFunctions(deployments, others)
  const routes = new Map<string, Route>()
  // The builds that get the event or request come last and replace the others.
  for (const { build, manifest } of [...others, ...deployments])
    for (const endpoint of manifest.endpoints)
      routes.set(routeKey(endpoint.method, endpoint.service, endpoint.path), { build, endpoint })
  const all = { deployments, others }
  const tools = byService(
    all,
    (it) => it.tools,
    (tool) => tool.name,
    (build, tool) => ({ build, tool })
  )
  const resources = byService(
    all,
    (it) => it.resources,
    ({ uri }) => uri,
    (build, resource) => ({ build, resource })
  )
  const prompts = byService(
    all,
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
    exactMatches: (eventType) => exact.get(eventType) ?? none,
    cancels: (eventType) => cancels.get(eventType) ?? none,
    endpoint: (method, service, path) => routes.get(routeKey(method, service, path)),
    functions: (reference) => functions.get(reference) ?? [],
    mcp: (service) => ({
      tools: tools.get(service) ?? new Map(),
      resources: resources.get(service) ?? new Map(),
      prompts: prompts.get(service) ?? new Map()
    }),
    builds: new Map(deployments.map((deployment) => [deployment.build.build_id, deployment])),
    canaries: null
  }
}

const indexHandlers = (deployments: ReadonlyArray<Deployment>) => {
  const exact = new Map<string, Array<Match>>()
  const prefixes: Array<{ readonly prefix: string; readonly match: Match }> = []
  for (const { build, manifest } of deployments) {
    for (const handler of manifest.handlers) {
      const condition = handler.if === undefined ? {} : { condition: handler.if }
      const match: Match = { build, handler, run_type: "event", ...condition }
      if (handler.event_type.endsWith("*")) prefixes.push({ prefix: handler.event_type.slice(0, -1), match })
      else add(exact, handler.event_type, match)
    }
  }
  return { exact, prefixes }
}

/** Indexes functions by name, and by the events that cancel their runs. Runs of both sides of a canary may be cancelled. */
const indexFunctions = (deployments: ReadonlyArray<Deployment>, others: ReadonlyArray<Deployment>) => {
  const functions = new Map<string, Array<Match>>()
  const cancels = new Map<string, Array<Match>>()
  for (const { build, manifest } of [...deployments, ...others]) {
    for (const handler of manifest.functions) {
      const name = `${handler.ns}/${handler.var}`
      const qualified = `${build.project_name}:${name}`
      const match: Match = { build, handler, run_type: "call" }
      const isFirst = !functions.has(qualified)
      if (isFirst) {
        add(functions, name, match)
        add(functions, qualified, match)
      }
      const cancelOn = handler.flow?.cancel_on
      for (const type of new Set(cancelOn?.events)) {
        add(cancels, type, cancelOn?.if === undefined ? match : { ...match, condition: cancelOn.if })
      }
    }
  }
  return { functions, cancels }
}

const none: ReadonlyArray<Match> = []

const add = (matches: Map<string, Array<Match>>, key: string, match: Match): void => {
  const known = matches.get(key)
  if (known === undefined) matches.set(key, [match])
  else known.push(match)
}

/** Indexes the entries of one kind by service, then by key. */
const byService = <Entry extends { readonly service: string }, Deployed>(
  { deployments, others }: Readonly<Record<"deployments" | "others", ReadonlyArray<Deployment>>>,
  select: (manifest: Manifest) => ReadonlyArray<Entry>,
  keyOf: (entry: Entry) => string,
  deployed: (build: Build, entry: Entry) => Deployed
): ReadonlyMap<string, ReadonlyMap<string, Deployed>> => {
  const list = (some: ReadonlyArray<Deployment>, rank: number) =>
    some.flatMap(({ build, manifest }) => select(manifest).map((entry) => ({ build, entry, rank })))
  const all = [...list(others, 0), ...list(deployments, 1)]
  const services = new Map<string, Map<string, Deployed>>()
  // `Map.set` on an existing key replaces the value and keeps its position.
  for (const { build, entry } of all.sort(
    (a, b) =>
      order(keyOf(a.entry), keyOf(b.entry)) || order(b.build.project_name, a.build.project_name) || a.rank - b.rank
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
