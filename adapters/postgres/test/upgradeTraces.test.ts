/** Deliveries with a trace context, on a node of an older release that does not know traces. */
import { assert, describe, it } from "@effect/vitest"
import { Samples } from "@weft/contract"
import { JournalStore, type Stores } from "@weft/core/adapter"
import { database } from "@weft/postgres"
import { Effect, type Layer } from "effect"
import { layerForBoth } from "./Former.ts"
import { emptiedDatabase } from "./Fresh.ts"
import { previous } from "./PreviousRelease.ts"

const { at, ended, nodeId, runIds, waiting } = Samples

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

const by =
  <E>(node: Layer.Layer<Stores, E>) =>
  <A, F>(act: (journal: JournalStore["Service"]) => Effect.Effect<A, F>) =>
    Effect.provide(JournalStore.use(act), node)

/** Claims the only delivery that is due at the time. */
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

describe("a delivery with a trace context", () => {
  it.live("is attempted by a node of the last release and retried by a current node", () =>
    Effect.gen(function* () {
      const url = yield* emptiedDatabase
      const [older, today] = [by(layerForBoth(previous.stores({ url }))), by(database({ url }))]
      yield* today((journal) => journal.commit([waiting(1, {}, { traceparent })], null))
      yield* older((journal) =>
        Effect.gen(function* () {
          const { delivery, run } = yield* claimed(journal, 100)
          const next = { attempt: 2, due_at: at(200), first_run_id: run.run_id }
          // The older node does not know these fields.
          const failed = ended(run, {
            status: "failed",
            activations: null,
            waiting: null,
            steps: null,
            event_ids: null
          })
          const over = { run: failed, logs: [], deliveryId: delivery.delivery_id, next }
          assert.deepStrictEqual(yield* journal.commit([{ _tag: "Settled", ...over }], null), [true])
        })
      )
      const again = yield* today((journal) => claimed(journal, 200))
      assert.strictEqual(again.delivery.attempt, 2)
      // Releases that parsed and rewrote terms drop the trace context, and the trace ends there.
      assert.include([undefined, traceparent], again.delivery.traceparent)
    }).pipe(Effect.scoped)
  )
})
