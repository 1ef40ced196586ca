import { assert, describe, it } from "@effect/vitest"
import { Effect, type Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { freshIds } from "../../../src/foundation/Ids.ts"
import { readManifest } from "../../../src/resources/builds/Meta.ts"

const read = (meta: Schema.Json) =>
  Effect.flatMap(freshIds, (freshId) => readManifest([{ ns: "main", var: "go", meta }], freshId)).pipe(
    Effect.provide(SecureRandom.layerWebCrypto)
  )

const reasonFor = (meta: Schema.Json) => Effect.map(Effect.flip(read(meta)), ({ reason }) => reason)

describe("flow control in meta", () => {
  it.effect("is read with its durations in milliseconds", () =>
    Effect.gen(function* () {
      const { handlers, functions } = yield* read({
        event: "order:*",
        if: "event.data.total > 100",
        ttl: "10m",
        dedupe: { key: "event.data.id", window: "1h" },
        throttle: { limit: 10, period: "1m", key: "event.data.customer" },
        debounce: { period: "5s", max: "1m" }
      })
      const flow = {
        ttl_ms: 600_000,
        dedupe: { key: "event.data.id", window_ms: 3_600_000 },
        throttle: { limit: 10, period_ms: 60_000, key: "event.data.customer" },
        debounce: { period_ms: 5_000, max_ms: 60_000, key: null }
      }
      assert.deepStrictEqual(handlers[0]?.flow, flow)
      assert.deepStrictEqual(handlers[0]?.if, "event.data.total > 100")
      assert.deepStrictEqual(functions[0]?.flow, flow)
      const { handlers: others } = yield* read({
        event: "a",
        rateLimit: { limit: 1, period: "1s" },
        singleton: { key: "event.data.id" },
        priority: "event.data.urgent ? 60 : 0"
      })
      assert.deepStrictEqual(others[0]?.flow, {
        rate_limit: { limit: 1, period_ms: 1_000, key: null },
        singleton: { key: "event.data.id" },
        priority: "event.data.urgent ? 60 : 0"
      })
      const { functions: cancelled } = yield* read({ cancelOn: { event: ["b", "c"], match: "event.data.id" } })
      assert.deepStrictEqual(cancelled[0]?.flow, { cancel_on: { events: ["b", "c"], match: "event.data.id" } })
      const modes = (["skip", "cancel"] as const).map((mode) => read({ event: "a", singleton: { mode } }))
      const [skipping, cancelling] = yield* Effect.all(modes)
      assert.deepStrictEqual(skipping?.handlers[0]?.flow, { singleton: { key: null } })
      assert.deepStrictEqual(cancelling?.handlers[0]?.flow, { singleton: { key: null, mode: "cancel" } })
      const { handlers: batched } = yield* read({ event: "a", batch: { size: 5, timeout: "2s", key: "event.data.id" } })
      assert.deepStrictEqual(batched[0]?.flow, { batch: { size: 5, timeout_ms: 2_000, key: "event.data.id" } })
      const { handlers: urgent } = yield* read({ event: "a", priority: 60 })
      assert.deepStrictEqual(urgent[0]?.flow, { priority: 60 })
    })
  )

  it.effect("leaves no trace in the manifest of functions without it", () =>
    Effect.gen(function* () {
      const { handlers } = yield* read({ event: "a" })
      assert.notProperty(handlers[0], "flow")
      assert.notProperty(handlers[0], "if")
    })
  )

  it.effect("is rejected with the function, the field and the position in an expression", () =>
    Effect.gen(function* () {
      for (const [meta, reason] of [
        [
          { event: "a", if: "event.data.total >" },
          "main/go: meta.if must be an expression such as event.data.total > 100: at character 19, Unexpected token: EOF"
        ],
        [
          { event: "a", if: "1" },
          "main/go: meta.if must be an expression such as event.data.total > 100: at character 1, the value must be true or false (got int)"
        ],
        [
          { schedule: "* * * * *", if: "true" },
          "main/go: meta.if must not be set for a function without an event: it selects events"
        ],
        [
          { event: "a", ttl: "soon" },
          'main/go: meta.ttl must be a duration: "500ms", "1s", "1m", "1h", "1d", ISO 8601 or a number of milliseconds'
        ],
        [
          { event: "a", dedupe: { window: "1h" } },
          "main/go: meta.dedupe.key must be a string of 1 to 1000 characters: valid Unicode, without U+0000"
        ],
        [
          { event: "a", rateLimit: { limit: 0, period: "1s" } },
          "main/go: meta.rateLimit.limit must be a number from 1 to 1000"
        ],
        [
          { event: "a", throttle: { limit: 1, period: "8d" } },
          "main/go: meta.throttle.period must be from 1 ms to 604800000 ms"
        ],
        [
          { event: "a", debounce: { period: "1m", max: "1s" } },
          "main/go: meta.debounce.max must be from 60000 ms to 604800000 ms"
        ],
        [{ event: "a", singleton: { mode: "newest" } }, "main/go: meta.singleton.mode must be one of skip, cancel"],
        [{ event: "a", singleton: { limit: 1 } }, "main/go: meta.singleton.limit is not a known key"],
        [
          { event: "a", singleton: {}, concurrency: { limit: 2 } },
          "main/go: meta.singleton must not be set together with concurrency: a singleton has one run at a time"
        ],
        [
          { event: "a", cancelOn: { event: "b" } },
          "main/go: meta.cancelOn.match must be a string of 1 to 1000 characters: valid Unicode, without U+0000"
        ],
        [
          { event: "a", cancelOn: { event: "b:*", match: "event.data.id" } },
          "main/go: meta.cancelOn.event must be an exact event type, without *"
        ],
        [
          { event: "a", cancelOn: { event: "b", match: "event." } },
          "main/go: meta.cancelOn.match must be an expression such as event.data.total > 100: at character 7, Expected IDENTIFIER, got EOF"
        ],
        [{ event: "a", priority: -1 }, "main/go: meta.priority must be a number from 0 to 3600"],
        [
          { event: "a", priority: "event." },
          "main/go: meta.priority must be an expression such as event.data.total > 100: at character 7, Expected IDENTIFIER, got EOF"
        ],
        [
          { event: "a", rateLimit: { limit: 1, period: "1s" }, debounce: { period: "1s" } },
          "main/go: meta.rateLimit must not be set together with debounce: the rate would drop the last event, which a debounce keeps"
        ]
      ] as const) {
        assert.strictEqual(yield* reasonFor(meta), reason)
      }
    })
  )

  it.effect("is rejected for a batch without limits, or with a control that it would defeat", () =>
    Effect.gen(function* () {
      for (const [meta, reason] of [
        [
          { event: "a", batch: { size: 101, timeout: "1s" } },
          "main/go: meta.batch.size must be a number from 1 to 100"
        ],
        [
          { event: "a", batch: { size: 2, timeout: "16m" } },
          "main/go: meta.batch.timeout must be from 1000 ms to 900000 ms"
        ],
        [{ batch: { size: 2, timeout: "1s" } }, "main/go: meta.batch must not be set for a function without an event"],
        [
          { event: "svc:run:failed", batch: { size: 2, timeout: "1s" } },
          "main/go: meta.batch must not be set for a function that handles events of the system (svc:)"
        ],
        [
          { event: "a", batch: { size: 2, timeout: "1s" }, debounce: { period: "1s" } },
          "main/go: meta.batch must not be set together with debounce: a debounce handles only the last event, and a batch all of them"
        ],
        [
          { event: "a", batch: { size: 2, timeout: "1s" }, singleton: {} },
          "main/go: meta.batch must not be set together with singleton: a singleton leaves out events while one is pending, so none could join it"
        ],
        [
          { event: "a", batch: { size: 2, timeout: "1s" }, cancelOn: { event: "b", match: "event.data.id" } },
          "main/go: meta.batch must not be set together with cancelOn: it would cancel other events of the batch as well"
        ],
        [
          { event: "a", batch: { size: 2, timeout: "1m" }, ttl: "1m" },
          "main/go: meta.ttl must be longer than batch.timeout: it counts from the first event of a batch"
        ]
      ] as const) {
        assert.strictEqual(yield* reasonFor(meta), reason)
      }
    })
  )
})
