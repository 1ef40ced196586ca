import { assert, describe, it } from "@effect/vitest"
import type { Env } from "@weft/core"
import { Waits } from "@weft/core"
import type { TrustedFunction } from "@weft/core/testing"
import { Effect, type Layer } from "effect"
import { allRuns, asHost, deployed, publish, settle, world } from "../../world.ts"

/** Functions that never return. They are ended after each test, because the shutdown waits for them. */
const pendingCalls = new Set<(value: string) => void>()
const never = () => new Promise<string>((resolve) => pendingCalls.add(resolve))
const endAll = Effect.sync(() => {
  for (const resolve of pendingCalls) resolve("ended")
  pendingCalls.clear()
})

const on = (meta: object, fn: TrustedFunction): TrustedFunction => Object.assign(fn, { meta })

const modules = {
  app: {
    main: {
      hangs: on({ event: "hang" }, () => never()),
      single: on({ event: "single", concurrency: { limit: 1 } }, () => never()),
      fails: on({ event: "fail", retry: { attempts: 2, delay: "10s", jitter: false } }, () => {
        throw new Error("no")
      })
    }
  }
}

type World = Layer.Success<ReturnType<typeof world>>

const check = <E>(claim: string, body: (env: Env) => Effect.Effect<void, E, World>) =>
  it.effect(claim, () =>
    Effect.provide(
      Effect.flatMap(deployed("app"), (env) => Effect.ensuring(body(env), endAll)),
      world(modules)
    )
  )

const list = (env: Env, query = {}) =>
  asHost(
    env,
    Waits.use((waits) => waits.list({ limit: 100, offset: 0 }, query))
  )

const explain = (env: Env, id: string) =>
  asHost(
    env,
    Waits.use((waits) => waits.explain(id))
  )

describe("Waits", () => {
  check("explains a full group and a retry, and nothing of a run that a live node executes", (env) =>
    Effect.gen(function* () {
      for (const type of ["single", "single", "fail", "hang"]) yield* publish(env, type)
      yield* settle
      const { items, total } = yield* list(env)
      assert.strictEqual(total, 2)
      assert.deepStrictEqual(
        items.map(({ var: name, waiting }) => [name, waiting.reason, waiting.until === null]),
        [
          ["fails", "retry", false],
          ["single", "group", true]
        ]
      )
      for (const { delivery_id, event_id, waiting } of items) {
        for (const id of [delivery_id, event_id]) {
          const [item] = yield* explain(env, id)
          assert.deepInclude(item, { object: "delivery", id: delivery_id, waiting })
        }
      }
      const hanging = (yield* allRuns(env)).find((run) => run.var === "hangs")
      assert.deepStrictEqual(yield* explain(env, hanging?.run_id ?? ""), [])
    })
  )

  check("refuses a filter that is no function reference, and an id of nothing", (env) =>
    Effect.gen(function* () {
      const invalid = yield* Effect.flip(list(env, { fn: "main" }))
      assert.strictEqual(invalid._tag, "BadRequest")
      assert.strictEqual((yield* Effect.flip(explain(env, env.env_id)))._tag, "NotFound")
      assert.strictEqual((yield* Effect.flip(explain(env, "nothing")))._tag, "NotFound")
    })
  )
})
