/**
 * Applying a batch of journal entries with a handful of statements.
 *
 * Kinds are gathered: first everything that begins, then everything that ends. That is the order in which things
 * happen to a run, so the result is that of one entry after the other, as long as no run ends in the batch before
 * it begins there; where one does, the batch is cut in two.
 */
import type { JournalEntry, RunId } from "@weft/core"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import {
  deliveryRow,
  endedRow,
  endRow,
  eventRow,
  giveBackRow,
  type JournalStatements,
  type Row,
  startRow
} from "./JournalStatements.ts"
import { Tally } from "./Tally.ts"

type Appended = Extract<JournalEntry, { _tag: "Appended" }>
type Beginning = Extract<JournalEntry, { _tag: "Appended" | "Started" }>
type Ending = Extract<JournalEntry, { _tag: "Ended" | "Settled" }>
type Numbered = { readonly index: number; readonly entry: Ending }

/** Applies the entries in the transaction of the caller; for each, whether it counted. */
export const applyEntries = Effect.fnUntraced(function* (
  statements: JournalStatements,
  entries: ReadonlyArray<JournalEntry>
): Effect.fn.Return<ReadonlyArray<boolean>, SqlError.SqlError> {
  const counted = entries.map(() => true)
  const tally = new Tally()
  for (const { beginnings, endings } of segments(entries)) {
    if (beginnings.length > 0) yield* begin(statements, beginnings, tally)
    for (const round of rounds(endings)) {
      const over = yield* end(statements, round)
      for (const { index, entry } of round) {
        if (over.has(entry.run.run_id)) tally.ended(entry.run)
        else counted[index] = false
      }
    }
  }
  yield* statements.countEvents(tally.events())
  yield* statements.countRuns(tally.runs())
  return counted
})

/** Cuts the batch where a run begins that ended earlier in it. */
const segments = (entries: ReadonlyArray<JournalEntry>) => {
  const all: Array<{ beginnings: Array<Beginning>; endings: Array<Numbered> }> = []
  let current = { beginnings: [] as Beginning[], endings: [] as Numbered[] }
  let ended = new Set<RunId>()
  entries.forEach((entry, index) => {
    if (entry._tag === "Ended" || entry._tag === "Settled") {
      current.endings.push({ index, entry })
      ended.add(entry.run.run_id)
      return
    }
    if (ended.size > 0 && begins(entry).some((runId) => ended.has(runId))) {
      all.push(current)
      current = { beginnings: [], endings: [] }
      ended = new Set()
    }
    current.beginnings.push(entry)
  })
  all.push(current)
  return all
}

const begins = (entry: Beginning): ReadonlyArray<RunId> =>
  entry._tag === "Started"
    ? [entry.run.run_id]
    : entry.deliveries.flatMap(({ run }) => (run === null ? [] : [run.run_id]))

const begin = Effect.fnUntraced(function* (
  statements: JournalStatements,
  beginnings: ReadonlyArray<Beginning>,
  tally: Tally
): Effect.fn.Return<void, SqlError.SqlError> {
  const appended = beginnings.filter((entry) => entry._tag === "Appended")
  const returned = yield* statements.insertEvents(appended.map(({ event }) => eventRow(event)))
  const deliveries: Array<Row> = []
  const runs: Array<Row> = []
  for (const entry of firstOf(appended, new Set(returned.map((row) => row.event_id)))) {
    tally.stored(entry.event)
    for (const { delivery, run } of entry.deliveries) {
      if (run === null) deliveries.push(deliveryRow(delivery))
      else runs.push(startRow(run, delivery))
    }
  }
  for (const entry of beginnings) if (entry._tag === "Started") runs.push(startRow(entry.run, null))
  yield* statements.insertRuns(runs)
  yield* statements.insertDeliveries(deliveries)
})

/** For each new event the entry that stored it, which is the first. */
const firstOf = (appended: ReadonlyArray<Appended>, fresh: Set<string>): ReadonlyArray<Appended> =>
  appended.filter(({ event }) => fresh.delete(event.event_id))

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

/** Ends the runs of one round; the ids of those for which it counted. */
const end = Effect.fnUntraced(function* (
  statements: JournalStatements,
  round: ReadonlyArray<Numbered>
): Effect.fn.Return<ReadonlySet<RunId>, SqlError.SqlError> {
  // Most runs without a delivery are over before anybody stored their start.
  const unheld: Array<Row> = []
  for (const { entry } of round) if (entry._tag === "Ended") unheld.push(endedRow(entry.run, entry.logs))
  const over = new Set((yield* statements.insertEnded(unheld)).map((row) => row.run_id))

  const givenBack: Array<Row> = []
  const running: Array<Row> = []
  for (const { entry } of round) {
    if (over.has(entry.run.run_id)) continue
    running.push(endRow(entry.run, entry.logs, entry._tag === "Settled" ? entry.deliveryId : null))
    if (entry._tag === "Settled" && entry.next !== null) {
      givenBack.push(giveBackRow(entry.run, entry.deliveryId, entry.next))
    }
  }
  yield* statements.giveBack(givenBack)
  for (const { run_id } of yield* statements.endRuns(running)) over.add(run_id)
  return over
})
