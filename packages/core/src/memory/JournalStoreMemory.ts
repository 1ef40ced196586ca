/** `JournalStore` in memory: the executable specification. */
import { Effect, Layer } from "effect"
import { DeliveryId, type EnvId, leastIdAt, type NodeId, type RunId } from "../foundation/Ids.ts"
import type { JsonText } from "../foundation/JsonText.ts"
import type { Timestamp } from "../foundation/time/Timestamp.ts"
import { canariesVersion } from "../resources/builds/CanaryStore.ts"
import { takeWithinBudget } from "../runtime/journal/ClaimData.ts"
import {
  type Claim,
  type ClaimRequest,
  type FollowUp,
  type JournalEntry,
  JournalStore,
  type LocalRunSet,
  type PurgedFunction
} from "../runtime/journal/JournalStore.ts"
import { continueRun, loseRun, startRun } from "../runtime/runs/Attempt.ts"
import type { Delivery } from "../runtime/runs/Delivery.ts"
import { type Group, parkedAt, roomFor } from "../runtime/runs/Group.ts"
import { versionOf } from "../runtime/runs/Pause.ts"
import type { LogEntry, Run } from "../runtime/runs/Run.ts"
import {
  countSteps,
  emptyHistory,
  formatWaiting,
  lostNode,
  type StepRecord,
  type WaitRecord
} from "../runtime/runs/Workflow.ts"
import { holdUntil, startThrottled } from "./FlowStatesMemory.ts"
import { compareText, MemoryDatabase } from "./MemoryDatabase.ts"
import { holdPaused } from "./PauseStoreMemory.ts"
import { endWaits } from "./RunCancellationMemory.ts"

export const layer: Layer.Layer<JournalStore, never, MemoryDatabase> = Layer.effect(
  JournalStore,
  Effect.gen(function* () {
    const db = yield* MemoryDatabase
    const claim = makeClaim(db)

    return JournalStore.of({
      commitsMax: 1,

      commit: (entries, lease) =>
        Effect.sync(() => {
          if (lease !== null) db.leases.set(lease.node_id, lease.until)
          return entries.map((entry) => apply(db, entry))
        }),

      count: ({ node_id, seq, counts }) =>
        Effect.sync(() => {
          if ((db.countBatches.get(node_id) ?? 0) >= seq) return
          db.countBatches.set(node_id, seq)
          for (const { env_id, start_time, runs } of counts) {
            for (let n = 0; n < runs; n++) db.removedRuns.push({ env_id, start_time })
          }
        }),

      claim: (request) => Effect.sync(() => claim(request)),

      unpark: (groups, now) => Effect.sync(() => unparkGroups(db, groups, now)),

      parked: (after, limit) =>
        Effect.sync(() =>
          uniqueGroups([...db.deliveries.values()].map((row) => row.delivery).filter((it) => it.due_at === parkedAt))
            .sort(compareGroups)
            .filter((group) => after === null || compareGroups(group, after) > 0)
            .slice(0, limit)
        ),

      reap: (nodeId, now, limit, own) =>
        Effect.sync(() =>
          [...findOrphans(db, nodeId, now), ...(own === undefined ? [] : findUnknownRuns(db, nodeId, own))]
            .sort((a, b) => compareText(a.run_id, b.run_id))
            .slice(0, limit)
            .map((run) => markLost(db, run, now))
        ),

      findPendingWork: (nodeId, now) =>
        Effect.sync(() => ({
          orphans: findOrphans(db, nodeId, now).length > 0,
          next_due_at: findNextDueAt(db, []),
          parked: [...db.deliveries.values()].some(({ delivery }) => delivery.due_at === parkedAt),
          removals: db.removedProjects.size > 0,
          awaiting: [...db.histories.values()].some(({ waits }) =>
            waits.some(({ event_type, outcome }) => event_type !== null && outcome === null)
          ),
          invoking: [...db.histories.values()].some(({ waits }) =>
            waits.some(({ child_event_id, outcome }) => child_event_id !== null && outcome === null)
          ),
          next_alert_at: earliest([...db.alerts.values()].filter(({ enabled }) => enabled).map(({ due_at }) => due_at)),
          next_tick_at: earliest([...db.schedules.values()].map(({ due_at }) => due_at)),
          operations: [...db.operations.values()].some(
            ({ operation, until }) => operation.ended_at === null && until < now
          ),
          pauses_version: versionOf([...db.pauses.values()]),
          canaries_version: canariesVersion([...db.canaries.values()].map(({ canary }) => canary))
        })),

      endLease: (nodeId) => Effect.sync(() => void db.leases.delete(nodeId)),

      purgeWhole: () => Effect.succeed(0),

      purge: (envId, before, limit, of) =>
        Effect.sync(() => {
          const ended = [...db.runs.values()]
            .filter((run) => run.env_id === envId && run.status !== "running" && run.run_id < before)
            .filter((run) => of === undefined || isOf(run, of))
            .sort((a, b) => compareText(a.run_id, b.run_id))
            .slice(0, limit)
          for (const { run_id, env_id, start_time } of ended) {
            db.runs.delete(run_id)
            db.logs.delete(run_id)
            db.deadLetters.delete(run_id)
            db.histories.delete(run_id)
            db.cleanups.delete(run_id)
            for (const [id, token] of db.tokens) if (token.run_id === run_id) db.tokens.delete(id)
            db.removedRuns.push({ env_id, start_time })
          }
          return ended.length
        })
    })
  })
)

const isOf = (run: Run, of: PurgedFunction): boolean =>
  run.project_id === of.project_id && run.ns === of.ns && run.var === of.var

type Database = MemoryDatabase["Service"]

type Advanced = Extract<JournalEntry, { _tag: "Advanced" }>

/** Applies one entry. Returns true if it was valid. */
export const apply = (db: Database, entry: JournalEntry): boolean => {
  switch (entry._tag) {
    case "Appended": {
      if (db.events.has(entry.event.event_id)) return true
      db.events.set(entry.event.event_id, entry.event)
      for (const { delivery, run } of entry.deliveries) {
        db.deliveries.set(delivery.delivery_id, { delivery, run_id: run?.run_id ?? null })
        if (run !== null) db.runs.set(run.run_id, run)
      }
      return true
    }
    case "Started": {
      if (!db.runs.has(entry.run.run_id)) db.runs.set(entry.run.run_id, entry.run)
      return true
    }
    case "Ended": {
      if (db.runs.has(entry.run.run_id)) return end(db, entry.run, entry.logs)
      db.runs.set(entry.run.run_id, entry.run)
      db.logs.set(entry.run.run_id, entry.logs)
      return true
    }
    case "Settled": {
      const held = db.deliveries.get(entry.deliveryId)
      if (held?.run_id !== entry.run.run_id || !end(db, entry.run, entry.logs)) return false
      if (entry.isDead === true) db.deadLetters.set(entry.run.run_id, entry.run.stop_time ?? entry.run.start_time)
      if (entry.next === null) db.deliveries.delete(entry.deliveryId)
      else requeue(db, entry.deliveryId, { ...entry.next, continues: null })
      return entry.followUp === undefined || apply(db, toAppended(entry.followUp))
    }
    case "Advanced":
      return advance(db, entry)
  }
}

const toAppended = ({ event, deliveries }: FollowUp): JournalEntry => ({
  _tag: "Appended",
  event,
  deliveries: deliveries.map((delivery) => ({ delivery, run: null }))
})

/** Stores the progress of a durable run. Returns false if the run no longer holds the delivery. */
const advance = (db: Database, { run, deliveryId, at, steps, waits, suspension }: Advanced): boolean => {
  const held = db.deliveries.get(deliveryId)
  const stored = db.runs.get(run.run_id)
  if (held?.run_id !== run.run_id || stored?.status !== "running" || stored.env_id !== run.env_id) return false
  const before = db.histories.get(run.run_id) ?? emptyHistory
  const ended = new Set(steps.map(({ seq }) => seq))
  const isNew = ({ position }: StepRecord) => !before.steps.some((old) => old.position === position)
  const history = {
    // A write that is repeated because its result was lost changes nothing.
    steps: [...before.steps, ...steps.filter(isNew)].sort((a, b) => a.position - b.position),
    waits: [...waits.reduce(addWait, new Map(before.waits.map((wait) => [wait.seq, wait]))).values()]
      .filter(({ seq }) => !ended.has(seq))
      .sort((a, b) => a.seq - b.seq)
  }
  db.histories.set(run.run_id, history)
  const advanced = { ...stored, steps: Math.max(stored.steps ?? 0, countSteps(steps)) }
  db.runs.set(run.run_id, advanced)
  if (suspension === null) return true
  const hasOutcome = history.waits.some(({ outcome }) => outcome !== null)
  const isCancelled = (db.cleanups.get(run.run_id) ?? null) !== suspension.cleanup_until
  suspend(db, advanced, deliveryId, hasOutcome || isCancelled ? at : suspension.due_at, suspension.waiting)
  db.logs.set(run.run_id, suspension.logs)
  return true
}

/** Adds a wait, or replaces the one with its `seq`. Events that have arrived stay. */
const addWait = (waits: Map<number, WaitRecord>, wait: WaitRecord): Map<number, WaitRecord> =>
  waits.set(wait.seq, { ...wait, outcome: waits.get(wait.seq)?.outcome ?? wait.outcome })

/** Releases the delivery of a durable run, which continues at `dueAt`. */
const suspend = (db: Database, run: Run, id: DeliveryId, dueAt: Timestamp, waiting: JsonText): Run => {
  const suspended = { ...run, waiting }
  db.runs.set(run.run_id, suspended)
  requeue(db, id, { due_at: dueAt, continues: run.run_id })
  return suspended
}

/** Stores the end of a running run, with its log. Returns false if no such run is running. */
const end = (db: Database, run: Run, logs: ReadonlyArray<LogEntry>): boolean => {
  const stored = db.runs.get(run.run_id)
  if (stored?.status !== "running" || stored.env_id !== run.env_id) return false
  if (db.cleanups.has(run.run_id) && run.status !== "cancelled") return false
  const { status, stop_time, result, cpu_ms, wall_ms, heap_bytes } = run
  db.runs.set(run.run_id, { ...stored, status, stop_time, result, cpu_ms, wall_ms, heap_bytes })
  db.logs.set(run.run_id, logs)
  endWaits(db, run.run_id)
  return true
}

/** Releases a delivery for the next attempt, with the changes of `next`. */
const requeue = (db: Database, id: DeliveryId, next: Partial<Delivery>): void => {
  const row = db.deliveries.get(id)
  if (row !== undefined) db.deliveries.set(id, { delivery: { ...row.delivery, ...next }, run_id: null })
}

/** Returns running runs of other nodes whose lease has expired. */
const findOrphans = (db: Database, nodeId: NodeId, now: Timestamp): Array<Run> =>
  [...db.runs.values()]
    .filter((run) => isHeld(run) && run.node_id !== nodeId)
    .filter((run) => (db.leases.get(run.node_id) ?? Number.NEGATIVE_INFINITY) < now)

/** Returns running runs of the node that are not among its known runs. */
const findUnknownRuns = (db: Database, nodeId: NodeId, { before, known }: LocalRunSet): ReadonlyArray<Run> =>
  [...db.runs.values()]
    .filter((run) => isHeld(run) && run.node_id === nodeId)
    .filter((run) => run.start_time < before && !known.includes(run.run_id))
    .filter((run) => {
      const held = findHeld(db, run)?.delivery.delivery_id
      return held === undefined || (held < leastIdAt(DeliveryId, before) && !known.map(String).includes(held))
    })

/** True if a node executes the run, as opposed to suspended runs. */
const isHeld = ({ status, waiting }: Run): boolean => status === "running" && waiting === null

/** Returns the delivery that a running run holds; undefined without one. */
const findHeld = (db: Database, run: Run) => [...db.deliveries.values()].find(({ run_id }) => run_id === run.run_id)

const markLost = (db: Database, run: Run, now: Timestamp): Run => {
  if (run.activations !== null) {
    const held = findHeld(db, run)
    if (held !== undefined) return suspend(db, run, held.delivery.delivery_id, now, formatWaiting(lostNode(now)))
  }
  const lost = loseRun(run, "NodeLost", "The process that ran this function is gone", now)
  db.runs.set(run.run_id, lost)
  for (const { delivery, run_id } of db.deliveries.values()) {
    if (run_id === run.run_id) requeue(db, delivery.delivery_id, { due_at: now })
  }
  return lost
}

/**
 * Returns the claim function of one store. It serves environments round robin, starting after the last one of the
 * previous claim. Each gets an equal share of the claim, so a backlog of one does not delay the others.
 */
const makeClaim = (db: Database) => {
  let lastEnv = ""

  const dueByEnv = (request: ClaimRequest) => {
    const due = [...db.deliveries.values()]
      .filter(({ delivery, run_id }) => run_id === null && !request.exclude.includes(delivery.env_id))
      .map(({ delivery }) => delivery)
      .filter((delivery) => delivery.due_at <= request.now)
      .sort((a, b) => a.due_at - b.due_at || compareText(a.delivery_id, b.delivery_id))
    return Map.groupBy(due, (delivery) => delivery.env_id)
  }

  return (request: ClaimRequest) => {
    db.leases.set(request.lease.node_id, request.lease.until)
    const unparked = unparkGroups(db, request.freed, request.now)
    const due = dueByEnv(request)
    const limit = request.runIds.length
    const share = Math.min(request.perEnv, Math.max(1, Math.ceil(limit / due.size)))
    const shares = rotateEnvs([...due.keys()], lastEnv)
      .slice(0, limit)
      .flatMap((envId) => (due.get(envId) ?? []).slice(0, share))
    // Deliveries of removed projects take part in the claim, so that its cost is bounded.
    const removed = shares.filter(({ project_id }) => db.removedProjects.has(project_id))
    for (const { delivery_id } of removed) db.deliveries.delete(delivery_id)
    const present = shares.filter((delivery) => !removed.includes(delivery))
    const remaining = holdPaused(db, present, request)
    // Characters instead of bytes: accurate enough, since all data is in memory anyway.
    const seen = takeWithinBudget(remaining, ({ event_id }) => db.events.get(event_id)?.event_data.length ?? 0)
    const full = uniqueGroups(seen).flatMap((group) => {
      const open = findAdmissible(db, group, request.now)
      const isOpen = (delivery: Delivery) => open.some((other) => other.delivery_id === delivery.delivery_id)
      const closed = findWaiting(db, group, request.now).filter((delivery) => !isOpen(delivery))
      return seen.some((delivery) => closed.includes(delivery)) ? closed : []
    })
    const parked = full.filter((delivery) => delivery.due_at !== parkedAt)
    for (const delivery of parked) holdUntil(db, delivery.delivery_id, parkedAt, request.now)
    const open = seen.filter((delivery) => !parked.includes(delivery))
    const chosen = startThrottled(db, open.slice(0, limit), request.now)
    const claims = request.runIds.flatMap((runId, index) => {
      const delivery = chosen[index]
      return delivery === undefined ? [] : startClaimedRun(db, delivery, runId, request)
    })
    lastEnv = claims.at(-1)?.delivery.env_id ?? lastEnv
    return {
      claims,
      parked: parked.length + present.length - remaining.length + Math.min(open.length, limit) - chosen.length,
      unparked,
      next_due_at: removed.length > 0 ? request.now : findNextDueAt(db, request.exclude)
    }
  }
}

/** Makes as many parked deliveries of the groups due as their limits allow. Returns their number. */
const unparkGroups = (db: Database, groups: ReadonlyArray<Group>, now: Timestamp): number =>
  groups.reduce((count, group) => {
    const freed = findAdmissible(db, group, now).filter((delivery) => delivery.due_at === parkedAt)
    for (const delivery of freed) requeue(db, delivery.delivery_id, { due_at: now })
    return count + freed.length
  }, 0)

/** Returns the environments in ascending order, beginning after `last`. */
const rotateEnvs = (envs: ReadonlyArray<EnvId>, last: string): ReadonlyArray<EnvId> => {
  const sorted = [...envs].sort(compareText)
  return [...sorted.filter((env) => env > last), ...sorted.filter((env) => env <= last)]
}

const startClaimedRun = (
  db: Database,
  delivery: Delivery,
  runId: RunId,
  request: ClaimRequest
): ReadonlyArray<Claim> => {
  const event = db.events.get(delivery.event_id)
  if (event === undefined) return []
  const { node_id } = request.lease
  if (delivery.continues !== null) {
    const suspended = db.runs.get(delivery.continues)
    if (suspended?.status !== "running") {
      db.deliveries.delete(delivery.delivery_id)
      return []
    }
    const run = continueRun(suspended, node_id)
    const held = { ...delivery, delivery_id: DeliveryId.make(runId) }
    db.runs.set(run.run_id, run)
    db.deliveries.delete(delivery.delivery_id)
    db.deliveries.set(held.delivery_id, { delivery: held, run_id: run.run_id })
    return [{ delivery: held, event, run }]
  }
  const run = startRun(delivery, runId, node_id, request.now)
  db.runs.set(runId, run)
  db.deliveries.set(delivery.delivery_id, { delivery, run_id: runId })
  return [{ delivery, event, run }]
}

const findNextDueAt = (db: Database, exclude: ReadonlyArray<EnvId>): Timestamp | null =>
  earliest(
    [...db.deliveries.values()]
      .filter(({ delivery, run_id }) => run_id === null && !exclude.includes(delivery.env_id))
      .map(({ delivery }) => delivery.due_at)
      .filter((due) => due < parkedAt)
  )

const earliest = (instants: ReadonlyArray<Timestamp>): Timestamp | null =>
  instants.reduce<Timestamp | null>((least, instant) => (least === null || instant < least ? instant : least), null)

/** Returns pending deliveries of the group that are due or parked, the oldest first. */
const findWaiting = (db: Database, { env_id, key }: Group, now: Timestamp): ReadonlyArray<Delivery> =>
  [...db.deliveries.values()]
    .filter(({ delivery, run_id }) => run_id === null && delivery.env_id === env_id && delivery.group?.key === key)
    .map(({ delivery }) => delivery)
    .filter(({ due_at }) => due_at <= now || due_at === parkedAt)
    .sort((a, b) => compareText(a.delivery_id, b.delivery_id))

/** Returns the pending deliveries that fit within the group's limit, in addition to its running runs. */
const findAdmissible = (db: Database, group: Group, now: Timestamp): ReadonlyArray<Delivery> => {
  const running = [...db.deliveries.values()].filter(
    ({ delivery, run_id }) => run_id !== null && delivery.env_id === group.env_id && delivery.group?.key === group.key
  )
  const waiting = findWaiting(db, group, now)
  const limits = waiting.map((delivery) => delivery.group?.limit ?? 0)
  return waiting.slice(0, roomFor(limits, running.length))
}

const uniqueGroups = (deliveries: ReadonlyArray<Delivery>): Array<Group> => {
  const groups = new Map<string, Group>()
  for (const { env_id, group } of deliveries) {
    if (group !== null) groups.set(`${env_id} ${group.key}`, { env_id, key: group.key })
  }
  return [...groups.values()]
}

const compareGroups = (a: Group, b: Group): number => compareText(a.env_id, b.env_id) || compareText(a.key, b.key)
