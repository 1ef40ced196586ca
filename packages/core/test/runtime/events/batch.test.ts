/** Batches of events, from their `meta` to their runs, in virtual time. */
import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import {
  Builds,
  DeadLetters,
  Deliveries,
  type Env,
  Events,
  type NewEvent,
  Pauses,
  RunControl,
  Runs,
  Waits
} from "@weft/core"
import { NodeMetrics, parseEventIds } from "@weft/core/adapter"
import { type TrustedFunction, trustedZip } from "@weft/core/testing"
import { Effect, Fiber, type Layer } from "effect"
import { TestClock } from "effect/testing"
import { allRuns, asHost, deployed, settle, world } from "../../world.ts"
import { durable, pass } from "../workflows/DurableWorld.ts"

type Batch = ReadonlyArray<{ readonly event_data: unknown }>

/** Attempts of the function that fails. */
const failures: Array<unknown> = []

const dataOf = (events: Batch) => events.map(({ event_data }) => event_data)

const on = (meta: object, fn: (events: Batch) => unknown = dataOf): TrustedFunction =>
  Object.assign((events: Batch) => fn(events), { meta })

const batch = { size: 3, timeout: "10s" }

const functions = {
  rows: on({ event: "row", batch }),
  keyed: on({ event: "keyed", batch: { ...batch, key: "event.data.id" } }),
  single: on({ event: "single", batch: { ...batch, size: 2 }, concurrency: { limit: 1 } }),
  selected: on({ event: "selected", batch, if: "event.data > 1", dedupe: { key: "event.data", window: "1m" } }),
  fails: on(
    { event: "fail", batch, retry: { attempts: 2, delay: "1s", jitter: false }, onFailure: "main/undo" },
    (events) => {
      failures.push(dataOf(events))
      throw new Error("no")
    }
  ),
  undo: (event: { readonly event_data: { readonly events: Batch } }) => dataOf(event.event_data.events),
  naps: durable(
    "nap",
    async (events, svc) => {
      await svc.sleep("nap", "1m")
      return Array.isArray(events) ? dataOf(events) : "no batch"
    },
    { batch }
  )
}

const modules = {
  shop: { main: functions },
  next: { main: { rows: on({ event: "row", batch }, (events) => ["next", ...dataOf(events)]) } },
  plain: {
    main: {
      rows: Object.assign((event: { readonly event_data: unknown }) => event.event_data, { meta: { event: "row" } })
    }
  }
}

type World = Layer.Success<ReturnType<typeof world>>

const check = <E>(claim: string, body: (env: Env) => Effect.Effect<void, E, World>) =>
  it.effect(claim, () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1_800_000_000_000)
      yield* Effect.provide(Effect.flatMap(deployed("shop"), body), world(modules))
    })
  )

const publish = (env: Env, event: NewEvent) =>
  asHost(
    env,
    Events.use((events) => events.publish(event))
  )

/** Publishes events one after the other. */
const publishAll = (env: Env, type: string, all: ReadonlyArray<NewEvent["data"]>) =>
  Effect.forEach(all, (data) => publish(env, { type, data }))

/** Returns the results of the runs, the oldest first. */
const results = (env: Env) =>
  Effect.map(Effect.andThen(settle, allRuns(env)), (runs) =>
    runs.map(({ result }): unknown => JSON.parse(result ?? "null")).reverse()
  )

const deploy = (env: Env, key: string) =>
  asHost(
    env,
    Effect.gen(function* () {
      const zip = trustedZip(key)
      const hash = createHash("sha256").update(zip).digest("hex")
      const { build } = yield* Builds.use((builds) => builds.upload("shop", { zip, hash }))
      yield* Builds.use((builds) => builds.deploy("shop", build.build_id))
    })
  )

const replay = Effect.fnUntraced(function* (env: Env, ...args: Parameters<RunControl["Service"]["replay"]>) {
  const replaying = yield* Effect.forkChild(
    asHost(
      env,
      RunControl.use((control) => control.replay(...args))
    )
  )
  yield* settle
  return yield* Fiber.join(replaying)
})

describe("a batch", () => {
  check("gives the function an array of its events, when it is full or its timeout has ended", (env) =>
    Effect.gen(function* () {
      yield* publishAll(env, "row", [1, 2])
      yield* pass("5 seconds")
      assert.deepStrictEqual(yield* results(env), [])
      yield* publishAll(env, "row", [3, 4])
      assert.deepStrictEqual(yield* results(env), [[1, 2, 3]])
      yield* pass("9 seconds")
      assert.strictEqual((yield* results(env)).length, 1)
      yield* pass("1 seconds")
      assert.deepStrictEqual(yield* results(env), [[1, 2, 3], [4]])
    })
  )

  check("is one run, which the record and each of its events show", (env) =>
    Effect.gen(function* () {
      const events = yield* publishAll(env, "row", [1, 2, 3])
      yield* settle
      const runs = yield* allRuns(env)
      assert.deepStrictEqual(
        runs.map(({ event_ids }) => parseEventIds(event_ids ?? "[]")),
        [events.map(({ event_id }) => event_id)]
      )
      for (const { event_id } of events) {
        const found = yield* asHost(
          env,
          Runs.use((all) => all.ofEvent(event_id))
        )
        assert.deepStrictEqual(found, runs)
      }
      const stats = yield* asHost(
        env,
        Runs.use((all) => all.stats)
      )
      assert.strictEqual(stats.total_runs, 1)
      const metrics = yield* NodeMetrics.use(({ read }) => read)
      const dropped = metrics.find(({ name }) => name === "weft_deliveries_dropped_total")
      assert.deepInclude(dropped, { value: 0 })
    })
  )

  check("collects the events of each key", (env) =>
    Effect.gen(function* () {
      const events = ["a", "b", "a", "b", "a"].map((id, n) => ({ id, n }))
      yield* publishAll(env, "keyed", events)
      yield* pass("10 seconds")
      const numbers = (yield* results(env)).map((all) => (Array.isArray(all) ? all.map(({ n }) => n) : all))
      assert.deepStrictEqual(numbers, [
        [0, 2, 4],
        [1, 3]
      ])
    })
  )

  check("has only events that the conditions of the function select", (env) =>
    Effect.gen(function* () {
      yield* publishAll(env, "selected", [1, 2, 2, 3])
      yield* pass("10 seconds")
      assert.deepStrictEqual(yield* results(env), [[2, 3]])
    })
  )

  check("is explained while it collects, for each of its events", (env) =>
    Effect.gen(function* () {
      const events = yield* publishAll(env, "row", [1, 2])
      for (const { event_id } of events) {
        const [item] = yield* asHost(
          env,
          Waits.use((waits) => waits.explain(event_id))
        )
        const since = events[0]?.created_at ?? 0
        const { waiting } = item ?? assert.fail("nothing waits")
        assert.deepStrictEqual(
          [waiting.reason, waiting.since, waiting.until, waiting.detail],
          ["batch", since, since + 10_000, "2 of 3"]
        )
      }
    })
  )

  check("collects during a pause, and starts after it", (env) =>
    Effect.gen(function* () {
      const { pause_id } = yield* asHost(
        env,
        Pauses.use((pauses) => pauses.pause({ fn: "shop:main/rows" }))
      )
      yield* publishAll(env, "row", [1, 2, 3, 4])
      yield* pass("20 seconds")
      assert.deepStrictEqual(yield* results(env), [])
      yield* asHost(
        env,
        Pauses.use((pauses) => pauses.resume(pause_id))
      )
      yield* pass("1 seconds")
      assert.deepStrictEqual(yield* results(env), [[1, 2, 3], [4]])
    })
  )

  check("ends on the build for which it began", (env) =>
    Effect.gen(function* () {
      yield* publishAll(env, "row", [1, 2])
      yield* deploy(env, "next")
      yield* publishAll(env, "row", [3, 4])
      yield* pass("10 seconds")
      assert.deepStrictEqual(yield* results(env), [
        [1, 2],
        ["next", 3, 4]
      ])
    })
  )

  check("that is discarded starts no run, and the next event begins another one", (env) =>
    Effect.gen(function* () {
      yield* publishAll(env, "row", [1, 2])
      assert.strictEqual(
        yield* asHost(
          env,
          Deliveries.use((deliveries) => deliveries.cancel({}))
        ),
        1
      )
      yield* publishAll(env, "row", [3])
      yield* pass("10 seconds")
      assert.deepStrictEqual(yield* results(env), [[3]])
    })
  )

  check("waits for the concurrency of its function", (env) =>
    Effect.gen(function* () {
      yield* publishAll(env, "single", [1, 2, 3, 4])
      assert.deepStrictEqual(yield* results(env), [
        [1, 2],
        [3, 4]
      ])
    })
  )

  check("has the same events in all attempts, and in the event about its failure", (env) =>
    Effect.gen(function* () {
      failures.length = 0
      yield* publishAll(env, "fail", [1, 2, 3])
      yield* settle
      yield* publishAll(env, "fail", [4])
      yield* pass("1 seconds")
      assert.deepStrictEqual(failures, [
        [1, 2, 3],
        [1, 2, 3]
      ])
      assert.deepInclude(yield* results(env), [1, 2, 3])
    })
  )

  check("has the same events when a durable run continues", (env) =>
    Effect.gen(function* () {
      yield* publishAll(env, "nap", [1, 2, 3])
      yield* settle
      yield* pass("1 minutes")
      assert.deepStrictEqual(yield* results(env), [[1, 2, 3]])
    })
  )

  check("does not take calls by name", (env) =>
    Effect.gen(function* () {
      yield* publish(env, { type: "svc:call", data: { fn: "main/rows", args: [[{ event_data: "called" }]] } })
      assert.deepStrictEqual(yield* results(env), [["called"]])
    })
  )
})

describe("a replay of a batch", () => {
  check("has the same events", (env) =>
    Effect.gen(function* () {
      yield* publishAll(env, "row", [1, 2, 3])
      yield* settle
      const [run = assert.fail("there is no run")] = yield* allRuns(env)
      const replayed = yield* replay(env, run.run_id)
      assert.deepStrictEqual(yield* results(env), [
        [1, 2, 3],
        [1, 2, 3]
      ])
      assert.strictEqual(replayed.run?.event_ids, run.event_ids)
      const refused = yield* Effect.flip(replay(env, run.run_id, "same", undefined, 7))
      assert.include(String(refused.message), "event_data cannot replace the data of the events of a batch")
    })
  )

  check("is refused for a build whose function has no batch, and gets an array from one that has", (env) =>
    Effect.gen(function* () {
      yield* publishAll(env, "row", [1, 2, 3])
      yield* settle
      const [run = assert.fail("there is no run")] = yield* allRuns(env)
      yield* deploy(env, "plain")
      const refused = yield* Effect.flip(replay(env, run.run_id, "deployed"))
      assert.include(String(refused.message), "the run handled a batch of 3 events")
      yield* publishAll(env, "row", [4])
      yield* settle
      const [single = assert.fail("there is no run")] = yield* allRuns(env)
      yield* deploy(env, "next")
      yield* replay(env, single.run_id, "deployed")
      yield* replay(env, run.run_id, "deployed")
      assert.deepStrictEqual(yield* results(env), [[1, 2, 3], 4, ["next", 4], ["next", 1, 2, 3]])
    })
  )

  check("of a dead letter has the same events", (env) =>
    Effect.gen(function* () {
      yield* publishAll(env, "fail", [1, 2])
      yield* pass("12 seconds")
      failures.length = 0
      yield* asHost(
        env,
        DeadLetters.use((letters) => letters.redrive({}))
      )
      yield* pass("1 seconds")
      assert.deepStrictEqual(failures, [
        [1, 2],
        [1, 2]
      ])
    })
  )
})
