/**
 * Model of the lifecycle of runs: random histories of publishes, cancels, replays, dying nodes and time. After each
 * history, every acknowledged event must have had exactly the attempts that the rules of its handlers require.
 *
 * A failure reports the seed and the path that reproduce it.
 */
import { assert, describe, it } from "@effect/vitest"
import type { EnvId } from "@weft/core"
import { Builds, Events, Projects, RunControl, Runs, Tenants } from "@weft/core"
import type { BlobStore, Build, ClusterBus, Run, Stores } from "@weft/core/adapter"
import { trustedZip } from "@weft/core/testing"
import { Effect, Layer, References, type Scope } from "effect"
import { Digest } from "effect/crypto"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import {
  type BuildName,
  buildNames,
  type Job,
  makeModule,
  makeTime,
  type Node,
  type Rules,
  startNode,
  type Time
} from "./LifecycleNodes.ts"
import { ExpectedRuns, type ServeAction } from "./LifecycleOracle.ts"
import { envId as anyEnvId } from "./Samples.ts"

type Command =
  | Publish
  | { readonly _tag: "Pass"; readonly millis: number }
  | { readonly _tag: "Cancel"; readonly pick: number }
  | { readonly _tag: "Replay"; readonly pick: number }
  /** Disconnects a node from the stores. */
  | { readonly _tag: "Kill"; readonly pick: number }
  /** Reconnects a node, which then tries to write its pending entries. */
  | { readonly _tag: "Return"; readonly pick: number }
  | { readonly _tag: "Start" }
  /** Deploys a build, starts a live one, or ends the live one. */
  | { readonly _tag: "Serve"; readonly build: BuildName; readonly action: ServeAction }

/** Publishes events of one type, one for each job. */
interface Publish {
  readonly _tag: "Publish"
  readonly type: number
  readonly jobs: ReadonlyArray<Job>
  /** Delay of the events, in milliseconds. */
  readonly delay: number
  /** True if each event is published twice with the same Idempotency-Key. */
  readonly keyed: boolean
}

interface History {
  readonly rules: ReadonlyArray<Rules>
  readonly commands: ReadonlyArray<Command>
}

export interface LifecycleOptions {
  /** True if only one node at a time can use the stores. */
  readonly exclusive: boolean
  readonly histories: number
  /** Fixed seed. Stops at the first failure without shrinking it, for tests that expect one. */
  readonly seed?: number
  /** Waits for work outside virtual time: promises, threads, disks. */
  readonly waitReal: Effect.Effect<void>
}

const pick = fc.nat({ max: 1000 })

const rules: fc.Arbitrary<Rules> = fc.record({
  attempts: fc.integer({ min: 1, max: 4 }),
  delay: fc.constantFrom(0, 1000, 4000),
  backoff: fc.constantFrom(1, 2),
  jitter: fc.boolean(),
  timeout: fc.constantFrom(2500, 8000),
  concurrency: fc.option(fc.record({ limit: fc.integer({ min: 1, max: 2 }), keyed: fc.boolean() })),
  once: fc.constantFrom(false, false, false, true)
})

const job: fc.Arbitrary<Job> = fc.record({
  script: fc.array(fc.constantFrom("returns", "sleeps", "throws", "hangs"), { minLength: 1, maxLength: 4 }),
  key: fc.constantFrom("a", "b")
})

const publish: fc.Arbitrary<Publish> = fc.record({
  _tag: fc.constant("Publish" as const),
  type: pick,
  jobs: fc.array(job, { minLength: 1, maxLength: 3 }),
  delay: fc.constantFrom(0, 0, 0, 700, 6000),
  keyed: fc.boolean()
})

const millis = fc.oneof(fc.integer({ min: 1, max: 3000 }), fc.integer({ min: 1, max: 40_000 }))

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 6, arbitrary: publish },
  { weight: 5, arbitrary: fc.record({ _tag: fc.constant("Pass" as const), millis }) },
  { weight: 3, arbitrary: fc.record({ _tag: fc.constant("Cancel" as const), pick }) },
  { weight: 2, arbitrary: fc.record({ _tag: fc.constant("Replay" as const), pick }) },
  { weight: 2, arbitrary: fc.record({ _tag: fc.constant("Kill" as const), pick }) },
  { weight: 1, arbitrary: fc.record({ _tag: fc.constant("Return" as const), pick }) },
  { weight: 3, arbitrary: fc.record({ _tag: fc.constant("Start" as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      _tag: fc.constant("Serve" as const),
      build: fc.constantFrom(...buildNames),
      action: fc.constantFrom<ServeAction>("deploy", "live", "end live")
    })
  }
)

const history: fc.Arbitrary<History> = fc.record({
  rules: fc.array(rules, { minLength: 1, maxLength: 3 }),
  commands: fc.array(command, { minLength: 5, maxLength: 25 })
})

/** Timeout of a model in milliseconds. Histories are slow, because only time is virtual. */
const timeoutMs = 300_000

export const lifecycleModel = <E>(
  adapter: string,
  stores: Layer.Layer<Stores | BlobStore | ClusterBus, E>,
  options: LifecycleOptions
) =>
  describe(`the lifecycle of runs: ${adapter}`, () => {
    it("follows the rules of their functions", () => checkLifecycle(stores, options), timeoutMs)
  })

/** Rejects with the shortest failing history. */
export const checkLifecycle = <E>(
  stores: Layer.Layer<Stores | BlobStore | ClusterBus, E>,
  options: LifecycleOptions
): Promise<void> =>
  fc.assert(
    fc.asyncProperty(history, (one) =>
      Effect.runPromise(
        Effect.scoped(play(one, stores, options)).pipe(
          Effect.provide(TestClock.layer()),
          // Disconnected nodes log many failures.
          Effect.provideService(References.MinimumLogLevel, "None")
        )
      )
    ),
    { numRuns: options.histories, ...(options.seed === undefined ? {} : { seed: options.seed, endOnFailure: true }) }
  )

const play = Effect.fnUntraced(function* <E>(
  { rules, commands }: History,
  stores: Layer.Layer<Stores | BlobStore | ClusterBus, E>,
  { exclusive, waitReal }: LifecycleOptions
) {
  const time = makeTime(waitReal)
  const shared = yield* Layer.build(Layer.fresh(stores))
  const context = yield* Effect.context<never>()
  const sleep = (ms: number) => Effect.runPromiseWith(context)(Effect.sleep(ms))
  const modules = Object.fromEntries(buildNames.map((name) => [name, makeModule(name, rules, sleep)]))
  const start = Effect.orDie(startNode(time, shared, modules))
  const first = yield* start
  const state: State = {
    nodes: [first],
    ...(yield* Effect.orDie(setUp(first))),
    expected: new ExpectedRuns(rules),
    time,
    start,
    exclusive
  }
  for (const next of commands) {
    yield* apply(state, next)
    yield* check(state)
  }
  yield* finish(state)
})

/** Creates an environment with a project and its builds, and deploys the first one. */
const setUp = Effect.fnUntraced(function* (node: Node) {
  const tenants = Effect.flatMap(Tenants, (service) =>
    Effect.flatMap(service.createOrg({ slug: "acme" }), (org) => service.createEnv(org.org_id, { name: "production" }))
  )
  const { env_id: envId } = yield* node.run(anyEnvId(1), tenants)
  yield* node.run(
    envId,
    Projects.use((projects) => projects.create({ name: "app" }))
  )
  const uploads = Effect.forEach(buildNames, (name) =>
    Effect.map(upload(name, "bundle"), ({ build }) => [name, build.build_id] as const)
  )
  const builds = new Map<BuildName, string>(yield* node.run(envId, uploads))
  yield* node.run(envId, serve(builds, buildNames[0], "deploy"))
  return { envId, builds }
})

const upload = Effect.fnUntraced(function* (name: BuildName, build_type: Build["build_type"]) {
  const zip = trustedZip(name)
  const digest = yield* Effect.provide(Digest.Digest, Digest.layerWebCrypto)
  const hash = yield* digest.digestHex(Digest.sha256, zip)
  return yield* (yield* Builds).upload("app", { zip, hash, build_type })
})

const serve = Effect.fnUntraced(function* (ids: ReadonlyMap<BuildName, string>, name: BuildName, action: ServeAction) {
  const builds = yield* Builds
  if (action === "deploy") yield* builds.deploy("app", ids.get(name) ?? "")
  else if (action === "live") yield* upload(name, "live")
  else yield* Effect.catchTag(builds.endLive("app"), "NotFound", () => Effect.void)
})

interface State {
  /** All started nodes, including disconnected ones. */
  readonly nodes: Array<Node>
  readonly envId: EnvId
  /** Ids of the builds that are not live. */
  readonly builds: ReadonlyMap<BuildName, string>
  readonly expected: ExpectedRuns
  readonly time: Time
  readonly start: Effect.Effect<Node, never, Scope.Scope>
  readonly exclusive: boolean
}

const alive = ({ nodes }: State): ReadonlyArray<Node> => nodes.filter((node) => !node.isDisconnected())

const chosen = <A>(of: ReadonlyArray<A>, pick: number): A | undefined => of[pick % Math.max(1, of.length)]

const nodesMax = 4

const apply = Effect.fnUntraced(function* (state: State, command: Command) {
  const living = alive(state)
  switch (command._tag) {
    case "Pass":
      return yield* state.time.pass(command.millis)
    case "Kill":
      chosen(living, command.pick)?.disconnect()
      if (living.length > 0) state.expected.killed()
      return
    case "Return":
      if (!state.exclusive) {
        const dead = state.nodes.filter((node) => node.isDisconnected())
        chosen(dead, command.pick)?.reconnect()
      }
      return
    case "Start":
      if (living.length < (state.exclusive ? 1 : 2) && state.nodes.length < nodesMax) {
        state.nodes.push(yield* state.start)
      }
      return
    default: {
      const node = chosen(living, command._tag === "Publish" ? command.type : "pick" in command ? command.pick : 0)
      if (node !== undefined) yield* Effect.orDie(runOn(state, node, command))
    }
  }
})

/** Runs a command on a connected node. */
const runOn = Effect.fnUntraced(function* (
  { envId, expected, builds }: State,
  node: Node,
  command: Extract<Command, { readonly _tag: "Publish" | "Cancel" | "Replay" | "Serve" }>
) {
  if (command._tag === "Serve") {
    yield* node.run(envId, serve(builds, command.build, command.action))
    return expected.serve(command.build, command.action)
  }
  if (command._tag === "Publish") return yield* publishAll(expected, envId, node, command)
  const runs = yield* allRuns(node, envId)
  if (command._tag === "Cancel") {
    const run = chosen(
      runs.filter((one) => one.status === "running"),
      command.pick
    )
    if (run === undefined) return
    const cancel = RunControl.use((control) => control.cancel(run.run_id))
    // The run may end meanwhile.
    const cancelled = yield* Effect.catchTag(node.run(envId, cancel), "BadRequest", () => Effect.succeed(null))
    if (cancelled !== null) expected.cancel(cancelled)
    return
  }
  const run = chosen(
    runs.filter((one) => one.status !== "running" && !expected.isReplayed(one)),
    command.pick
  )
  if (run === undefined) return
  yield* node.run(
    envId,
    RunControl.use((control) => control.replay(run.run_id))
  )
  expected.replay(run)
})

const publishAll = Effect.fnUntraced(function* (expected: ExpectedRuns, envId: EnvId, node: Node, command: Publish) {
  const { type, jobs, delay, keyed } = command
  for (const job of jobs) {
    const input = {
      type: expected.typeOf(type),
      data: { script: [...job.script], key: job.key },
      ...(delay === 0 ? {} : { delay }),
      ...(keyed ? { idempotencyKey: `request-${expected.published}` } : {})
    }
    const publish = node.run(
      envId,
      Events.use((events) => events.publish(input))
    )
    const event = yield* publish
    expected.publish(event, job)
    if (keyed)
      assert.strictEqual((yield* publish).event_id, event.event_id, "a repeated request returns the same event")
  }
})

const check = Effect.fnUntraced(function* (state: State) {
  const [node] = alive(state)
  if (node !== undefined) state.expected.see(yield* Effect.orDie(allRuns(node, state.envId)))
})

/** Time without a running run after which none is expected, in milliseconds. Longer than any delay or poll interval. */
const quietMs = 100_000

const finish = Effect.fnUntraced(function* (state: State) {
  const { envId, expected, time } = state
  if (alive(state).length === 0) state.nodes.push(yield* state.start)
  const [node] = alive(state)
  if (node === undefined) return assert.fail("no node is alive")
  let quiet = 0
  for (let round = 0; quiet < quietMs && round < 200; round++) {
    yield* time.pass(10_000)
    const runs = yield* Effect.orDie(allRuns(node, envId))
    expected.see(runs)
    quiet = runs.some((run) => run.status === "running") ? 0 : quiet + 10_000
  }
  const runs = yield* Effect.orDie(allRuns(node, envId))
  expected.close(runs)
  yield* Effect.orDie(node.run(envId, checkLists(runs)))
  // Entries that disconnected nodes still hold have no effect, even if they can write them now.
  for (const each of state.nodes) each.reconnect()
  for (const each of state.nodes) yield* each.stop
})

/** Asserts that statistics and lists match the runs. */
const checkLists = Effect.fnUntraced(function* (all: ReadonlyArray<Run>) {
  const runs = yield* Runs
  const { total_runs, ...counted } = yield* runs.stats
  const count = (status: Run["status"]) => all.filter((run) => run.status === status).length
  assert.strictEqual(total_runs, all.length)
  assert.deepStrictEqual(counted, {
    running: 0,
    succeeded: count("succeeded"),
    failed: count("failed"),
    cancelled: count("cancelled")
  })
  for (const status of ["running", "succeeded", "failed", "cancelled"] as const) {
    const { items, total } = yield* runs.list({ limit: 100, offset: 0 }, { status })
    assert.strictEqual(total, count(status))
    assert.deepStrictEqual(items, all.filter((run) => run.status === status).slice(0, 100))
  }
  for (const [eventId, ofEvent] of Map.groupBy(all, (run) => run.event_id)) {
    if (eventId === null) assert.fail("a run has no event")
    assert.deepStrictEqual(yield* runs.ofEvent(eventId), ofEvent)
    for (const run of ofEvent) assert.deepStrictEqual(yield* runs.get(run.run_id), run)
  }
})

/** Lists all runs, newest first. */
const allRuns = (node: Node, envId: EnvId) =>
  node.run(
    envId,
    Effect.gen(function* () {
      const runs = yield* Runs
      const all: Array<Run> = []
      while (true) {
        const { items } = yield* runs.list({ limit: 100, offset: all.length }, {})
        all.push(...items)
        if (items.length < 100) return all
      }
    })
  )
