/** Executes every statement of the run loop and of the lists of runs and events, once or a few times each. */
import { EnvId, OrgId } from "@weft/core"
import {
  AdmissionStore,
  BuildId,
  type Claim,
  Delivery,
  DeliveryId,
  Event,
  EventId,
  EventStore,
  fresh,
  type Group,
  type JournalEntry,
  JournalStore,
  JsonText,
  leastIdAt,
  NodeId,
  ProjectId,
  type Run,
  RunControlStore,
  RunId,
  RunStore,
  ScheduleStore,
  type Stores,
  StreamId,
  StreamStore,
  startRun,
  TickStore,
  Timestamp,
  UsageStore
} from "@weft/core/adapter"
import { Effect } from "effect"
import type { SecureRandom } from "effect/crypto"
import { makeEnvId, makeNodeId, makeProjectId, retryTerms, type Size } from "./Fill.ts"
import type { PlanRecorder } from "./Plans.ts"

type During = PlanRecorder["during"]
type Step = Effect.Effect<void, unknown, Stores | SecureRandom.SecureRandom>

/** The environment with the most runs, and one with few. */
const big = EnvId.make(makeEnvId(1))
const page = { limit: 50, offset: 0 }
const node_id = NodeId.make(makeNodeId(1))

/** Runs all statements; `during` gets the name of each store method. */
export const runLoop = (during: During, { now: instant, envs, weeks }: Size): Step =>
  Effect.gen(function* () {
    const now = Timestamp.make(instant)
    const small = EnvId.make(makeEnvId(envs))
    yield* reads(during, now, small)
    yield* journal(during, now, small)
    yield* controls(during, now, small)
    yield* ticks(during, now)
    yield* admissions(during, now, small)
    const week = 7 * 86_400_000
    const store = yield* JournalStore
    // Both extremes: all runs in the range are purged, or none.
    for (const [env, before] of [
      [big, now - (weeks - 1) * week],
      [small, now - weeks * week]
    ] as const) {
      yield* during("JournalStore.purge", store.purge(env, leastIdAt(RunId, before), 500))
    }
  })

const reads = (during: During, now: Timestamp, small: EnvId): Step =>
  Effect.gen(function* () {
    const runs = yield* RunStore
    const events = yield* EventStore
    const streams = yield* StreamStore
    const filters = [
      {},
      { status: "running" },
      { status: "failed" },
      { status: "cancelled" },
      { since: Timestamp.make(now - 600_000) },
      { since: Timestamp.make(now - 86_400_000), status: "failed" }
    ] as const
    for (const env of [big, small]) {
      for (const filter of filters) {
        yield* during(`RunStore.list ${JSON.stringify(Object.keys(filter))}`, runs.list(env, page, filter))
      }
      const { items } = yield* runs.list(env, page, {})
      const one = items.find((run) => run.event_id !== null)
      if (one === undefined || one.event_id === null)
        throw new Error("The first page of the environment has no run of an event")
      yield* during("RunStore.list [eventId]", runs.list(env, page, { eventId: one.event_id }))
      yield* during("RunStore.get", runs.get(env, one.run_id))
      yield* during("RunStore.logs", runs.logs(env, one.run_id, page))
      yield* during("RunStore.stats", runs.stats(env))
      yield* during("RunStore.stats of a project", runs.stats(env, [makeProjectId(4), "project 1"]))
      yield* during("EventStore.list", events.list(env, page))
      yield* during("EventStore.list of types", events.list(env, page, ["order:1", "order:2"]))
      const latest = (yield* events.list(env, page)).items[0]
      if (latest !== undefined) yield* during("EventStore.get", events.get(env, latest.event_id))
      yield* during("StreamStore.exists", streams.exists(env, one.stream_id))
      yield* during("StreamStore.exists of none", streams.exists(env, yield* fresh(StreamId)))
      const since = { from: Timestamp.make(now - 60_000), limit: 1000, bytes: 1_000_000 }
      yield* during("StreamStore.since", streams.since(env, { ...since, stream: null }))
      yield* during("StreamStore.since of a stream", streams.since(env, { ...since, stream: one.stream_id }))
    }
    yield* during("RunStore.waiting", runs.waiting(1000))
    const month = { start: Timestamp.make(now - 86_400_000), end: now }
    yield* during(
      "UsageStore.runs",
      UsageStore.use((usage) => usage.runs(OrgId.make(makeEnvId(1).replace("-0002-", "-0001-")), month))
    )
  })

const journal = (during: During, now: Timestamp, small: EnvId): Step =>
  Effect.gen(function* () {
    const store = yield* JournalStore
    const lease = { node_id, until: Timestamp.make(now + 30_000) }
    const commit = (entries: ReadonlyArray<JournalEntry>) =>
      Effect.asVoid(during("JournalStore.commit", store.commit(entries, lease)))
    const groups = [small, big].map((env_id) => ({ env_id, key: "main/fn1" }))
    const claim = (limit: number, exclude: ReadonlyArray<EnvId> = [], freed: ReadonlyArray<Group> = []) =>
      Effect.gen(function* () {
        const runIds = yield* Effect.replicateEffect(fresh(RunId), limit)
        const name = freed.length === 0 ? "JournalStore.claim" : "JournalStore.claim after groups"
        return yield* during(name, store.claim({ lease, now, runIds, perEnv: 128, exclude, freed }))
      })
    for (const limit of [1, 100, 512]) {
      const { claims } = yield* claim(limit, [big])
      yield* commit(claims.map((it, index) => settled(it, now, index % 5 === 0)))
    }
    const { claims } = yield* claim(100, [], groups)
    const entries = claims.map((it) => settled(it, now, false))
    yield* commit(entries)
    // A repeated commit settles nothing, but reads each row.
    yield* commit(entries)
    yield* commit([
      yield* appended(small, now, false),
      yield* appended(small, now, true),
      yield* appended(big, now, true)
    ])
    const started = { ...(yield* aRun(small, now)), run_type: "call" as const }
    const unheld = { ...(yield* aRun(big, now)), run_type: "call" as const }
    yield* commit([{ _tag: "Started", run: started }])
    yield* commit([
      { _tag: "Ended", run: over(started, now), logs: [] },
      { _tag: "Ended", run: over(unheld, now), logs: [] }
    ])
    yield* during("JournalStore.parked", store.parked(null, 10))
    yield* during("JournalStore.unpark", store.unpark(groups, now))
    yield* during("JournalStore.look", store.findPendingWork(node_id, now))
    yield* during("JournalStore.reap", store.reap(node_id, now, 20))
    yield* during("JournalStore.leave", store.endLease(NodeId.make(makeNodeId(405))))
  })

const controls = (during: During, now: Timestamp, small: EnvId): Step =>
  Effect.gen(function* () {
    const store = yield* RunControlStore
    const delivery = yield* aDelivery(small, now)
    yield* during("RunControlStore.redeliver", store.redeliver(delivery))
    const runs = yield* RunStore
    const { items } = yield* runs.list(small, page, {})
    yield* during(
      "RunControlStore.log",
      store.log(items.slice(0, 3).map(({ env_id, run_id }) => ({ env_id, run_id, entries: [] })))
    )
    yield* during("RunControlStore.ended", store.ended(items))
    yield* during("RunControlStore.cancel of one", store.cancel(small, { runId: yield* fresh(RunId) }, now, 100))
    yield* during("RunControlStore.cancel", store.cancel(big, { type: "event" }, now, 5))
    yield* during("RunControlStore.cancel", store.cancel(big, { functions: ["main/fn1"] }, now, 5))
  })

const ticks = (during: During, now: Timestamp): Step =>
  Effect.gen(function* () {
    const schedules = yield* ScheduleStore
    yield* during("ScheduleStore.nextDueAt", schedules.nextDueAt)
    const due = yield* during("ScheduleStore.due", schedules.due(now, 100))
    yield* during("ScheduleStore.list", schedules.list(big, page))
    const fired = yield* Effect.forEach(due, (schedule) =>
      Effect.gen(function* () {
        const event = yield* anEvent(schedule.env_id, now)
        const at = Timestamp.make(now + 3_600_000)
        const delivery = { ...(yield* aDelivery(schedule.env_id, now)), event_id: event.event_id }
        return { schedule, next: { next_at: at, due_at: at }, fired: { event, delivery } }
      })
    )
    yield* during(
      "TickStore.fire",
      TickStore.use((store) => store.fire(fired))
    )
  })

const admissions = (during: During, now: Timestamp, small: EnvId): Step =>
  Effect.gen(function* () {
    const store = yield* AdmissionStore
    const event = yield* anEvent(small, now)
    const delivery = { ...(yield* aDelivery(small, now)), event_id: event.event_id }
    const request = { key: event.event_id, digest: "" }
    const admission = { event, deliveries: [{ delivery, onceKey: event.event_id, rules: [] }], request, now }
    for (let time = 0; time < 2; time++) {
      yield* during("AdmissionStore.admit", store.admit({ ...admission, until: Timestamp.make(now + 60_000) }))
    }
    yield* during("AdmissionStore.earlier", store.earlier(small, event.event_id, now))
    yield* during("AdmissionStore.forget", store.forget(now, 500))
  })

const anEvent = (env_id: EnvId, now: Timestamp) =>
  Effect.gen(function* () {
    const event_id = yield* fresh(EventId)
    const stream_id = StreamId.make(event_id)
    const text = { event_type: "order:1", event_data: JsonText.make("{}") }
    return Event.make({ event_id, env_id, stream_id, ...text, event_time: now, created_at: now })
  })

const code = {
  project_id: ProjectId.make(makeProjectId(4)),
  project_name: "project 0",
  build_id: BuildId.make(makeProjectId(5))
}

const aDelivery = (env_id: EnvId, now: Timestamp) =>
  Effect.gen(function* () {
    const delivery_id = yield* fresh(DeliveryId)
    return Delivery.make({
      ...{ delivery_id, env_id, event_id: EventId.make(delivery_id), stream_id: StreamId.make(delivery_id) },
      ...{ ...code, ns: "main", var: "fn1", run_type: "event", retry: retryTerms, timeout_ms: 300_000 },
      ...{ group: null, attempt: 1, due_at: now, caused_by: null, first_run_id: null },
      ...{ depth: 0, durable: false, continues: null }
    })
  })

const aRun = (env_id: EnvId, now: Timestamp) =>
  Effect.gen(function* () {
    const run_id = yield* fresh(RunId)
    const run = startRun(yield* aDelivery(env_id, now), run_id, node_id, now)
    return { ...run, stream_id: StreamId.make(run_id), event_id: null }
  })

const appended = (env_id: EnvId, now: Timestamp, begins: boolean) =>
  Effect.gen(function* () {
    const event = yield* anEvent(env_id, now)
    const delivery = { ...(yield* aDelivery(env_id, now)), event_id: event.event_id }
    const run = begins ? { ...(yield* aRun(env_id, now)), event_id: event.event_id } : null
    return { _tag: "Appended", event, deliveries: [{ delivery, run }] } satisfies JournalEntry
  })

const over = (run: Run, now: Timestamp): Run => ({
  ...run,
  ...{ status: "succeeded", stop_time: now, result: JsonText.make(`{"ok":true}`) },
  ...{ cpu_ms: 1, wall_ms: 2, heap_bytes: 4_000_000 }
})

export const settled = ({ run, delivery }: Claim, now: Timestamp, again: boolean): JournalEntry => ({
  _tag: "Settled",
  run: over(run, now),
  logs: [],
  deliveryId: delivery.delivery_id,
  next: again ? { attempt: 2, due_at: Timestamp.make(now + 60_000), first_run_id: run.run_id } : null
})
