/** Events that arrive while another transaction suspends or claims the run: neither order loses the event. */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Samples } from "@weft/contract"
import { formatWaiting, type JournalEntry, JournalStore, lostNode, WorkflowStore } from "@weft/core/adapter"
import { database } from "@weft/postgres"
import { Effect, Fiber, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { freshDatabase } from "./Fresh.ts"

const { at, delivery, deliveryId, envId, event, runHolding, runId, runIds } = Samples

const held = delivery(1, event(1), { durable: true })
const run = runHolding(1, held, { activations: 1, steps: 0 })

const started: JournalEntry = { _tag: "Appended", event: event(1), deliveries: [{ delivery: held, run }] }

const progress = { _tag: "Advanced", run, deliveryId: deliveryId(1), at: at(100), steps: [], waits: [] } as const

const awaiting: JournalEntry = {
  ...progress,
  waits: [
    {
      seq: 0,
      kind: "event",
      name: "a",
      event_type: "paid",
      match: null,
      child_event_id: null,
      token_seq: null,
      attempts: 0,
      since: at(0),
      until: null,
      outcome: null
    }
  ],
  suspension: null
}
const suspendUntil = (due: number): JournalEntry => ({
  ...progress,
  suspension: { due_at: at(due), waiting: formatWaiting(lostNode(at(0))), cleanup_until: null, logs: [] }
})

const paid = event(50, { event_type: "paid", created_at: at(50) })

const arrive = WorkflowStore.use((store) => store.arrive([paid], at(200)))

const commit = (entry: JournalEntry) => JournalStore.use((journal) => journal.commit([entry], null))

const claimAt = (now: number) =>
  Effect.map(
    JournalStore.use((journal) =>
      journal.claim({
        ...{ lease: { node_id: Samples.nodeId(1), until: at(9999) }, now: at(now), runIds: runIds(800, 9) },
        ...{ perEnv: 9, exclude: [], freed: [] }
      })
    ),
    ({ claims }) => claims.map((claim) => claim.run.run_id)
  )

/** Opens a transaction on a connection of its own; `execute` runs a statement in it. */
const otherTransaction = Effect.fnUntraced(function* (url: string) {
  const make = PgClient.makeClient({ url: Redacted.make(url), startupParameters: { search_path: "weft" } })
  const sql = yield* Effect.provide(make, Reactivity.layer)
  const connection = yield* sql.reserve
  const execute = (text: string) => connection.executeUnprepared(text, [], undefined)
  yield* execute("BEGIN")
  /** Waits until another connection waits for a lock of the transaction. */
  const blocked = Effect.repeat(
    Effect.andThen(
      Effect.sleep(20),
      execute("SELECT 1 FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))")
    ),
    { until: (rows) => rows.length > 0 }
  )
  return { execute, blocked }
})

const scene = <A, E>(
  body: (
    other: Effect.Success<ReturnType<typeof otherTransaction>>
  ) => Effect.Effect<A, E, JournalStore | WorkflowStore>
) =>
  Effect.gen(function* () {
    const url = yield* freshDatabase
    yield* Effect.provide(
      Effect.gen(function* () {
        yield* commit(started)
        yield* commit(awaiting)
        yield* body(yield* otherTransaction(url))
      }),
      database({ url })
    )
  }).pipe(Effect.scoped)

describe("an event for a run", () => {
  it.live("that is suspended at the same time makes it due, if the event is first", () =>
    scene(
      Effect.fnUntraced(function* ({ execute, blocked }) {
        // As `arrive` does. It finds no delivery, because the run is active.
        yield* execute("UPDATE workflow_waits SET outcome = '{}'")
        yield* execute("UPDATE deliveries SET due_at = 1 WHERE continues IS NOT NULL")
        const suspending = yield* Effect.forkChild(commit(suspendUntil(9000)))
        yield* blocked
        yield* execute("COMMIT")
        assert.deepStrictEqual(yield* Fiber.join(suspending), [true])
        assert.deepStrictEqual(yield* claimAt(99), [])
        assert.deepStrictEqual(yield* claimAt(100), [runId(1)])
      })
    )
  )

  it.live("that is suspended at the same time makes it due, if the suspension is first", () =>
    scene(
      Effect.fnUntraced(function* ({ execute, blocked }) {
        // As a suspension locks the waits and then stores the delivery.
        yield* execute("SELECT 1 FROM workflow_waits FOR UPDATE")
        const arriving = yield* Effect.forkChild(arrive)
        yield* blocked
        yield* execute(`INSERT INTO deliveries (env_id, due_at, delivery_id, event_id, stream_id, project_id, project_name,
            build_id, ns, var, run_type, attempt, first_run_id, terms, group_key, continues)
          SELECT env_id, ${at(9000)}, delivery_id, event_id, stream_id, project_id, project_name, build_id, ns, var,
            run_type, attempt, first_run_id, terms, group_key, run_id FROM runs`)
        yield* execute("UPDATE runs SET waiting = '{}', delivery_id = NULL, terms = NULL")
        yield* execute("COMMIT")
        assert.deepStrictEqual(yield* Fiber.join(arriving), [{ env_id: envId(1), run_id: runId(1) }])
        assert.deepStrictEqual(yield* claimAt(200), [runId(1)])
      })
    )
  )

  it.live("that another transaction claims or cancels is not waited for by a claim", () =>
    scene(
      Effect.fnUntraced(function* ({ execute }) {
        yield* commit(suspendUntil(100))
        yield* execute("SELECT 1 FROM runs FOR UPDATE")
        assert.deepStrictEqual(yield* claimAt(100), [])
        yield* execute("COMMIT")
        assert.deepStrictEqual(yield* claimAt(100), [runId(1)])
      })
    )
  )
})

describe("the progress of a run", () => {
  it.live("is not stored after another node has suspended the run", () =>
    scene(
      Effect.fnUntraced(function* ({ execute, blocked }) {
        yield* execute("UPDATE runs SET waiting = '{}', delivery_id = NULL, terms = NULL")
        const steps = [
          {
            position: 0,
            seq: 5,
            kind: "step",
            name: "a",
            ok: true,
            result: null,
            attempts: 1,
            started_at: at(1),
            ended_at: at(2)
          }
        ] as const
        const writing = yield* Effect.forkChild(commit({ ...progress, steps, suspension: null }))
        yield* blocked
        yield* execute("COMMIT")
        assert.deepStrictEqual(yield* Fiber.join(writing), [false])
        const { history } = yield* WorkflowStore.use((store) => store.load(run))
        assert.deepStrictEqual(history.steps, [])
      })
    )
  )
})
