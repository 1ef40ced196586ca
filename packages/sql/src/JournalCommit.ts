/**
 * Applying a batch of journal entries with a handful of statements.
 *
 * Kinds are gathered: first everything that begins, then everything that ends. That is the order in which things
 * happen to a run, so the result is that of one entry after the other, as long as no run ends in the batch before
 * it begins there; where one does, the batch is cut in two.
 *
 * Nearly always every entry counts. So the batch is first applied as if it did, which needs no more from the
 * database than how many rows it touched; if that is not what was expected, the transaction is rolled back and
 * the batch applied again, asking for each row.
 */
import type { JournalEntry, RunId } from "@weft/core"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { NotAllCount, type Rows } from "./Dialect.ts"
import {
  addDelivery,
  addEnd,
  addEnded,
  addEvent,
  addGivenBack,
  addStart,
  type JournalStatements,
  logsText,
  storedBytes
} from "./JournalStatements.ts"
import { Tally } from "./Tally.ts"

type Appended = Extract<JournalEntry, { _tag: "Appended" }>
type Beginning = Extract<JournalEntry, { _tag: "Appended" | "Started" }>
type Ending = Extract<JournalEntry, { _tag: "Ended" | "Settled" }>

interface Numbered {
  readonly index: number
  readonly entry: Ending
  /** The text of what the run logged. */
  readonly logs: string | null
}

/** Applies a batch in which every entry counts, with the rows of `lease`; fails, in the midst of it, where one does not. */
export const applyAll = Effect.fnUntraced(function* (
  statements: JournalStatements,
  entries: ReadonlyArray<JournalEntry>,
  lease: Rows = []
): Effect.fn.Return<ReadonlyArray<boolean>, SqlError.SqlError | NotAllCount> {
  const [segment, ...others] = segments(entries)
  const [round = [], ...repeats] = rounds(segment.endings)
  if (others.length > 0 || repeats.length > 0) return yield* new NotAllCount()
  const { beginnings } = segment
  const { together } = statements
  if (together !== null) {
    yield* applyTogether(statements, together, beginnings, round, lease)
    return entries.map(() => true)
  }
  const tally = new Tally()
  yield* statements.renewLeases.run(lease)
  const appended = beginnings.filter((entry) => entry._tag === "Appended")
  if ((yield* statements.insertEvents.run(eventRows(appended))) !== appended.length) return yield* new NotAllCount()
  yield* insertBegun(statements, appended, beginnings, tally)

  const unheld = round.filter(({ entry }) => entry._tag === "Ended")
  const inserted = yield* statements.insertEnded.run(endedRows(unheld))
  // Those that were stored before are among the running ones.
  const running = inserted === unheld.length ? round.filter(({ entry }) => entry._tag === "Settled") : round
  yield* statements.giveBack.run(givenBackRows(running))
  const ended = yield* statements.endRuns.run(endRows(running))
  if (inserted + ended !== round.length) return yield* new NotAllCount()
  for (const { entry, logs } of round) tally.ended(entry.run, storedBytes(entry.run, logs))

  yield* count(statements, tally)
  return entries.map(() => true)
})

/**
 * As `applyAll`, by one statement. Its parts do not see what the others change: that a run begins would not be known
 * to the part that ends it, so a batch in which one does both has to go the other way.
 */
const applyTogether = Effect.fnUntraced(function* (
  statements: JournalStatements,
  together: NonNullable<JournalStatements["together"]>,
  beginnings: ReadonlyArray<Beginning>,
  round: ReadonlyArray<Numbered>,
  lease: Rows
): Effect.fn.Return<void, SqlError.SqlError | NotAllCount> {
  // What ends here is stored whole where nobody knows that it began.
  const endedHere = new Set(round.flatMap(({ entry }) => (entry._tag === "Ended" ? [entry.run.run_id] : [])))
  const begun = beginnings.filter((entry) => entry._tag === "Appended" || !endedHere.has(entry.run.run_id))
  const settledHere = new Set(round.map(({ entry }) => entry.run.run_id))
  if (begun.some((entry) => beginsOneOf(entry, settledHere))) return yield* new NotAllCount()

  const tally = new Tally()
  const appended = begun.filter((entry) => entry._tag === "Appended")
  const { runs, deliveries } = begunRows(appended, begun, tally)
  for (const { entry, logs } of round) tally.ended(entry.run, storedBytes(entry.run, logs))
  const insertEvents = statements.insertEvents.part(eventRows(appended))
  const insertEnded = statements.insertEnded.part(endedRows(round))
  const giveBack = statements.giveBack.part(givenBackRows(round))
  const endRuns = statements.endRuns.part(endRows(round))
  const parts = [
    statements.renewLeases.part(lease),
    insertEvents,
    statements.insertRuns.part(runs),
    statements.insertDeliveries.part(deliveries),
    insertEnded,
    giveBack,
    endRuns,
    statements.countEvents.part(tally.events()),
    statements.countRuns.part(tally.runs())
  ]
  const retried = round.filter(({ entry }) => entry._tag === "Settled" && entry.next !== null)
  yield* together(parts, [
    { parts: [insertEvents], rows: appended.length },
    // Before its runs end.
    { parts: [giveBack], rows: retried.length },
    { parts: [insertEnded, endRuns], rows: round.length }
  ])
})

/** Applies a batch; for each entry, whether it counted. */
export const applyEach = Effect.fnUntraced(function* (
  statements: JournalStatements,
  entries: ReadonlyArray<JournalEntry>
): Effect.fn.Return<ReadonlyArray<boolean>, SqlError.SqlError> {
  const counted = entries.map(() => true)
  const tally = new Tally()
  for (const { beginnings, endings } of segments(entries)) {
    const appended = beginnings.filter((entry) => entry._tag === "Appended")
    const returned = yield* statements.insertEvents.returning(eventRows(appended))
    const fresh = new Set<string>(returned.map((row) => row.event_id))
    // For each new event the entry that stored it, which is the first.
    yield* insertBegun(
      statements,
      appended.filter(({ event }) => fresh.delete(event.event_id)),
      beginnings,
      tally
    )

    for (const round of rounds(endings)) {
      const over = yield* endEach(statements, round)
      for (const { index, entry, logs } of round) {
        if (over.has(entry.run.run_id)) tally.ended(entry.run, storedBytes(entry.run, logs))
        else counted[index] = false
      }
    }
  }
  yield* count(statements, tally)
  return counted
})

/** Ends the runs of one round; the ids of those for which it counted. */
const endEach = Effect.fnUntraced(function* (
  statements: JournalStatements,
  round: ReadonlyArray<Numbered>
): Effect.fn.Return<ReadonlySet<RunId>, SqlError.SqlError> {
  const inserted = yield* statements.insertEnded.returning(endedRows(round))
  const over = new Set(inserted.map((row) => row.run_id))
  const running = round.filter(({ entry }) => !over.has(entry.run.run_id))
  yield* statements.giveBack.run(givenBackRows(running))
  for (const { run_id } of yield* statements.endRuns.returning(endRows(running))) over.add(run_id)
  return over
})

/** Stores the runs and deliveries of what was appended, and the runs that started by themselves. */
const insertBegun = Effect.fnUntraced(function* (
  statements: JournalStatements,
  appended: ReadonlyArray<Appended>,
  beginnings: ReadonlyArray<Beginning>,
  tally: Tally
): Effect.fn.Return<void, SqlError.SqlError> {
  const { runs, deliveries } = begunRows(appended, beginnings, tally)
  yield* statements.insertRuns.run(runs)
  yield* statements.insertDeliveries.run(deliveries)
})

const begunRows = (appended: ReadonlyArray<Appended>, beginnings: ReadonlyArray<Beginning>, tally: Tally) => {
  const deliveries: Rows = []
  const runs: Rows = []
  for (const entry of appended) {
    tally.stored(entry.event)
    for (const { delivery, run } of entry.deliveries) {
      if (run === null) addDelivery(deliveries, delivery)
      else addStart(runs, run, delivery)
    }
  }
  for (const entry of beginnings) if (entry._tag === "Started") addStart(runs, entry.run, null)
  return { runs, deliveries }
}

const count = Effect.fnUntraced(function* (statements: JournalStatements, tally: Tally) {
  yield* statements.countEvents.run(tally.events())
  yield* statements.countRuns.run(tally.runs())
})

const eventRows = (appended: ReadonlyArray<Appended>): Rows => {
  const rows: Rows = []
  for (const { event } of appended) addEvent(rows, event)
  return rows
}

/** Of the runs without a delivery: most are over before anybody stored their start. */
const endedRows = (round: ReadonlyArray<Numbered>): Rows => {
  const rows: Rows = []
  for (const { entry, logs } of round) if (entry._tag === "Ended") addEnded(rows, entry.run, logs)
  return rows
}

const endRows = (round: ReadonlyArray<Numbered>): Rows => {
  const rows: Rows = []
  for (const { entry, logs } of round) {
    addEnd(rows, entry.run, logs, entry._tag === "Settled" ? entry.deliveryId : null)
  }
  return rows
}

const givenBackRows = (round: ReadonlyArray<Numbered>): Rows => {
  const rows: Rows = []
  for (const { entry } of round) {
    if (entry._tag === "Settled" && entry.next !== null) addGivenBack(rows, entry.run, entry.deliveryId, entry.next)
  }
  return rows
}

interface Segment {
  readonly beginnings: Array<Beginning>
  readonly endings: Array<Numbered>
}

/** Cuts the batch where a run begins that ended earlier in it. */
const segments = (entries: ReadonlyArray<JournalEntry>): readonly [Segment, ...ReadonlyArray<Segment>] => {
  const first: Segment = { beginnings: [], endings: [] }
  const others: Array<Segment> = []
  let current = first
  const ended = new Set<RunId>()
  entries.forEach((entry, index) => {
    if (entry._tag === "Ended" || entry._tag === "Settled") {
      current.endings.push({ index, entry, logs: logsText(entry.logs) })
      ended.add(entry.run.run_id)
      return
    }
    if (ended.size > 0 && beginsOneOf(entry, ended)) {
      current = { beginnings: [], endings: [] }
      others.push(current)
      ended.clear()
    }
    current.beginnings.push(entry)
  })
  return [first, ...others]
}

const beginsOneOf = (entry: Beginning, runs: ReadonlySet<RunId>): boolean =>
  entry._tag === "Started"
    ? runs.has(entry.run.run_id)
    : entry.deliveries.some(({ run }) => run !== null && runs.has(run.run_id))

/** The endings in rounds that hold each run once, so that the first one of a run decides before the next is tried. */
const rounds = (endings: ReadonlyArray<Numbered>): ReadonlyArray<ReadonlyArray<Numbered>> => {
  const all: Array<Array<Numbered>> = []
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
