/**
 * Commits of the journal, in the journal's thread: a batch of entries, one after the other, in one transaction.
 *
 * A statement of one row costs no more here than its share of one of many rows, and says what came of that row. So
 * there is nothing to gather, and no fiber for any of it.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite"
import { Timestamp } from "@weft/core"
import { type journalStatements, type Rows, storedBytesOf, Tally, type Value } from "@weft/sql"
import { entryTags } from "./EntryRows.ts"
import type { WriteTurn } from "./WriteTurn.ts"

/** `endRuns` of the journal for one row, which needs no join. */
const endRun = `UPDATE runs SET status = ?4, stop_time = ?5, result = ?6, cpu_ms = ?7, wall_ms = ?8, heap_bytes = ?9,
    logs = ?10, delivery_id = NULL, first_run_id = NULL, terms = NULL, group_key = NULL
  WHERE env_id = ?1 AND run_id = ?2 AND status = 'running' AND delivery_id IS NOT DISTINCT FROM ?3`

export class Commits {
  readonly #database: DatabaseSync
  readonly #turn: Pick<WriteTurn, "begin" | "end">
  readonly #insertEvent: Statement
  readonly #insertRun: Statement
  readonly #insertDelivery: Statement
  readonly #insertEnded: Statement
  readonly #giveBack: Statement
  readonly #endRun: Statement
  readonly #countEvents: Statement
  readonly #countRuns: Statement
  readonly #begin: StatementSync
  readonly #commit: StatementSync

  constructor(
    database: DatabaseSync,
    statements: ReturnType<typeof journalStatements>,
    turn: Pick<WriteTurn, "begin" | "end">
  ) {
    const prepare = ({ text, width }: OneRow) => new Statement(database.prepare(text), width)
    this.#database = database
    this.#turn = turn
    this.#insertEvent = prepare(statements.insertEvents.one)
    this.#insertRun = prepare(statements.insertRuns.one)
    this.#insertDelivery = prepare(statements.insertDeliveries.one)
    this.#insertEnded = prepare(statements.insertEnded.one)
    this.#giveBack = prepare(statements.giveBack.one)
    this.#endRun = prepare({ text: endRun, width: statements.endRuns.one.width })
    this.#countEvents = prepare(statements.countEvents.one)
    this.#countRuns = prepare(statements.countRuns.one)
    this.#begin = database.prepare("BEGIN IMMEDIATE")
    this.#commit = database.prepare("COMMIT")
  }

  /** Applies the entries that `toRows` gave; the places of those that did not count. Throws what the driver throws. */
  apply(rows: Rows): ReadonlyArray<number> {
    this.#turn.begin()
    try {
      this.#begin.run()
      const uncounted = this.#applyAll(new Reader(rows))
      this.#commit.run()
      return uncounted
    } catch (cause) {
      // Some failures have ended the transaction already.
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK")
      throw cause
    } finally {
      this.#turn.end()
    }
  }

  #applyAll(rows: Reader): ReadonlyArray<number> {
    const uncounted: Array<number> = []
    const tally = new Tally()
    for (let index = 0; !rows.isOver; index++) if (!this.#applyNext(rows, tally)) uncounted.push(index)
    this.#countEvents.runEach(tally.events())
    this.#countRuns.runEach(tally.runs())
    return uncounted
  }

  #applyNext(rows: Reader, tally: Tally): boolean {
    const tag = rows.take()
    switch (tag) {
      case entryTags.appended:
        this.#append(rows, tally)
        return true
      case entryTags.started:
        this.#insertRun.run(rows.next(this.#insertRun.width))
        return true
      case entryTags.ended:
        return this.#end(rows, tally)
      case entryTags.settled:
        return this.#settle(rows, tally)
      default:
        throw new Error(`There is no entry ${tag}`)
    }
  }

  #append(rows: Reader, tally: Tally): void {
    const event = rows.next(this.#insertEvent.width)
    const isNew = this.#insertEvent.run(event) > 0
    if (isNew) tally.stored({ env_id: textOf(event[0]), event_type: textOf(event[3]) })
    const deliveries = numberOf(rows.take())
    for (let index = 0; index < deliveries; index++) {
      const insert = rows.take() === 1 ? this.#insertRun : this.#insertDelivery
      const delivery = rows.next(insert.width)
      if (isNew) insert.run(delivery)
    }
  }

  #end(rows: Reader, tally: Tally): boolean {
    const run = rows.next(this.#insertEnded.width)
    const [env_id, run_id, , project_id, project_name, , , , run_type, status, start_time, stop_time] = run
    const [cpu_ms, wall_ms, heap_bytes, result, logs] = run.slice(16)
    // Stored whole, unless its start is stored.
    const end = [env_id, run_id, null, status, stop_time, result, cpu_ms, wall_ms, heap_bytes, logs].map(valueOf)
    if (this.#insertEnded.run(run) === 0 && this.#endRun.run(end) === 0) return false
    count(tally, end, [project_id, project_name, run_type, start_time])
    return true
  }

  #settle(rows: Reader, tally: Tally): boolean {
    const end = rows.next(this.#endRun.width)
    const counted = rows.next(4)
    // Before the run ends, because only a running one holds its delivery.
    if (rows.take() === 1) this.#giveBack.run(rows.next(this.#giveBack.width))
    if (this.#endRun.run(end) === 0) return false
    count(tally, end, counted)
    return true
  }
}

interface OneRow {
  readonly text: string
  readonly width: number
}

/** A prepared statement over one row of so many values. */
class Statement {
  readonly width: number
  readonly #prepared: StatementSync

  constructor(prepared: StatementSync, width: number) {
    this.#prepared = prepared
    this.width = width
  }

  /** How many rows it inserted or changed. */
  run(row: Rows): number {
    return Number(this.#prepared.run(...row).changes)
  }

  runEach(rows: Rows): void {
    for (let at = 0; at < rows.length; at += this.width) this.run(rows.slice(at, at + this.width))
  }
}

class Reader {
  readonly #rows: Rows
  #at = 0

  constructor(rows: Rows) {
    this.#rows = rows
  }

  get isOver(): boolean {
    return this.#at >= this.#rows.length
  }

  take(): Value {
    return valueOf(this.#rows[this.#at++])
  }

  next(count: number): Rows {
    this.#at += count
    return this.#rows.slice(this.#at - count, this.#at)
  }
}

/** `end` as the row of its statement; `counted` what else its run counts as. */
const count = (tally: Tally, end: Rows, counted: ReadonlyArray<Value | undefined>): void => {
  const [env_id, , , status, , result, , , , logs] = end
  const [project_id, project_name, run_type, start_time] = counted
  tally.ended(
    {
      env_id: textOf(env_id),
      project_id: textOf(project_id),
      project_name: textOf(project_name),
      run_type: textOf(run_type),
      status: textOf(status),
      start_time: Timestamp.make(numberOf(start_time), { disableChecks: true })
    },
    storedBytesOf(textOrNull(result), textOrNull(logs))
  )
}

const valueOf = (value: Value | undefined): Value => {
  if (value === undefined) throw new Error("The rows of a commit are cut short")
  return value
}

const textOf = (value: Value | undefined): string => {
  if (typeof value !== "string") throw new Error("A text is missing in the rows of a commit")
  return value
}

const textOrNull = (value: Value | undefined): string | null => (value === null ? null : textOf(value))

const numberOf = (value: Value | undefined): number => {
  if (typeof value !== "number") throw new Error("A number is missing in the rows of a commit")
  return value
}
