import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { StoreUnavailable } from "../../../src/foundation/Errors.ts"
import * as SessionJanitor from "../../../src/tenants/access/SessionJanitor.ts"
import { SessionStore } from "../../../src/tenants/access/SessionStore.ts"
import { newEnv, services } from "../../Services.ts"
import { newApiKey, newSession } from "./CredentialFixtures.ts"

describe("the session janitor", () => {
  it.effect("removes all sessions that expired an hour ago, every ten minutes, and no others", () =>
    Effect.gen(function* () {
      const store = yield* SessionStore
      yield* Layer.build(SessionJanitor.layer)
      const { as } = yield* newApiKey((yield* newEnv("acme")).env_id)
      const make = (expires_in: number) => newSession({ permissions: {}, expires_in })
      const short = yield* as(Effect.replicateEffect(make(60), 900))
      const long = yield* as(make(3600))
      const left = Effect.map(
        Effect.forEach([...short, long], ({ shown }) => Effect.option(store.find(shown.session_id))),
        (found) => found.filter((one) => one._tag === "Some").length
      )
      yield* TestClock.adjust("61 minutes")
      assert.strictEqual(yield* left, 901)
      yield* TestClock.adjust("9 minutes")
      assert.strictEqual(yield* left, 1)
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* left, 0)
    }).pipe(Effect.scoped, Effect.provide(services()))
  )

  it.effect("continues after an outage of the store", () =>
    Effect.gen(function* () {
      const store = yield* SessionStore
      let calls = 0
      const failing = Layer.succeed(SessionStore, {
        ...store,
        removeExpired: () =>
          Effect.suspend(() => {
            calls++
            return Effect.fail(new StoreUnavailable({ operation: "removeExpired", cause: "test" }))
          })
      })
      yield* Layer.build(Layer.provide(SessionJanitor.layer, failing))
      yield* TestClock.adjust("30 minutes")
      assert.strictEqual(calls, 3)
    }).pipe(Effect.scoped, Effect.provide(services()))
  )
})
