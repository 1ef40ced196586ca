/** Canaries in virtual time: assignment, the rules and the ends, on nodes with common stores in memory. */
import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import {
  Builds,
  Calls,
  Canaries,
  type DeployOptions,
  type Env,
  Events,
  layer,
  Runs,
  Webhooks,
  type WeftServices
} from "@weft/core"
import { AuditStore, type Run } from "@weft/core/adapter"
import { MemoryStores, trustedSandbox, trustedZip } from "@weft/core/testing"
import { Effect, Exit, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { refusal, withMeta } from "../../resources/schedules/Fixtures.ts"
import { asHost, deployed, masterKeys, settle } from "../../world.ts"

const retry = { attempts: 3, delay: "10s" }
const failing = () => () => {
  throw new Error("broken")
}
const hook = (answer: () => unknown) =>
  withMeta({ webhook: { service: "shop", path: "/hook", method: "POST" } }, answer)

/** Three builds of the project `app`. */
const modules = {
  app: {
    main: {
      job: withMeta({ event: "job", retry }, () => "base"),
      once: withMeta({ event: "once" }, () => "base"),
      removed: () => "base",
      hook: hook(() => "base"),
      told: withMeta({ event: ["svc:canary:rolledback", "svc:canary:promoted"] }, () => "told")
    }
  },
  broken: {
    main: {
      job: withMeta({ event: "job", retry }, failing()),
      once: withMeta({ event: "once" }, failing()),
      hook: hook(failing())
    }
  },
  good: {
    main: {
      job: withMeta({ event: "job", retry }, () => "canary"),
      once: withMeta({ event: "once" }, () => "canary"),
      added: withMeta({ schedule: "* * * * *" }, () => "canary"),
      hook: hook(() => "canary")
    }
  }
}

type Stores = Layer.Success<typeof MemoryStores.layer>

const check = <E>(claim: string, body: Effect.Effect<void, E, Stores>) =>
  it.effect(claim, () => Effect.provide(body, MemoryStores.layer))

/** Starts a node on the stores. `on` runs effects on it. */
const startNode = Effect.gen(function* () {
  const scope = yield* Scope.make()
  const context = yield* Layer.buildWithScope(
    Layer.fresh(Layer.provide(layer({ masterKeys }), trustedSandbox(modules))),
    scope
  )
  return {
    on: <A, E>(effect: Effect.Effect<A, E, WeftServices>) => Effect.provideContext(effect, context),
    close: Scope.close(scope, Exit.void)
  }
})

const upload = (env: Env, key: string) => {
  const zip = trustedZip(key)
  const hash = createHash("sha256").update(zip).digest("hex")
  return asHost(
    env,
    Effect.map(
      Builds.use((builds) => builds.upload("app", { zip, hash })),
      ({ build }) => build.build_id
    )
  )
}

const deploy = (env: Env, buildId: string, options?: DeployOptions) =>
  asHost(
    env,
    Builds.use((builds) => builds.deploy("app", buildId, options))
  )

/** Uploads a build and starts it as a canary. */
const start = Effect.fnUntraced(function* (
  env: Env,
  key: "broken" | "good",
  canary: NonNullable<DeployOptions["canary"]>
) {
  const buildId = yield* upload(env, key)
  yield* deploy(env, buildId, { canary })
  yield* settle
  return buildId
})

const status = (env: Env) =>
  asHost(
    env,
    Canaries.use((canaries) => canaries.get("app"))
  )

const rollback = (env: Env) =>
  asHost(
    env,
    Canaries.use((canaries) => canaries.rollback("app"))
  )

const runsOfType = (env: Env, type: "event" | "call" | "schedule") =>
  asHost(
    env,
    Effect.gen(function* () {
      const all: Array<Run> = []
      for (let offset = 0; ; offset += 100) {
        const { items, total } = yield* Runs.use((runs) => runs.list({ limit: 100, offset }, { type }))
        all.push(...items)
        if (all.length >= total) return all
      }
    })
  )

/** Publishes events of a type, each with a number, in steps of virtual time. */
const publishMany = Effect.fnUntraced(function* (env: Env, type: string, count: number) {
  for (let n = 0; n < count; n += 50) {
    yield* asHost(
      env,
      Events.use((events) =>
        events.publishMany(
          Array.from({ length: 50 }, (_, index) => ({ type, data: { n: n + index, of: `c${index % 10}` } }))
        )
      )
    )
    yield* settle
    yield* TestClock.adjust("1 second")
  }
  yield* settle
})

const call = (env: Env) =>
  Effect.map(
    Webhooks.use((webhooks) =>
      webhooks.handle({
        ...{ org: "app", env: env.name, service: "shop", path: "/hook", method: "POST", url: "/hook" },
        ...{ query: {}, headers: {}, body: null, remoteIp: "127.0.0.1", token: null }
      })
    ),
    ({ body }) => body
  )

describe("a canary", () => {
  check(
    "that fails is rolled back automatically within its window, with no more than its share of failures",
    Effect.gen(function* () {
      const node = yield* startNode
      const env = yield* node.on(deployed("app"))
      const canaryId = yield* node.on(start(env, "broken", { share: 0.1, window: "10m", min_runs: 20 }))
      yield* node.on(publishMany(env, "job", 1_000))
      yield* TestClock.adjust("1 minute")
      yield* settle
      const { state, reason, counts, ended_at, window_ends_at } = yield* node.on(status(env))
      assert.strictEqual(state, "rolled_back")
      assert.isBelow(ended_at ?? Number.POSITIVE_INFINITY, window_ends_at)
      assert.match(reason ?? "", /\d+ of \d+ runs failed \(100 %\).*max_failure_share_over_base 5 %/)
      assert.isAtLeast(counts.canary.runs, 20)

      const runs = yield* node.on(runsOfType(env, "event"))
      const failed = runs.filter((run) => run.status === "failed")
      assert.isTrue(failed.every((run) => run.build_id === canaryId))
      // The rule decides after 20 runs, and events are published in steps of 50.
      assert.isAtMost(failed.length, 20 + 50)
      assert.isEmpty(runs.filter((run) => run.build_id === canaryId && run.start_time > (ended_at ?? 0)))
      // Each event has reached exactly one side, and the deployed build has retried those of the canary.
      const succeeded = new Set(runs.flatMap((run) => (run.status === "succeeded" ? (run.event_id ?? []) : [])))
      assert.strictEqual(new Set(runs.filter((run) => run.var === "job").map((run) => run.event_id)).size, 1_000)
      assert.strictEqual(succeeded.size, 1_001)

      const told = runs.filter((run) => run.var === "told")
      assert.lengthOf(told, 1)
      const { items } = yield* AuditStore.use((audit) => audit.list({}, { limit: 10, offset: 0 }))
      assert.includeMembers(
        items.map(({ action }) => action),
        ["canary.start", "canary.rollback"]
      )
      yield* node.close
    })
  )

  check(
    "that breaks no rule is promoted at the end of its window, and the schedules are those of its build from then on",
    Effect.gen(function* () {
      const node = yield* startNode
      const env = yield* node.on(deployed("app"))
      const canaryId = yield* node.on(start(env, "good", { share: 0.5, window: "2m", min_runs: 20 }))
      yield* node.on(publishMany(env, "job", 200))
      yield* TestClock.adjust("90 seconds")
      yield* settle
      assert.isEmpty(yield* node.on(runsOfType(env, "schedule")))
      assert.strictEqual((yield* node.on(status(env))).state, "active")
      yield* TestClock.adjust("2 minutes")
      yield* settle
      const { state, counts } = yield* node.on(status(env))
      assert.strictEqual(state, "promoted")
      assert.strictEqual(counts.canary.runs + counts.base.runs, 200)
      assert.closeTo(counts.canary.runs, 100, 40)
      const active = yield* node.on(
        asHost(
          env,
          Builds.use((builds) => builds.deployed("app"))
        )
      )
      assert.strictEqual(active.build_id, canaryId)
      yield* TestClock.adjust("1 minute")
      yield* settle
      assert.isNotEmpty(yield* node.on(runsOfType(env, "schedule")))
      yield* node.close
    })
  )

  check(
    "gets all events with the same value of the key, or none of them, also from other nodes",
    Effect.gen(function* () {
      const [one, two] = [yield* startNode, yield* startNode]
      const env = yield* one.on(deployed("app"))
      yield* one.on(start(env, "good", { share: 0.4, key: "event.data.of", min_runs: 500, promote: "manual" }))
      yield* one.on(publishMany(env, "once", 50))
      yield* two.on(publishMany(env, "once", 50))
      const sides = new Map<string, Set<string | null>>()
      const events = yield* one.on(
        asHost(
          env,
          Events.use((all) => all.list({ limit: 100, offset: 0 }))
        )
      )
      for (const run of yield* one.on(runsOfType(env, "event"))) {
        const event = events.items.find(({ event_id }) => event_id === run.event_id)
        const of = /"of":"(c\d)"/.exec(event?.event_data ?? "")?.[1] ?? ""
        sides.set(of, (sides.get(of) ?? new Set()).add(run.result))
      }
      assert.strictEqual(sides.size, 10)
      assert.isTrue([...sides.values()].every((results) => results.size === 1))
      assert.strictEqual(new Set([...sides.values()].flatMap((results) => [...results])).size, 2)
      // Both nodes have counted.
      const { counts } = yield* two.on(status(env))
      assert.strictEqual(counts.canary.runs + counts.base.runs, 100)
      yield* Effect.forEach([one, two], ({ close }) => close)
    })
  )

  check(
    "gets its share of webhooks and calls, and the deployed build has what only it has",
    Effect.gen(function* () {
      const node = yield* startNode
      const env = yield* node.on(deployed("app"))
      yield* node.on(start(env, "good", { share: 0.5, min_runs: 500 }))
      const answers = yield* Effect.replicateEffect(node.on(call(env)), 40)
      assert.sameMembers([...new Set(answers)], ['"base"', '"canary"'])
      const calls = yield* Effect.replicateEffect(
        node.on(
          asHost(
            env,
            Calls.use((all) => all.call({ fn: "main/removed" }))
          )
        ),
        10
      )
      assert.lengthOf(calls, 10)
      yield* settle
      assert.lengthOf(yield* node.on(runsOfType(env, "call")), 50)
      yield* node.on(rollback(env))
      assert.deepStrictEqual(new Set(yield* Effect.replicateEffect(node.on(call(env)), 20)), new Set(['"base"']))
      assert.include(yield* refusal(node.on(rollback(env))), "no such active canary")
      yield* node.close
    })
  )

  check(
    "refuses another deployment, which may replace it, and invalid settings",
    Effect.gen(function* () {
      const node = yield* startNode
      const env = yield* node.on(deployed("app"))
      const base = yield* node.on(
        asHost(
          env,
          Builds.use((builds) => builds.deployed("app"))
        )
      )
      const good = yield* node.on(start(env, "good", { share: 0.5 }))
      const other = yield* node.on(upload(env, "broken"))
      assert.include(
        yield* refusal(node.on(deploy(env, other))),
        `The build ${good} has been a canary of the project since`
      )
      assert.include(yield* refusal(node.on(deploy(env, other, { canary: { share: 0.1 } }))), "send replace")
      yield* node.on(deploy(env, other, { canary: { share: 0.1 }, replace: true }))
      assert.strictEqual((yield* node.on(status(env))).build_id, other)
      yield* node.on(deploy(env, other, { replace: true }))
      assert.strictEqual((yield* node.on(status(env))).state, "replaced")
      const own = yield* refusal(node.on(deploy(env, other, { canary: { share: 0.1 } })))
      assert.strictEqual(own, "canary: this build is already the deployed one")
      for (const [canary, field] of [
        [{ share: 1 }, "canary.share"],
        [{ share: 0.1, window: "soon" }, "canary.window"],
        [{ share: 0.1, key: "event." }, "canary.key"],
        [{ share: 0.1, min_runs: 0 }, "canary.min_runs"],
        [{ share: 0.1, max_failure_share: 2 }, "canary.max_failure_share"],
        [{ share: 0.1, max_latency_ratio: 0.5 }, "canary.max_latency_ratio"]
      ] as const)
        assert.include(yield* refusal(node.on(deploy(env, base.build_id, { canary }))), field)
      yield* node.close
    })
  )
})
