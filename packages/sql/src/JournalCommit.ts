/**
 * Applies a batch of journal entries with a few statements.
 *
 * Entries are grouped by kind: all starts first, then the progress of durable runs, then all ends. A run starts before it
 * ends, so the result is the same as entry by entry. A batch in which a run ends before it starts is split in two.
 *
 * Nearly always every entry takes effect. So the batch is first applied under that assumption, which needs only the
 * number of affected rows. If the number is unexpected, the transaction is rolled back. The batch is then applied
 * again with a result for each row.
 */
import type { JournalEntry, RunId } from "@weft/core/adapter"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { CountDeltas } from "./CountDeltas.ts"
import { type Rows, UnexpectedRowCount } from "./Dialect.ts"
import { type Advanced, entryProgress, mergeProgress, type ProgressRows } from "./JournalProgress.ts"
import type { JournalStatements } from "./JournalStatements.ts"
import { deliveryRow, toDeliveryRow } from "./rows/DeliveryRows.ts"
import { eventRow } from "./rows/EventRows.ts"
import {
  endedRow,
  endRow,
  logsText,
  requeueRow,
  runKeyRow,
  startRow,
  storedBytes,
  toEndRow,
  toRequeueRow,
  toStartRow
} from "./rows/RunRows.ts"

type Appended = Extract<JournalEntry, { _tag: "Appended" }>
type Beginning = Extract<JournalEntry, { _tag: "Appended" | "Started" }>
type Ending = Extract<JournalEntry, { _tag: "Ended" | "Settled" }>

interface IndexedEnding {
  readonly index: number
  readonly entry: Ending
  /** Logs of the run, as JSON text. */
  readonly logs: string | null
}

interface IndexedAdvance {
  readonly index: number
  readonly entry: Advanced
}

/** Applies a batch with the rows of `lease`. Fails before all is written if an entry has no effect. */
export const applyAll = Effect.fnUntraced(function* (
  statements: JournalStatements,
  entries: ReadonlyArray<JournalEntry>,
  lease: Rows = []
): Effect.fn.Return<ReadonlyArray<boolean>, SqlError.SqlError | UnexpectedRowCount> {
  const [segment, ...others] = segments(entries)
  const [round = [], ...repeats] = rounds(segment.endings)
  const { beginnings, advances } = segment
  const progress = mergeProgress(advances.map(({ entry }) => entry))
  if (others.length > 0 || repeats.length > 0 || progress === null) return yield* new UnexpectedRowCount()
  const { combined } = statements
  if (combined !== null) {
    const advanced = new Set(advances.map(({ entry }) => entry.run.run_id))
    yield* applyCombined(statements, combined, { beginnings, advanced, progress, round }, lease)
    return entries.map(() => true)
  }
  const deltas = new CountDeltas()
  yield* statements.renewLeases.run(lease)
  const appended = [...beginnings.filter((entry) => entry._tag === "Appended"), ...followUps(round)]
  if ((yield* statements.insertEvents.run(eventRows(appended))) !== appended.length)
    return yield* new UnexpectedRowCount()
  yield* insertBegun(statements, appended, beginnings, deltas)
  if (!(yield* applyProgress(statements, progress))) return yield* new UnexpectedRowCount()

  const unheld = round.filter(({ entry }) => entry._tag === "Ended")
  const inserted = yield* statements.insertEnded.run(endedRows(unheld))
  // Runs that were stored before are among the running ones.
  const running = inserted === unheld.length ? round.filter(({ entry }) => entry._tag === "Settled") : round
  yield* statements.requeueDeliveries.run(requeueRows(running))
  const ended = yield* statements.endRuns.run(endRows(running))
  if (inserted + ended !== round.length) return yield* new UnexpectedRowCount()
  yield* statements.deleteWaitsOfRuns.run(durableRows(round))
  for (const { entry, logs } of round) deltas.addEndedRun(entry.run, storedBytes(entry.run, logs))

  yield* writeCounts(statements, deltas)
  return entries.map(() => true)
})

/**
 * As `applyAll`, with one statement. Its parts do not see each other's changes, so the part that ends a run would not see
 * its start. A batch in which a run does both fails, and the caller applies it with separate statements.
 */
const applyCombined = Effect.fnUntraced(function* (
  statements: JournalStatements,
  combined: NonNullable<JournalStatements["combined"]>,
  { beginnings, advanced, progress, round }: CombinedBatch,
  lease: Rows
): Effect.fn.Return<void, SqlError.SqlError | UnexpectedRowCount> {
  // A run that starts and ends in this batch is inserted as an ended run.
  const endedHere = new Set(round.flatMap(({ entry }) => (entry._tag === "Ended" ? [entry.run.run_id] : [])))
  const begun = beginnings.filter((entry) => entry._tag === "Appended" || !endedHere.has(entry.run.run_id))
  const changedHere = new Set([...advanced, ...round.map(({ entry }) => entry.run.run_id)])
  const isIndependent = changedHere.size === advanced.size + round.length
  if (!isIndependent || begun.some((entry) => startsAnyOf(entry, changedHere))) return yield* new UnexpectedRowCount()

  const deltas = new CountDeltas()
  const appended = [...begun.filter((entry) => entry._tag === "Appended"), ...followUps(round)]
  const { runs, deliveries } = begunRows(appended, begun, deltas)
  for (const { entry, logs } of round) deltas.addEndedRun(entry.run, storedBytes(entry.run, logs))
  const insertEvents = statements.insertEvents.part(eventRows(appended))
  const insertEnded = statements.insertEnded.part(endedRows(round))
  const requeue = statements.requeueDeliveries.part(requeueRows(round))
  const endRuns = statements.endRuns.part(endRows(round))
  const insertSteps = statements.insertSteps.part(progress.steps)
  const saveWaits = statements.saveWaits.part(progress.waits)
  const suspendDeliveries = statements.suspendDeliveries.part(progress.suspensions)
  const suspendRuns = statements.suspendRuns.part(progress.suspensions)
  const parts = [
    statements.renewLeases.part(lease),
    insertEvents,
    statements.insertRuns.part(runs),
    statements.insertDeliveries.part(deliveries),
    insertEnded,
    requeue,
    endRuns,
    insertSteps,
    statements.countSteps.part(progress.stepCounts),
    saveWaits,
    statements.deleteWaits.part(progress.endedWaits),
    statements.deleteWaitsOfRuns.part(durableRows(round)),
    suspendDeliveries,
    suspendRuns,
    statements.countEvents.part(deltas.eventRows()),
    statements.countRuns.part(deltas.runRows())
  ]
  const retried = round.filter(({ entry }) => entry._tag === "Settled" && entry.next !== null)
  yield* combined(parts, [
    { parts: [insertEvents], rows: appended.length },
    // Must precede the end of the runs.
    { parts: [requeue], rows: retried.length },
    { parts: [insertEnded, endRuns], rows: round.length },
    { parts: [insertSteps], rows: progress.counts.steps },
    { parts: [saveWaits], rows: progress.counts.waits },
    // Must precede the suspension of the runs.
    { parts: [suspendDeliveries], rows: progress.counts.suspensions },
    { parts: [suspendRuns], rows: progress.counts.suspensions }
  ])
})

/** Applies a batch. Returns true for each entry that took effect. */
export const applyEach = Effect.fnUntraced(function* (
  statements: JournalStatements,
  entries: ReadonlyArray<JournalEntry>
): Effect.fn.Return<ReadonlyArray<boolean>, SqlError.SqlError> {
  const counted = entries.map(() => true)
  const deltas = new CountDeltas()
  for (const { beginnings, advances, endings } of segments(entries)) {
    const appended = beginnings.filter((entry) => entry._tag === "Appended")
    yield* appendFresh(statements, appended, beginnings, deltas)

    for (const { index, entry } of advances) counted[index] = yield* advanceEach(statements, entry)

    for (const round of rounds(endings)) {
      const over = yield* endEach(statements, round)
      for (const { index, entry, logs } of round) {
        if (over.has(entry.run.run_id)) deltas.addEndedRun(entry.run, storedBytes(entry.run, logs))
        else counted[index] = false
      }
      yield* appendFresh(statements, followUps(round.filter(({ entry }) => over.has(entry.run.run_id))), [], deltas)
    }
  }
  yield* writeCounts(statements, deltas)
  return counted
})

/** Stores the events that are new, with their deliveries, and the runs that started without an event. */
const appendFresh = Effect.fnUntraced(function* (
  statements: JournalStatements,
  appended: ReadonlyArray<Appended>,
  beginnings: ReadonlyArray<Beginning>,
  deltas: CountDeltas
): Effect.fn.Return<void, SqlError.SqlError> {
  const returned = yield* statements.insertEvents.returning(eventRows(appended))
  const fresh = new Set<string>(returned.map((row) => row.event_id))
  // For each new event only its first entry.
  const first = appended.filter(({ event }) => fresh.delete(event.event_id))
  yield* insertBegun(statements, first, beginnings, deltas)
})

/** Ends the runs of one round. Returns the ids of the runs that it ended. */
const endEach = Effect.fnUntraced(function* (
  statements: JournalStatements,
  round: ReadonlyArray<IndexedEnding>
): Effect.fn.Return<ReadonlySet<RunId>, SqlError.SqlError> {
  const inserted = yield* statements.insertEnded.returning(endedRows(round))
  const over = new Set(inserted.map((row) => row.run_id))
  const running = round.filter(({ entry }) => !over.has(entry.run.run_id))
  yield* statements.requeueDeliveries.run(requeueRows(running))
  for (const { run_id } of yield* statements.endRuns.returning(endRows(running))) over.add(run_id)
  yield* statements.deleteWaitsOfRuns.run(durableRows(round.filter(({ entry }) => over.has(entry.run.run_id))))
  return over
})

/** Stores the progress of one run. Returns false if the run does not hold its delivery. */
const advanceEach = Effect.fnUntraced(function* (
  statements: JournalStatements,
  entry: Advanced
): Effect.fn.Return<boolean, SqlError.SqlError> {
  if (!(yield* statements.lockHolder(entry.run, entry.deliveryId))) return false
  yield* applyProgress(statements, entryProgress(entry))
  return true
})

/** Stores progress. Returns false if a row was unexpected: a run does not hold its delivery, or a step is already stored. */
const applyProgress = Effect.fnUntraced(function* (
  statements: JournalStatements,
  { steps, stepCounts, waits, endedWaits, suspensions, counts }: ProgressRows
): Effect.fn.Return<boolean, SqlError.SqlError> {
  const changed = {
    steps: yield* statements.insertSteps.run(steps),
    waits: yield* statements.saveWaits.run(waits)
  }
  yield* statements.countSteps.run(stepCounts)
  yield* statements.deleteWaits.run(endedWaits)
  const released = yield* statements.suspendDeliveries.run(suspensions)
  yield* statements.suspendRuns.run(suspensions)
  return changed.steps === counts.steps && changed.waits === counts.waits && released === counts.suspensions
})

/** Inserts the runs and deliveries of appended events, and the runs that started without an event. */
const insertBegun = Effect.fnUntraced(function* (
  statements: JournalStatements,
  appended: ReadonlyArray<Appended>,
  beginnings: ReadonlyArray<Beginning>,
  deltas: CountDeltas
): Effect.fn.Return<void, SqlError.SqlError> {
  const { runs, deliveries } = begunRows(appended, beginnings, deltas)
  yield* statements.insertRuns.run(runs)
  yield* statements.insertDeliveries.run(deliveries)
})

const begunRows = (appended: ReadonlyArray<Appended>, beginnings: ReadonlyArray<Beginning>, deltas: CountDeltas) => {
  const deliveries: Rows = []
  const runs: Rows = []
  for (const entry of appended) {
    deltas.addEvent(entry.event)
    for (const { delivery, run } of entry.deliveries) {
      if (run === null) deliveryRow.append(deliveries, toDeliveryRow(delivery))
      else startRow.append(runs, toStartRow(run, delivery))
    }
  }
  for (const entry of beginnings) if (entry._tag === "Started") startRow.append(runs, toStartRow(entry.run, null))
  return { runs, deliveries }
}

const writeCounts = Effect.fnUntraced(function* (statements: JournalStatements, deltas: CountDeltas) {
  yield* statements.countEvents.run(deltas.eventRows())
  yield* statements.countRuns.run(deltas.runRows())
})

/** Returns the events about the ends of the runs as entries. */
const followUps = (round: ReadonlyArray<IndexedEnding>): ReadonlyArray<Appended> =>
  round.flatMap(({ entry }): ReadonlyArray<Appended> => {
    if (entry._tag !== "Settled" || entry.followUp === undefined) return []
    const { event, deliveries } = entry.followUp
    return [{ _tag: "Appended", event, deliveries: deliveries.map((delivery) => ({ delivery, run: null })) }]
  })

const eventRows = (appended: ReadonlyArray<Appended>): Rows => eventRow.encode(appended.map(({ event }) => event))

/** Returns rows of durable runs, whose waits end with them. */
const durableRows = (round: ReadonlyArray<IndexedEnding>): Rows =>
  runKeyRow.encode(round.flatMap(({ entry: { run } }) => (run.activations === null ? [] : [run])))

/** Returns rows of runs without a delivery. Most of them end before their start is stored. */
const endedRows = (round: ReadonlyArray<IndexedEnding>): Rows =>
  endedRow.encode(round.filter(({ entry }) => entry._tag === "Ended").map(toEnd))

const endRows = (round: ReadonlyArray<IndexedEnding>): Rows => endRow.encode(round.map(toEnd))

const toEnd = ({ entry, logs }: IndexedEnding) =>
  entry._tag === "Settled" ? toEndRow(entry.run, logs, entry.deliveryId, entry.isDead) : toEndRow(entry.run, logs, null)

const requeueRows = (round: ReadonlyArray<IndexedEnding>): Rows => {
  const rows: Rows = []
  for (const { entry } of round) {
    if (entry._tag !== "Settled" || entry.next === null) continue
    requeueRow.append(rows, toRequeueRow(entry.run, entry.deliveryId, entry.next))
  }
  return rows
}

interface CombinedBatch {
  readonly beginnings: ReadonlyArray<Beginning>
  /** Runs with progress. */
  readonly advanced: ReadonlySet<RunId>
  readonly progress: ProgressRows
  readonly round: ReadonlyArray<IndexedEnding>
}

interface Segment {
  readonly beginnings: Array<Beginning>
  readonly advances: Array<IndexedAdvance>
  readonly endings: Array<IndexedEnding>
}

/** Splits the batch where a run starts or advances that ended earlier in it, or starts that advanced. */
const segments = (entries: ReadonlyArray<JournalEntry>): readonly [Segment, ...ReadonlyArray<Segment>] => {
  const first: Segment = { beginnings: [], advances: [], endings: [] }
  const others: Array<Segment> = []
  let current = first
  /** Runs that advanced or ended in the current segment. */
  const changed = new Set<RunId>()
  const ended = new Set<RunId>()
  const split = () => {
    current = { beginnings: [], advances: [], endings: [] }
    others.push(current)
    changed.clear()
    ended.clear()
  }
  entries.forEach((entry, index) => {
    if (entry._tag === "Ended" || entry._tag === "Settled") {
      current.endings.push({ index, entry, logs: logsText(entry.logs) })
      changed.add(entry.run.run_id)
      ended.add(entry.run.run_id)
    } else if (entry._tag === "Advanced") {
      if (ended.has(entry.run.run_id)) split()
      current.advances.push({ index, entry })
      changed.add(entry.run.run_id)
    } else {
      if (changed.size > 0 && startsAnyOf(entry, changed)) split()
      current.beginnings.push(entry)
    }
  })
  return [first, ...others]
}

const startsAnyOf = (entry: Beginning, runs: ReadonlySet<RunId>): boolean =>
  entry._tag === "Started"
    ? runs.has(entry.run.run_id)
    : entry.deliveries.some(({ run }) => run !== null && runs.has(run.run_id))

/** Splits the endings into rounds with each run at most once, so that the first ending of a run is tried first. */
const rounds = (endings: ReadonlyArray<IndexedEnding>): ReadonlyArray<ReadonlyArray<IndexedEnding>> => {
  const all: Array<Array<IndexedEnding>> = []
  const seen = new Map<RunId, number>()
  for (const ending of endings) {
    const runId = ending.entry.run.run_id
    const round = seen.get(runId) ?? 0
    seen.set(runId, round + 1)
    const members = all[round]
    if (members === undefined) all.push([ending])
    else members.push(ending)
  }
  return all
}
