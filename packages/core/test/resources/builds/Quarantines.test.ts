import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Queue } from "effect"
import { TestClock } from "effect/testing"
import { StoreUnavailable } from "../../../src/foundation/Errors.ts"
import { EnvId } from "../../../src/foundation/Ids.ts"
import { firstPage } from "../../../src/foundation/Page.ts"
import { NodeMetrics } from "../../../src/foundation/telemetry/NodeMetrics.ts"
import { MemoryStores } from "../../../src/memory/MemoryStores.ts"
import { trustedSandbox } from "../../../src/memory/TrustedSandbox.ts"
import { ClusterBus } from "../../../src/platform/cluster/ClusterBus.ts"
import { type Quarantine, Sandbox } from "../../../src/platform/sandbox/Sandbox.ts"
import { AuditStore } from "../../../src/resources/audit/AuditStore.ts"
import * as QuarantineMonitor from "../../../src/resources/audit/QuarantineMonitor.ts"
import { Quarantines } from "../../../src/resources/builds/Quarantines.ts"
import { as, crypto, failure } from "../../Services.ts"
import { deploy, modules, setUp, upload, withSandbox } from "./Fixtures.ts"

const recording = (released: Array<string>) =>
  withSandbox((trusted) => ({
    ...trusted,
    clearQuarantine: (buildId) => Effect.sync(() => void released.push(buildId))
  }))

describe("the release of a build", () => {
  it.effect("lifts its quarantine, with an entry in the audit log", () => {
    const released: Array<string> = []
    return Effect.gen(function* () {
      const { env, builds, host } = yield* setUp
      const { build } = yield* host(upload("alpha", "one"))
      yield* host(builds.release("alpha", build.build_id))
      yield* Effect.yieldNow
      assert.include(released, build.build_id)
      const { items } = yield* (yield* AuditStore).list({ env_id: env.env_id, action: "build.release" }, firstPage)
      assert.deepStrictEqual(
        items.map(({ object_id, outcome }) => [object_id, outcome]),
        [[build.build_id, "done"]]
      )
      const reader = as(env.env_id, { "build:alpha": ["read", "create"] })
      assert.strictEqual(yield* reader(failure(builds.release("alpha", build.build_id))), "Forbidden")
      assert.strictEqual(yield* host(failure(builds.release("alpha", env.env_id))), "NotFound")
      assert.strictEqual(yield* host(failure(builds.release("beta", build.build_id))), "NotFound")
    }).pipe(Effect.provide(recording(released)))
  })

  it.effect("and its deployment reach the other nodes", () => {
    const [here, there]: [Array<string>, Array<string>] = [[], []]
    const other = Layer.effect(
      Sandbox,
      Effect.map(Sandbox, (trusted) => ({
        ...trusted,
        clearQuarantine: (buildId: string) => Effect.sync(() => void there.push(buildId))
      }))
    ).pipe(Layer.provide(trustedSandbox(modules)))
    return Effect.gen(function* () {
      const bus = Layer.succeed(ClusterBus, yield* ClusterBus)
      yield* Layer.build(Layer.provide(Layer.fresh(Quarantines.layer), Layer.merge(bus, other)))
      const { builds, host } = yield* setUp
      const { build_id } = yield* host(deploy("alpha", "one"))
      yield* TestClock.withLive(Effect.sleep("10 millis"))
      assert.deepStrictEqual(there, [build_id])
      yield* host(builds.release("alpha", build_id))
      yield* TestClock.withLive(Effect.sleep("10 millis"))
      assert.deepStrictEqual(there, [build_id, build_id])
      assert.include(here, build_id)
    }).pipe(Effect.scoped, Effect.provide(recording(here)))
  })
})

describe("a quarantine", () => {
  it.effect("has an audit entry, also after an outage of the store, and metrics", () =>
    Effect.gen(function* () {
      const queue = yield* Queue.unbounded<Quarantine>()
      const trusted = yield* Sandbox
      const sandbox = Layer.succeed(Sandbox, {
        ...trusted,
        nextQuarantine: Queue.take(queue),
        status: Effect.succeed({ runnerDeaths: new Map([["killed", 2]]), quarantined: 1 })
      })
      const store = yield* AuditStore
      let failures = 2
      const failing = Layer.succeed(AuditStore, {
        ...store,
        append: (entries) =>
          Effect.suspend(() =>
            failures-- > 0
              ? Effect.fail(new StoreUnavailable({ operation: "append", cause: null }))
              : store.append(entries)
          )
      })
      const metrics = yield* NodeMetrics
      yield* Layer.build(Layer.provide(QuarantineMonitor.layer, Layer.merge(sandbox, failing)))
      const env_id = EnvId.make("01890000-0000-7000-8000-00000000000e")
      const build_id = "01890000-0000-7000-8000-00000000000b"
      yield* Queue.offer(queue, { env_id, build_id, reason: "it ended with SIGKILL", strikes: 2 } as Quarantine)
      for (let second = 0; second < 5; second++) {
        yield* TestClock.withLive(Effect.sleep("5 millis"))
        yield* TestClock.adjust("1 second")
      }
      const { items } = yield* store.list({ env_id }, firstPage)
      assert.deepStrictEqual(
        items.map(({ action, actor_type, object_id, details }) => [action, actor_type, object_id, JSON.parse(details)]),
        [["build.quarantine", "host", build_id, { reason: "it ended with SIGKILL", strikes: 2 }]]
      )
      const series = yield* metrics.read
      assert.deepStrictEqual(
        series.map((one) => [one.name, one.labels, one.type === "histogram" ? null : one.value]),
        [
          ["weft_sandbox_runner_deaths_total", { reason: "killed" }, 2],
          ["weft_sandbox_quarantined", {}, 1]
        ]
      )
    }).pipe(
      Effect.scoped,
      Effect.provide(Layer.mergeAll(MemoryStores.layer, trustedSandbox(modules), NodeMetrics.layer, crypto))
    )
  )
})
