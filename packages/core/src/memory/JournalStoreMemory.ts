/** `JournalStore` in memory: the executable specification. */
import { Effect, Layer } from "effect"
import type { DeliveryId, EnvId, NodeId, RunId } from "../ids/Ids.ts"
import type { Timestamp } from "../ids/Timestamp.ts"
import { withinClaim } from "../journal/ClaimData.ts"
import { type Claim, type ClaimRequest, type JournalEntry, JournalStore, type Own } from "../journal/JournalStore.ts"
import { loseRun, startRun } from "../runs/Attempt.ts"
import type { Delivery } from "../runs/Delivery.ts"
import { type Group, parkedAt, roomFor } from "../runs/Group.ts"
import type { LogEntry, Run } from "../runs/Run.ts"
import { compareText, MemoryDatabase } from "./MemoryDatabase.ts"

export const layer: Layer.Layer<JournalStore, never, MemoryDatabase> = Layer.effect(
  JournalStore,
  Effect.gen(function* () {
    const db = yield* MemoryDatabase
    const claim = claimFrom(db)

    return JournalStore.of({
      commitsMax: 1,

      commit: (entries, lease) =>
        Effect.sync(() => {
          if (lease !== null) db.leases.set(lease.node_id, lease.until)
          return entries.map((entry) => apply(db, entry))
        }),

      claim: (request) => Effect.sync(() => claim(request)),

      unpark: (groups, now) => Effect.sync(() => letIn(db, groups, now)),

      parked: (after, limit) =>
        Effect.sync(() =>
          uniqueGroups([...db.deliveries.values()].map((row) => row.delivery).filter((it) => it.due_at === parkedAt))
            .sort(compareGroups)
            .filter((group) => after === null || compareGroups(group, after) > 0)
            .slice(0, limit)
        ),

      reap: (nodeId, now, limit, own) =>
        Effect.sync(() =>
          [...orphansOf(db, nodeId, now), ...(own === undefined ? [] : forsakenOf(db, nodeId, own))]
            .sort((a, b) => compareText(a.run_id, b.run_id))
            .slice(0, limit)
            .map((run) => lose(db, run, now))
        ),

      look: (nodeId, now) =>
        Effect.sync(() => ({
          orphans: orphansOf(db, nodeId, now).length > 0,
          next_due_at: nextDueAt(db, []),
          parked: [...db.deliveries.values()].some(({ delivery }) => delivery.due_at === parkedAt),
          next_tick_at: earliest([...db.schedules.values()].map(({ due_at }) => due_at))
        })),

      leave: (nodeId) => Effect.sync(() => void db.leases.delete(nodeId)),

      purgeWhole: () => Effect.succeed(0),

      purge: (envId, before, limit) =>
        Effect.sync(() => {
          const ended = [...db.runs.values()]
            .filter((run) => run.env_id === envId && run.status !== "running" && run.run_id < before)
            .sort((a, b) => compareText(a.run_id, b.run_id))
            .slice(0, limit)
          for (const { run_id, env_id, start_time } of ended) {
            db.runs.delete(run_id)
            db.logs.delete(run_id)
            db.removedRuns.push({ env_id, start_time })
          }
          return ended.length
        })
    })
  })
)

type Database = MemoryDatabase["Service"]

/** Applies one entry; whether it counted. */
const apply = (db: Database, entry: JournalEntry): boolean => {
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
      if (entry.next === null) db.deliveries.delete(entry.deliveryId)
      else wait(db, entry.deliveryId, entry.next)
      return true
    }
  }
}

/** Stores how a running run ended, with what it logged; false when there is no such run. */
const end = (db: Database, run: Run, logs: ReadonlyArray<LogEntry>): boolean => {
  const stored = db.runs.get(run.run_id)
  if (stored?.status !== "running" || stored.env_id !== run.env_id) return false
  const { status, stop_time, result, cpu_ms, wall_ms, heap_bytes } = run
  db.runs.set(run.run_id, { ...stored, status, stop_time, result, cpu_ms, wall_ms, heap_bytes })
  db.logs.set(run.run_id, logs)
  return true
}

/** Gives a delivery back, changed as `next` says. */
const wait = (db: Database, id: DeliveryId, next: Partial<Delivery>): void => {
  const row = db.deliveries.get(id)
  if (row !== undefined) db.deliveries.set(id, { delivery: { ...row.delivery, ...next }, run_id: null })
}

/** Running runs of other nodes whose lease is over. */
const orphansOf = (db: Database, nodeId: NodeId, now: Timestamp): Array<Run> =>
  [...db.runs.values()]
    .filter((run) => run.status === "running" && run.node_id !== nodeId)
    .filter((run) => (db.leases.get(run.node_id) ?? Number.NEGATIVE_INFINITY) < now)

/** Running runs of the node that it does not know of. */
const forsakenOf = (db: Database, nodeId: NodeId, { before, known }: Own): ReadonlyArray<Run> =>
  [...db.runs.values()]
    .filter((run) => run.status === "running" && run.node_id === nodeId)
    .filter((run) => run.start_time < before && !known.includes(run.run_id))

const lose = (db: Database, run: Run, now: Timestamp): Run => {
  const lost = loseRun(run, "NodeLost", "The process that ran this function is gone", now)
  db.runs.set(run.run_id, lost)
  for (const { delivery, run_id } of db.deliveries.values()) {
    if (run_id === run.run_id) wait(db, delivery.delivery_id, { due_at: now })
  }
  return lost
}

/**
 * The claims of one store. Environments take turns, from where the last claim stopped, and each gets the same
 * share of the claim, so that none waits for another's backlog.
 */
const claimFrom = (db: Database) => {
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
    const unparked = letIn(db, request.freed, request.now)
    const due = dueByEnv(request)
    const limit = request.runIds.length
    const share = Math.min(request.perEnv, Math.max(1, Math.ceil(limit / due.size)))
    const shares = turns([...due.keys()], lastEnv)
      .slice(0, limit)
      .flatMap((envId) => (due.get(envId) ?? []).slice(0, share))
    // Characters instead of bytes: near enough for who has all of it in memory anyhow.
    const seen = withinClaim(shares, ({ event_id }) => db.events.get(event_id)?.event_data.length ?? 0)
    const full = uniqueGroups(seen).flatMap((group) => {
      const open = admitted(db, group, request.now)
      const isOpen = (delivery: Delivery) => open.some((other) => other.delivery_id === delivery.delivery_id)
      const closed = waitingOf(db, group, request.now).filter((delivery) => !isOpen(delivery))
      return seen.some((delivery) => closed.includes(delivery)) ? closed : []
    })
    const parked = full.filter((delivery) => delivery.due_at !== parkedAt)
    for (const delivery of parked) wait(db, delivery.delivery_id, { due_at: parkedAt })
    const chosen = seen.filter((delivery) => !parked.includes(delivery))
    const claims = request.runIds.flatMap((runId, index) => {
      const delivery = chosen[index]
      return delivery === undefined ? [] : hold(db, delivery, runId, request)
    })
    lastEnv = claims.at(-1)?.delivery.env_id ?? lastEnv
    return { claims, parked: parked.length, unparked, next_due_at: nextDueAt(db, request.exclude) }
  }
}

/** Makes parked deliveries of the groups due for which there is room; how many. */
const letIn = (db: Database, groups: ReadonlyArray<Group>, now: Timestamp): number =>
  groups.reduce((count, group) => {
    const freed = admitted(db, group, now).filter((delivery) => delivery.due_at === parkedAt)
    for (const delivery of freed) wait(db, delivery.delivery_id, { due_at: now })
    return count + freed.length
  }, 0)

/** The environments in ascending order, beginning after `last`. */
const turns = (envs: ReadonlyArray<EnvId>, last: string): ReadonlyArray<EnvId> => {
  const sorted = [...envs].sort(compareText)
  return [...sorted.filter((env) => env > last), ...sorted.filter((env) => env <= last)]
}

const hold = (db: Database, delivery: Delivery, runId: RunId, request: ClaimRequest): ReadonlyArray<Claim> => {
  const event = db.events.get(delivery.event_id)
  if (event === undefined) return []
  const run = startRun(delivery, runId, request.lease.node_id, request.now)
  db.runs.set(runId, run)
  db.deliveries.set(delivery.delivery_id, { delivery, run_id: runId })
  return [{ delivery, event, run }]
}

const nextDueAt = (db: Database, exclude: ReadonlyArray<EnvId>): Timestamp | null =>
  earliest(
    [...db.deliveries.values()]
      .filter(({ delivery, run_id }) => run_id === null && !exclude.includes(delivery.env_id))
      .map(({ delivery }) => delivery.due_at)
      .filter((due) => due !== parkedAt)
  )

const earliest = (instants: ReadonlyArray<Timestamp>): Timestamp | null =>
  instants.reduce<Timestamp | null>((least, instant) => (least === null || instant < least ? instant : least), null)

/** Deliveries of the group that wait, and are due or parked, the oldest first. */
const waitingOf = (db: Database, { env_id, key }: Group, now: Timestamp): ReadonlyArray<Delivery> =>
  [...db.deliveries.values()]
    .filter(({ delivery, run_id }) => run_id === null && delivery.env_id === env_id && delivery.group?.key === key)
    .map(({ delivery }) => delivery)
    .filter(({ due_at }) => due_at <= now || due_at === parkedAt)
    .sort((a, b) => compareText(a.delivery_id, b.delivery_id))

/** Those for which there is room beside the group's running runs. */
const admitted = (db: Database, group: Group, now: Timestamp): ReadonlyArray<Delivery> => {
  const running = [...db.deliveries.values()].filter(
    ({ delivery, run_id }) => run_id !== null && delivery.env_id === group.env_id && delivery.group?.key === group.key
  )
  const waiting = waitingOf(db, group, now)
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
