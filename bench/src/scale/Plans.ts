/**
 * The plans of statements: as they are executed, with what that took, and as the database has them prepared, which is
 * without a look at the parameters.
 */
import { Effect } from "effect"
import type { SqlConnection } from "effect/sql"
import type { Look } from "./Observed.ts"

/** Rows that a table must have so that reading all of them is wrong. */
const largeRows = 2_000

/** Rows that one step of a plan may read. */
export const readMax = 25_000

export interface Planned {
  /** What asked for it. */
  readonly of: string
  readonly text: string
  readonly ms: number
  /** Pages of 8 KiB that it looked at. */
  readonly pages: number
  /** Rows that the busiest of its steps read. */
  readonly read: number
  /** Large tables that it reads from one end to the other: executed now, or by the plan that is prepared. */
  readonly scanned: ReadonlyArray<string>
  readonly plan: string
}

interface Step {
  readonly "Node Type": string
  readonly "Relation Name"?: string
  readonly "Actual Rows"?: number
  readonly "Actual Loops"?: number
  readonly "Rows Removed by Filter"?: number
  readonly "Shared Hit Blocks"?: number
  readonly "Shared Read Blocks"?: number
  readonly Plans?: ReadonlyArray<Step>
}

interface Explained {
  readonly Plan: Step
  readonly "Execution Time"?: number
}

/** Keeps the plans of what is asked for while `during` runs. */
export const planKeeper = (large: ReadonlySet<string>) => {
  const plans: Array<Planned> = []
  const generic = new Map<string, ReadonlyArray<string>>()
  let of: string | undefined

  const look: Look = (connection, text, parameters) => {
    if (of === undefined || !/^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b/i.test(text)) return Effect.void
    const what = of
    return Effect.gen(function* () {
      const control = (command: string) => connection.executeUnprepared(command, [], undefined)
      yield* control("SAVEPOINT looking")
      const known = generic.get(text) ?? scansOf(yield* explain(connection, "GENERIC_PLAN", text, []), large, false)
      generic.set(text, known)
      const actual = yield* explain(connection, "ANALYZE, BUFFERS", text, parameters)
      yield* control("ROLLBACK TO SAVEPOINT looking")
      yield* control("RELEASE SAVEPOINT looking")
      plans.push({
        of: what,
        text,
        ms: actual["Execution Time"] ?? 0,
        pages: (actual.Plan["Shared Hit Blocks"] ?? 0) + (actual.Plan["Shared Read Blocks"] ?? 0),
        read: Math.max(...stepsOf(actual.Plan).map(readOf)),
        scanned: [...scansOf(actual, large, true), ...known.map((name) => `${name} (prepared)`)],
        plan: JSON.stringify(actual.Plan)
      })
    })
  }

  const during = <A, E, R>(name: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      of = name
      return Effect.ensuring(
        effect,
        Effect.sync(() => {
          of = undefined
        })
      )
    })

  return { plans, look, during }
}

export type PlanKeeper = ReturnType<typeof planKeeper>

/** The tables, partitions by themselves, that are too large to be read as a whole. */
export const largeTables = (ask: (text: string) => Effect.Effect<ReadonlyArray<{ readonly name: string }>, unknown>) =>
  Effect.map(
    ask(`SELECT relname::text AS name FROM pg_class
      WHERE relkind = 'r' AND relnamespace = 'weft'::regnamespace AND reltuples >= ${largeRows}`),
    (rows) => new Set(rows.map(({ name }) => name))
  )

const explain = (
  connection: SqlConnection.Connection,
  options: string,
  text: string,
  parameters: ReadonlyArray<unknown>
) =>
  Effect.map(
    connection.executeValuesUnprepared(`EXPLAIN (${options}, FORMAT JSON) ${text}`, parameters),
    ([row]): Explained => {
      const value = row?.[0]
      const [explained]: ReadonlyArray<Explained> = typeof value === "string" ? JSON.parse(value) : value
      if (explained === undefined) throw new Error("EXPLAIN gave nothing")
      return explained
    }
  )

const stepsOf = (step: Step): ReadonlyArray<Step> => [step, ...(step.Plans ?? []).flatMap(stepsOf)]

const readOf = (step: Step): number =>
  ((step["Actual Rows"] ?? 0) + (step["Rows Removed by Filter"] ?? 0)) * (step["Actual Loops"] ?? 0)

const scansOf = (explained: Explained, large: ReadonlySet<string>, executed: boolean): ReadonlyArray<string> =>
  stepsOf(explained.Plan).flatMap((step) => {
    const table = step["Relation Name"]
    if (step["Node Type"] !== "Seq Scan" || table === undefined || !large.has(table)) return []
    return executed && (step["Actual Loops"] ?? 0) === 0 ? [] : [table]
  })
