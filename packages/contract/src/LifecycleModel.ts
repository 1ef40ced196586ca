/**
 * A run's life against its model: random histories of publishing, cancelling, replaying, dying nodes and passing time,
 * after which every event that was acknowledged has had exactly the attempts that the rules of its handlers give.
 *
 * Replayable: a failure tells the seed and the path that bring it back.
 */
import { assert, describe, it } from "@effect/vitest"
import {
  type BlobStore,
  type Build,
  Builds,
  type EnvId,
  Events,
  type Feed,
  Projects,
  type Run,
  RunControl,
  Runs,
  type Stores,
  Tenants,
  trustedZip
} from "@weft/core"
import { Effect, Layer, References, type Scope } from "effect"
import { Digest } from "effect/crypto"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import {
  type BuildName,
  buildNames,
  type Job,
  moduleOf,
  type Node,
  type Rules,
  startNode,
  type Time,
  timeOf
} from "./LifecycleNodes.ts"
import { Ledger, type Way } from "./LifecycleOracle.ts"
import { envId as anyEnvId } from "./Samples.ts"

type Command =
  | Publish
  | { readonly _tag: "Pass"; readonly millis: number }
  | { readonly _tag: "Cancel"; readonly pick: number }
  | { readonly _tag: "Replay"; readonly pick: number }
  /** A node is cut off from the stores. */
  | { readonly _tag: "Kill"; readonly pick: number }
  /** A node that was cut off comes back, and wants to write what it still holds. */
  | { readonly _tag: "Return"; readonly pick: number }
  | { readonly _tag: "Start" }
  /** Another build is deployed, or goes live, or the live one ends. */
  | { readonly _tag: "Serve"; readonly build: BuildName; readonly way: Way }

/** Of one type, for each job one event. */
interface Publish {
  readonly _tag: "Publish"
  readonly type: number
  readonly jobs: ReadonlyArray<Job>
  /** Milliseconds. */
  readonly delay: number
  /** Whether with an Idempotency-Key, and then twice. */
  readonly keyed: boolean
}

interface History {
  readonly rules: ReadonlyArray<Rules>
  readonly commands: ReadonlyArray<Command>
}

export interface LifecycleOptions {
  /** Whether only one node at a time can use the stores. */
  readonly exclusive: boolean
  readonly histories: number
  /** Always the same histories, and the first that goes wrong will do, as it is: to see that one does. */
  readonly seed?: number
  /** Gives time to what is not virtual: promises, threads, disks. */
  readonly turn: Effect.Effect<void>
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
  script: fc.array(fc.constantFrom("returns", "takes its time", "throws", "hangs"), { minLength: 1, maxLength: 4 }),
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
      way: fc.constantFrom<Way>("deploy", "live", "end live")
    })
  }
)

const history: fc.Arbitrary<History> = fc.record({
  rules: fc.array(rules, { minLength: 1, maxLength: 3 }),
  commands: fc.array(command, { minLength: 5, maxLength: 25 })
})

/** A history takes a while where nothing is virtual but time. */
const timeoutMs = 300_000

export const lifecycleModel = <E>(
  adapter: string,
  stores: Layer.Layer<Stores | BlobStore | Feed, E>,
  options: LifecycleOptions
) =>
  describe(`the life of runs: ${adapter}`, () => {
    it("is what the rules of their functions give", () => livesByRules(stores, options), timeoutMs)
  })

/** Rejects with the history that went wrong, made as short as it can be. */
export const livesByRules = <E>(
  stores: Layer.Layer<Stores | BlobStore | Feed, E>,
  options: LifecycleOptions
): Promise<void> =>
  fc.assert(
    fc.asyncProperty(history, (one) =>
      Effect.runPromise(
        Effect.scoped(play(one, stores, options)).pipe(
          Effect.provide(TestClock.layer()),
          // Nodes that are cut off have much to say.
          Effect.provideService(References.MinimumLogLevel, "None")
        )
      )
    ),
    { numRuns: options.histories, ...(options.seed === undefined ? {} : { seed: options.seed, endOnFailure: true }) }
  )

const play = Effect.fnUntraced(function* <E>(
  { rules, commands }: History,
  stores: Layer.Layer<Stores | BlobStore | Feed, E>,
  { exclusive, turn }: LifecycleOptions
) {
  const time = timeOf(turn)
  const shared = yield* Layer.build(Layer.fresh(stores))
  const context = yield* Effect.context<never>()
  const sleep = (ms: number) => Effect.runPromiseWith(context)(Effect.sleep(ms))
  const modules = Object.fromEntries(buildNames.map((name) => [name, moduleOf(name, rules, sleep)]))
  const start = Effect.orDie(startNode(time, shared, modules))
  const first = yield* start
  const world: World = {
    nodes: [first],
    ...(yield* Effect.orDie(furnish(first))),
    ledger: new Ledger(rules),
    time,
    start,
    exclusive
  }
  for (const next of commands) {
    yield* apply(world, next)
    yield* check(world)
  }
  yield* finish(world)
})

/** An environment with the builds in its one project, of which the first is deployed. */
const furnish = Effect.fnUntraced(function* (node: Node) {
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

const serve = Effect.fnUntraced(function* (ids: ReadonlyMap<BuildName, string>, name: BuildName, way: Way) {
  const builds = yield* Builds
  if (way === "deploy") yield* builds.deploy("app", ids.get(name) ?? "")
  else if (way === "live") yield* upload(name, "live")
  else yield* Effect.catchTag(builds.endLive("app"), "NotFound", () => Effect.void)
})

interface World {
  /** All that were started, those that were cut off included. */
  readonly nodes: Array<Node>
  readonly envId: EnvId
  /** Of the builds that are not live. */
  readonly builds: ReadonlyMap<BuildName, string>
  readonly ledger: Ledger
  readonly time: Time
  readonly start: Effect.Effect<Node, never, Scope.Scope>
  readonly exclusive: boolean
}

const alive = ({ nodes }: World): ReadonlyArray<Node> => nodes.filter((node) => !node.isCut())

const chosen = <A>(of: ReadonlyArray<A>, pick: number): A | undefined => of[pick % Math.max(1, of.length)]

const nodesMax = 4

const apply = Effect.fnUntraced(function* (world: World, command: Command) {
  const living = alive(world)
  switch (command._tag) {
    case "Pass":
      return yield* world.time.pass(command.millis)
    case "Kill":
      chosen(living, command.pick)?.cut()
      if (living.length > 0) world.ledger.killed()
      return
    case "Return":
      if (!world.exclusive) {
        const dead = world.nodes.filter((node) => node.isCut())
        chosen(dead, command.pick)?.reconnect()
      }
      return
    case "Start":
      if (living.length < (world.exclusive ? 1 : 2) && world.nodes.length < nodesMax) {
        world.nodes.push(yield* world.start)
      }
      return
    default: {
      const node = chosen(living, command._tag === "Publish" ? command.type : "pick" in command ? command.pick : 0)
      if (node !== undefined) yield* Effect.orDie(ask(world, node, command))
    }
  }
})

/** What needs a node that answers. */
const ask = Effect.fnUntraced(function* (
  { envId, ledger, builds }: World,
  node: Node,
  command: Extract<Command, { readonly _tag: "Publish" | "Cancel" | "Replay" | "Serve" }>
) {
  if (command._tag === "Serve") {
    yield* node.run(envId, serve(builds, command.build, command.way))
    return ledger.serve(command.build, command.way)
  }
  if (command._tag === "Publish") return yield* publishAll(ledger, envId, node, command)
  const runs = yield* allRuns(node, envId)
  if (command._tag === "Cancel") {
    const run = chosen(
      runs.filter((one) => one.status === "running"),
      command.pick
    )
    if (run === undefined) return
    const cancel = RunControl.use((control) => control.cancel(run.run_id))
    // It may end meanwhile.
    const cancelled = yield* Effect.catchTag(node.run(envId, cancel), "BadRequest", () => Effect.succeed(null))
    if (cancelled !== null) ledger.cancel(cancelled)
    return
  }
  const run = chosen(
    runs.filter((one) => one.status !== "running" && !ledger.isReplayed(one)),
    command.pick
  )
  if (run === undefined) return
  yield* node.run(
    envId,
    RunControl.use((control) => control.replay(run.run_id))
  )
  ledger.replay(run)
})

const publishAll = Effect.fnUntraced(function* (ledger: Ledger, envId: EnvId, node: Node, command: Publish) {
  const { type, jobs, delay, keyed } = command
  for (const job of jobs) {
    const input = {
      type: ledger.typeOf(type),
      data: { script: [...job.script], key: job.key },
      ...(delay === 0 ? {} : { delay }),
      ...(keyed ? { idempotencyKey: `request-${ledger.published}` } : {})
    }
    const publish = node.run(
      envId,
      Events.use((events) => events.publish(input))
    )
    const event = yield* publish
    ledger.publish(event, job)
    if (keyed) assert.strictEqual((yield* publish).event_id, event.event_id, "the same request, once more")
  }
})

const check = Effect.fnUntraced(function* (world: World) {
  const [node] = alive(world)
  if (node !== undefined) world.ledger.see(yield* Effect.orDie(allRuns(node, world.envId)))
})

/** How long nothing must run until nothing more is expected: longer than any delay, and any pass over what was left. */
const quietMs = 100_000

const finish = Effect.fnUntraced(function* (world: World) {
  const { envId, ledger, time } = world
  if (alive(world).length === 0) world.nodes.push(yield* world.start)
  const [node] = alive(world)
  if (node === undefined) return assert.fail("there is a node")
  let quiet = 0
  for (let round = 0; quiet < quietMs && round < 200; round++) {
    yield* time.pass(10_000)
    const runs = yield* Effect.orDie(allRuns(node, envId))
    ledger.see(runs)
    quiet = runs.some((run) => run.status === "running") ? 0 : quiet + 10_000
  }
  const runs = yield* Effect.orDie(allRuns(node, envId))
  ledger.close(runs)
  yield* Effect.orDie(node.run(envId, agree(runs)))
  // What the dead ones still hold counts no more, even if they could write it.
  for (const each of world.nodes) each.reconnect()
  for (const each of world.nodes) yield* each.stop
})

/** Statistics and lists say the same as the runs. */
const agree = Effect.fnUntraced(function* (all: ReadonlyArray<Run>) {
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
    if (eventId === null) assert.fail("every run has an event")
    assert.deepStrictEqual(yield* runs.ofEvent(eventId), ofEvent)
    for (const run of ofEvent) assert.deepStrictEqual(yield* runs.get(run.run_id), run)
  }
})

/** Newest first. */
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
