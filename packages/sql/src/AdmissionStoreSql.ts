/** `AdmissionStore` on SQL. */
import { type EnvId, StoreUnavailable } from "@weft/core"
import {
  type Admission,
  type AdmissionOutcome,
  AdmissionStore,
  type DeliveryId,
  type EarlierRequest,
  type Event,
  joinBatched,
  joinReplaced,
  type ScheduleRefusal,
  type Timestamp
} from "@weft/core/adapter"
import { Data, Effect, Layer } from "effect"
import { makeAdmitFlow } from "./AdmissionFlow.ts"
import { Database, orUnavailable } from "./Database.ts"
import { makeCancelByKeys } from "./EventCancellation.ts"
import { makeFlowStates } from "./FlowStates.ts"
import { awaitGroup } from "./GroupReplacement.ts"
import { applyAll } from "./JournalCommit.ts"
import { countArrivals, type JournalStatements, journalStatements } from "./JournalStatements.ts"
import { changeSchedules } from "./ScheduleRows.ts"

export const layer: Layer.Layer<AdmissionStore, never, Database> = Layer.effect(
  AdmissionStore,
  Effect.map(Database, (database) => makeAdmissions(database, journalStatements(database)))
)

/** Returns a store for long transactions of hosts. Their event counts are added on commit, and lock no shared rows. */
export const hostAdmissions = (database: Database["Service"]): AdmissionStore["Service"] =>
  makeAdmissions(database, { ...journalStatements(database), countEvents: countArrivals(database) })

const makeAdmissions = (database: Database["Service"], statements: JournalStatements): AdmissionStore["Service"] => {
  const { dialect, writer: sql } = database
  const admitFlow = makeAdmitFlow(database, statements)
  const cancelByKeys = makeCancelByKeys(database, statements)
  const { forget: forgetStates } = makeFlowStates(database)

  const earlier = (envId: EnvId, key: string, now: Timestamp) =>
    sql<Event & { readonly digest: string }>`
        SELECT e.event_id, e.env_id, e.stream_id, e.event_type, e.event_data, e.event_time, e.created_at, once.digest
        FROM once JOIN events e ON e.env_id = once.env_id AND e.event_id = once.event_id
        WHERE once.env_id = ${envId} AND once.key = ${key} AND once.expires_at > ${now}`.pipe(
      Effect.map(([row]): EarlierRequest | null => {
        if (row === undefined) return null
        const { digest, ...event } = row
        return { event, digest }
      })
    )

  /** Claims the key. True if it was free. Concurrent claims of the same key wait for this transaction. */
  const takeKey = ({ event, now, until }: Admission, key: string, digest: string) =>
    Effect.map(
      sql`INSERT INTO once ${sql.insert({ env_id: event.env_id, key, expires_at: until, event_id: event.event_id, digest })}
          ON CONFLICT (env_id, key) DO UPDATE
          SET expires_at = excluded.expires_at, event_id = excluded.event_id, digest = excluded.digest
          WHERE once.expires_at <= ${now}`.raw,
      (raw) => dialect.changes(raw) > 0
    )

  const admit = Effect.fnUntraced(function* (admission: Admission) {
    const { event, request, schedule, cancels, now } = admission
    if (request !== null && !(yield* takeKey(admission, request.key, request.digest))) {
      const former = yield* earlier(event.env_id, request.key, now)
      if (former !== null) return { _tag: "Earlier", earlier: former } satisfies AdmissionOutcome
    }
    const refusal = schedule === undefined ? null : yield* changeSchedules(database, schedule)
    if (refusal !== null) return yield* new Refused({ refusal })
    const repeated = new Set<DeliveryId>()
    // Always in the same order, so that transactions cannot deadlock.
    for (const { delivery, onceKey } of [...admission.deliveries].sort(byKey)) {
      if (onceKey !== null && !(yield* takeKey(admission, onceKey, ""))) repeated.add(delivery.delivery_id)
    }
    const cancelled = cancels === undefined ? [] : [yield* cancelByKeys(event, cancels, now)]
    const {
      stored: accepted,
      replaced,
      batched
    } = yield* admitFlow(
      admission.deliveries.filter(({ delivery }) => !repeated.has(delivery.delivery_id)),
      now
    )
    const deliveries = accepted.map((delivery) => ({ delivery, run: null }))
    yield* applyAll(statements, [{ _tag: "Appended", event, deliveries }])
    return {
      _tag: "Stored",
      deliveries: accepted.map(({ delivery_id }) => delivery_id),
      ...joinReplaced([...cancelled, ...replaced]),
      ...joinBatched(batched)
    } satisfies AdmissionOutcome
  })

  const forgetKeys = (now: Timestamp, limit: number) =>
    Effect.map(
      sql`DELETE FROM once WHERE (env_id, key) IN (
        SELECT env_id, key FROM once WHERE expires_at <= ${now} ORDER BY expires_at LIMIT ${limit}
      )`.raw,
      dialect.changes
    )

  return AdmissionStore.of({
    admit: (admission) =>
      sql.withTransaction(admit(admission)).pipe(
        Effect.tapErrorTag("GroupBusy", (busy) => awaitGroup(database, busy)),
        Effect.retry({ times: busyRetries, while: (error) => error._tag === "GroupBusy" }),
        Effect.catchTag("GroupBusy", (cause) => Effect.fail(new StoreUnavailable({ operation: "admit", cause }))),
        // The id of a new event is unique, so the row counts are as expected.
        Effect.catchTag("UnexpectedRowCount", Effect.die),
        Effect.catchTag("Refused", ({ refusal }) => Effect.succeed<AdmissionOutcome>({ _tag: "Refused", refusal })),
        orUnavailable("admit")
      ),

    earlier: (envId, key, now) => earlier(envId, key, now).pipe(orUnavailable("earlier")),

    forget: (now, limit) =>
      Effect.gen(function* () {
        const keys = yield* forgetKeys(now, limit)
        return keys < limit ? keys + (yield* forgetStates(now, limit - keys)) : keys
      }).pipe(orUnavailable("forget"))
  })
}

/** Maximum repetitions of an admission while claims hold deliveries that it replaces. Each waits for the end of a claim. */
const busyRetries = 100

/** Rolls the transaction back. */
class Refused extends Data.TaggedError("Refused")<{ readonly refusal: ScheduleRefusal }> {}

const byKey = (a: Admission["deliveries"][number], b: Admission["deliveries"][number]): number =>
  (a.onceKey ?? "") < (b.onceKey ?? "") ? -1 : 1
