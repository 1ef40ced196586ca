/** What an older node does with deliveries that tell of a trace, of which it knows nothing. */
import { assert, describe, it } from "@effect/vitest"
import { Samples } from "@weft/contract"
import { JournalStore, type Stores } from "@weft/core"
import { stores } from "@weft/postgres"
import { Effect, type Layer } from "effect"
import { emptiedDatabase } from "./Fresh.ts"
import * as previous from "./fixtures/previous/index.js"

const { at, ended, nodeId, runIds, waiting } = Samples

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

const by =
  <E>(node: Layer.Layer<Stores, E>) =>
  <A, F>(act: (journal: JournalStore["Service"]) => Effect.Effect<A, F>) =>
    Effect.provide(JournalStore.use(act), node)

/** The only delivery that is due at the time. */
const claimed = (journal: JournalStore["Service"], time: number) =>
  Effect.map(
    journal.claim({
      lease: { node_id: nodeId(1), until: at(time + 1000) },
      now: at(time),
      runIds: runIds(10_000 + time, 1),
      perEnv: 1,
      exclude: [],
      freed: []
    }),
    ({ claims }) => claims[0] ?? assert.fail("nothing was claimed")
  )

describe("a node of the last release", () => {
  it.live("tries them as any other, and today's node goes on", () =>
    Effect.gen(function* () {
      const url = yield* emptiedDatabase
      const [older, today] = [by(previous.stores({ url })), by(stores({ url }))]
      yield* today((journal) => journal.commit([waiting(1, {}, { traceparent })], null))
      yield* older((journal) =>
        Effect.gen(function* () {
          const { delivery, run } = yield* claimed(journal, 100)
          const next = { attempt: 2, due_at: at(200), first_run_id: run.run_id }
          const over = { run: ended(run, { status: "failed" }), logs: [], deliveryId: delivery.delivery_id, next }
          assert.deepStrictEqual(yield* journal.commit([{ _tag: "Settled", ...over }], null), [true])
        })
      )
      const again = yield* today((journal) => claimed(journal, 200))
      assert.strictEqual(again.delivery.attempt, 2)
      // Nodes from before terms were handed on as they are stored forget it, and the trace ends there.
      assert.include([undefined, traceparent], again.delivery.traceparent)
    }).pipe(Effect.scoped)
  )
})
