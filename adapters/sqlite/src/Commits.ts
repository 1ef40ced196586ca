/**
 * Commits of the journal in its thread: a batch of entries, one after the other, in one transaction.
 *
 * Here a statement of one row costs no more than its share of a statement of many rows. It also returns the result of
 * this row. So entries are not grouped, and no fiber is needed.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite"
import { Timestamp } from "@weft/core/adapter"
import {
  CountDeltas,
  endedRow,
  endRow,
  eventRow,
  holderRow,
  type journalStatements,
  type Positions,
  type Rows,
  rowConverter,
  setEnded,
  settledRow,
  stepColumns,
  stepCountRow,
  stepRow,
  textBytes,
  type Value
} from "@weft/sql"
import { entryTags, progressParts } from "./EntryRows.ts"
import type { WriteLock } from "./WriteLock.ts"

const endParameter = (column: keyof typeof endRow.at): string => `?${endRow.at[column] + 1}`

/** The journal's `endRuns` for one row, which needs no join. */
const endRun = `UPDATE runs SET ${setEnded(endParameter)}
  WHERE env_id = ${endParameter("env_id")} AND run_id = ${endParameter("run_id")} AND status = 'running'
    AND delivery_id IS NOT DISTINCT FROM ${endParameter("delivery_id")}
    AND (cleanup_until IS NULL OR ${endParameter("status")} = 'cancelled')`

const isHeld = `SELECT 1 FROM runs
  WHERE env_id = ?1 AND run_id = ?2 AND status = 'running' AND delivery_id = ?3`

const stepParameter = (column: keyof typeof stepRow.at): string => `?${stepRow.at[column] + 1}`

/** The journal's `insertSteps` for one row of a run that holds its delivery. */
const insertStep = `INSERT INTO workflow_steps (env_id, run_id, ${stepColumns.join(", ")})
  VALUES (${(["env_id", "run_id", ...stepColumns] as const).map(stepParameter).join(", ")}) ON CONFLICT DO NOTHING`

const countParameter = (column: keyof typeof stepCountRow.at): string => `?${stepCountRow.at[column] + 1}`

/** The journal's `countSteps` for one row. It changes the run exactly if it holds its delivery. */
const countSteps = `UPDATE runs SET steps = max(coalesce(steps, 0), ${countParameter("steps")})
  WHERE env_id = ${countParameter("env_id")} AND run_id = ${countParameter("run_id")} AND status || '' = 'running'
    AND delivery_id = ${countParameter("delivery_id")}`

const deleteWaits = "DELETE FROM workflow_waits WHERE env_id = ?1 AND run_id = ?2"

const endOfEnded = rowConverter(endedRow, endRow)
const endOfSettled = rowConverter(settledRow, endRow)

export class Commits {
  readonly #database: DatabaseSync
  readonly #lock: Pick<WriteLock, "acquire" | "release">
  readonly #insertEvent: Statement
  readonly #insertRun: Statement
  readonly #insertDelivery: Statement
  readonly #insertEnded: Statement
  readonly #requeueDelivery: Statement
  readonly #endRun: Statement
  readonly #progress: Readonly<Record<(typeof progressParts)[number]["of"], ReadonlyArray<Statement>>>
  readonly #countSteps: Statement
  readonly #isHeld: StatementSync
  readonly #deleteWaitsOfRun: StatementSync
  readonly #countEvents: Statement
  readonly #countRuns: Statement
  readonly #begin: StatementSync
  readonly #commit: StatementSync

  constructor(
    database: DatabaseSync,
    statements: ReturnType<typeof journalStatements>,
    lock: Pick<WriteLock, "acquire" | "release">
  ) {
    const prepare = ({ text, width }: OneRow) => new Statement(database.prepare(text), width)
    this.#database = database
    this.#lock = lock
    this.#insertEvent = prepare(statements.insertEvents.one)
    this.#insertRun = prepare(statements.insertRuns.one)
    this.#insertDelivery = prepare(statements.insertDeliveries.one)
    this.#insertEnded = prepare(statements.insertEnded.one)
    this.#requeueDelivery = prepare(statements.requeueDeliveries.one)
    this.#endRun = prepare({ text: endRun, width: statements.endRuns.one.width })
    this.#progress = {
      steps: [prepare({ text: insertStep, width: stepRow.width })],
      waits: [prepare(statements.saveWaits.one)],
      endedWaits: [prepare(statements.deleteWaits.one)],
      suspensions: [prepare(statements.suspendDeliveries.one), prepare(statements.suspendRuns.one)]
    }
    this.#countSteps = prepare({ text: countSteps, width: stepCountRow.width })
    this.#isHeld = database.prepare(isHeld)
    this.#deleteWaitsOfRun = database.prepare(deleteWaits)
    this.#countEvents = prepare(statements.countEvents.one)
    this.#countRuns = prepare(statements.countRuns.one)
    this.#begin = database.prepare("BEGIN IMMEDIATE")
    this.#commit = database.prepare("COMMIT")
  }

  /** Applies entries in the form of `toRows`. Returns the indexes of entries without effect. Throws the driver's errors. */
  apply(rows: Rows): ReadonlyArray<number> {
    this.#lock.acquire()
    try {
      this.#begin.run()
      const uncounted = this.#applyAll(new Reader(rows))
      this.#commit.run()
      return uncounted
    } catch (cause) {
      // Some failures have already ended the transaction.
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK")
      throw cause
    } finally {
      this.#lock.release()
    }
  }

  #applyAll(rows: Reader): ReadonlyArray<number> {
    const uncounted: Array<number> = []
    const deltas = new CountDeltas()
    for (let index = 0; !rows.isDone; index++) if (!this.#applyNext(rows, deltas)) uncounted.push(index)
    this.#countEvents.runEach(deltas.eventRows())
    this.#countRuns.runEach(deltas.runRows())
    return uncounted
  }

  #applyNext(rows: Reader, deltas: CountDeltas): boolean {
    const tag = rows.take()
    switch (tag) {
      case entryTags.appended:
        this.#append(rows, deltas, true)
        return true
      case entryTags.started:
        this.#insertRun.run(rows.next(this.#insertRun.width))
        return true
      case entryTags.ended:
        return this.#end(rows, deltas)
      case entryTags.settled:
        return this.#settle(rows, deltas, false)
      case entryTags.settledDurable:
        return this.#settle(rows, deltas, true)
      case entryTags.advanced:
        return this.#advance(rows)
      default:
        throw new Error(`Unknown journal entry tag ${tag}`)
    }
  }

  /** Reads an event with its deliveries. Stores them if they are wanted, and the event is new. */
  #append(rows: Reader, deltas: CountDeltas, isWanted: boolean): void {
    const event = rows.next(this.#insertEvent.width)
    const isNew = isWanted && this.#insertEvent.run(event) > 0
    if (isNew) deltas.addEvent(readEventType(event))
    const deliveries = requireNumber(rows.take())
    for (let index = 0; index < deliveries; index++) {
      const insert = rows.take() === 1 ? this.#insertRun : this.#insertDelivery
      const delivery = rows.next(insert.width)
      if (isNew) insert.run(delivery)
    }
  }

  #end(rows: Reader, deltas: CountDeltas): boolean {
    const run = rows.next(this.#insertEnded.width)
    // Inserted as an ended run, unless its start is stored.
    if (this.#insertEnded.run(run) === 0 && this.#endRun.run(endOfEnded(run)) === 0) return false
    countRun(deltas, run, endedRow.at)
    return true
  }

  #settle(rows: Reader, deltas: CountDeltas, isDurable: boolean): boolean {
    const run = rows.next(settledRow.width)
    // Must precede the end of the run, because only a running run holds its delivery.
    if (rows.take() === 1) this.#requeueDelivery.run(rows.next(this.#requeueDelivery.width))
    const isCounted = this.#endRun.run(endOfSettled(run)) > 0
    if (rows.take() === 1) this.#append(rows, deltas, isCounted)
    if (!isCounted) return false
    if (isDurable)
      this.#deleteWaitsOfRun.run(readColumn(run, settledRow.at.env_id), readColumn(run, settledRow.at.run_id))
    countRun(deltas, run, settledRow.at)
    return true
  }

  #advance(rows: Reader): boolean {
    const counted = rows.next(stepCountRow.width)
    const isHeld =
      counted[stepCountRow.at.steps] === 0
        ? this.#isHeld.get(...counted.slice(0, holderRow.width)) !== undefined
        : this.#countSteps.run(counted) > 0
    const counts = progressParts.map(() => requireNumber(rows.take()))
    for (const [index, { of, width }] of progressParts.entries()) {
      for (let n = 0; n < (counts[index] ?? 0); n++) {
        const values = rows.next(width)
        if (isHeld) for (const statement of this.#progress[of]) statement.run(values)
      }
    }
    return isHeld
  }
}

interface OneRow {
  readonly text: string
  readonly width: number
}

/** A prepared statement over one row of `width` values. */
class Statement {
  readonly width: number
  readonly #prepared: StatementSync

  constructor(prepared: StatementSync, width: number) {
    this.#prepared = prepared
    this.width = width
  }

  /** Executes the statement. Returns the number of rows inserted or changed. */
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

  get isDone(): boolean {
    return this.#at >= this.#rows.length
  }

  take(): Value {
    const value = this.#rows[this.#at++]
    if (value === undefined) throw truncated()
    return value
  }

  next(width: number): Rows {
    this.#at += width
    if (this.#at > this.#rows.length) throw truncated()
    return this.#rows.slice(this.#at - width, this.#at)
  }
}

const readColumn = (row: Rows, position: number): string => requireText(row[position])

const readEventType = (event: Rows) => ({
  env_id: requireText(event[eventRow.at.env_id]),
  event_type: requireText(event[eventRow.at.event_type])
})

type CountedColumn = "env_id" | "project_id" | "project_name" | "run_type" | "status" | "start_time" | "result" | "logs"

/** Counts an ended run, given its row and the positions of the columns in it. */
const countRun = (deltas: CountDeltas, row: Rows, at: Positions<CountedColumn>): void =>
  deltas.addEndedRun(
    {
      env_id: requireText(row[at.env_id]),
      project_id: requireText(row[at.project_id]),
      project_name: requireText(row[at.project_name]),
      run_type: requireText(row[at.run_type]),
      status: requireText(row[at.status]),
      start_time: Timestamp.make(requireNumber(row[at.start_time]), { disableChecks: true })
    },
    textBytes(textOrNull(row[at.result]), textOrNull(row[at.logs]))
  )

const truncated = () => new Error("The rows of a commit are truncated")

const requireText = (value: Value | undefined): string => {
  if (typeof value !== "string") throw new Error(`Expected a text in the rows of a commit (got ${typeof value})`)
  return value
}

const textOrNull = (value: Value | undefined): string | null => (value === null ? null : requireText(value))

const requireNumber = (value: Value | undefined): number => {
  if (typeof value !== "number") throw new Error(`Expected a number in the rows of a commit (got ${typeof value})`)
  return value
}
