/** Sessions of MCP clients on two nodes that share a bus. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Result } from "effect"
import { EnvId } from "../../../src/foundation/Ids.ts"
import { toJsonText } from "../../../src/foundation/JsonText.ts"
import * as ClusterBusMemory from "../../../src/memory/ClusterBusMemory.ts"
import { McpSessions } from "../../../src/runtime/webhooks/McpSessions.ts"

const env_id = EnvId.make("01976a2b-0002-7000-8000-000000000001")
const session = { env_id, key: "key crm one" }
const other = { env_id, key: "key crm two" }

/** Waits until other fibers have run. */
const settled = Effect.forEach(Array.from({ length: 20 }), () => Effect.yieldNow, { discard: true })

const onTwoNodes = <E>(
  name: string,
  body: (first: McpSessions["Service"], second: McpSessions["Service"]) => Effect.Effect<void, E>
) =>
  it.effect(name, () =>
    Effect.gen(function* () {
      const build = Effect.flatMap(Layer.build(Layer.fresh(McpSessions.layer)), (node) =>
        Effect.provideContext(McpSessions, node)
      )
      const [first, second] = yield* Effect.all([build, build])
      yield* settled
      yield* body(first, second)
    }).pipe(Effect.provide(ClusterBusMemory.layer), Effect.scoped)
  )

describe("McpSessions", () => {
  onTwoNodes("gives an answer to the node whose run waits for it, for the same session only", (first, second) =>
    Effect.gen(function* () {
      const received: Array<unknown> = []
      const stop = first.expectAnswer(session, "r.0", (answer) => received.push(answer))
      yield* second.answer(other, "r.0", toJsonText({ result: "stranger" }))
      yield* second.answer(session, "r.0", toJsonText({ result: 1 }))
      yield* settled
      yield* first.answer(session, "r.0", toJsonText({ result: "x".repeat(100_000) }))
      assert.strictEqual(received.length, 2)
      assert.deepStrictEqual(received[0], { result: 1 })
      stop()
      const late = yield* Effect.result(second.answer(session, "r.0", toJsonText("x".repeat(100_000))))
      assert.isTrue(Result.isFailure(late) && late.failure.message.includes("at most 65536 characters"))
    })
  )

  onTwoNodes("cancels a call on another node", (first, second) =>
    Effect.gen(function* () {
      const cancelled: Array<string> = []
      first.onCancelled(session, "1", () => cancelled.push("number"))
      first.onCancelled(session, '"1"', () => cancelled.push("text"))
      yield* second.cancel(other, "1")
      yield* second.cancel(session, "1")
      yield* settled
      assert.deepStrictEqual(cancelled, ["number"])
    })
  )

  onTwoNodes("keeps log levels and subscriptions on every node", (first, second) =>
    Effect.gen(function* () {
      assert.strictEqual(second.level(session), "debug")
      yield* first.setLevel(session, "error")
      yield* first.subscribe(session, "crm://a")
      yield* settled
      assert.deepStrictEqual([second.level(session), second.level(other)], ["error", "debug"])
      yield* second.end(session)
      yield* settled
      assert.strictEqual(first.level(session), "debug")
      const long = yield* Effect.result(first.subscribe(session, `crm://${"x".repeat(1024)}`))
      assert.isTrue(Result.isFailure(long) && long.failure.message.includes("at most 1024 characters"))
    })
  )
})
