/** Claims of several nodes while pauses begin and end: each delivery is claimed once, and none stays held. */
import { assert, describe, it } from "@effect/vitest"
import { Samples } from "@weft/contract"
import { type DeliveryId, DeliveryStore, JournalStore, type Pause, PauseId, PauseStore } from "@weft/core/adapter"
import { database } from "@weft/postgres"
import { Effect, Layer } from "effect"
import { emptiedDatabase } from "./Fresh.ts"

const { at, deliveryId, envId, everything, nodeId, runIds, waiting } = Samples

const nodes = 3
const deliveries = 120
const rounds = 6

const pause = (n: number): Pause => ({
  pause_id: PauseId.make(`01977420-00ff-7000-8000-${n.toString(16).padStart(12, "0")}`),
  ...{ env_id: envId(1), project_id: null, project_name: null, ns: null, var: null, schedules: "late" },
  ...{ paused_at: at(n), paused_by: "host", resumed_at: null, changed_at: at(n) }
})

/** Claims in turns of 3 deliveries, with a copy of the pauses that is always outdated: it has all of them. */
const claimSome = (node: number, turn: number) =>
  JournalStore.use((journal) =>
    journal.claim({
      lease: { node_id: nodeId(node), until: at(1_000_000) },
      now: at(1000),
      runIds: runIds(10_000 + node * 1000 + turn * 3, 3),
      ...{ perEnv: 3, exclude: [], freed: [] },
      paused: Array.from({ length: rounds }, (_, n) => pause(n + 1))
    })
  ).pipe(Effect.map(({ claims }) => claims.map(({ delivery }) => delivery.delivery_id)))

const releaseAll = PauseStore.use((pauses) =>
  Effect.gen(function* () {
    let after: DeliveryId | null = null
    do {
      const { next }: { readonly next: DeliveryId | null } = yield* pauses.release(envId(1), after, 10, at(1000))
      after = next
    } while (after !== null)
  })
)

const pauseAndResume = PauseStore.use((pauses) =>
  Effect.gen(function* () {
    for (let n = 1; n <= rounds; n++) {
      yield* pauses.pause(pause(n))
      yield* Effect.sleep(5)
      yield* pauses.resume(envId(1), pause(n).pause_id, at(1000))
      yield* releaseAll
    }
  })
)

describe("claims of several nodes while pauses begin and end", () => {
  it.live("claim each delivery once and leave none held", () =>
    Effect.gen(function* () {
      const url = yield* emptiedDatabase
      const onNode = yield* Effect.forEach(Array.from({ length: nodes + 1 }), () => Layer.build(database({ url })))
      const [first, ...others] = onNode
      assert.isDefined(first)
      if (first === undefined) return
      const entries = Array.from({ length: deliveries }, (_, n) => waiting(n + 1))
      yield* Effect.provideContext(
        JournalStore.use((journal) => journal.commit(entries, null)),
        first
      )
      const turns = (node: number) =>
        Effect.map(
          Effect.forEach(Array.from({ length: 80 }), (_, turn) => claimSome(node + 1, turn)),
          (claimed) => claimed.flat()
        )
      const claiming = others.map((context, node) => Effect.provideContext(turns(node), context))
      const [claimed] = yield* Effect.all(
        [Effect.all(claiming, { concurrency: nodes }), Effect.provideContext(pauseAndResume, first)],
        { concurrency: 2 }
      )
      const rest = yield* Effect.provideContext(turns(nodes), first)
      const ids = [...claimed.flat(), ...rest].sort()
      assert.deepStrictEqual(
        ids,
        Array.from({ length: deliveries }, (_, n) => deliveryId(n + 1))
      )
      const left = DeliveryStore.use((store) => store.list(envId(1), everything, {}))
      assert.deepStrictEqual(yield* Effect.provideContext(left, first), [])
    }).pipe(Effect.scoped)
  )
})
