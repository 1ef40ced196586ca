/**
 * The plans of statements as they are executed, with what that took: the one that the database keeps for a prepared
 * statement, which is made without a look at the parameters, and the one that it makes for these.
 */
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
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
  /** Large tables that one of the two plans reads from one end to the other. */
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
  let of: string | undefined
  let statements = 0

  const look: Look = (connection, text, parameters) => {
    if (of === undefined || !/^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b/i.test(text)) return Effect.void
    const what = of
    const ask = (statement: string, values: ReadonlyArray<unknown> = []) =>
      connection.executeValuesUnprepared(statement, values)
    const prepared = `looked_at_${++statements}`
    const explain = Effect.gen(function* () {
      const custom = explainedOf(yield* ask(`EXPLAIN (FORMAT JSON) ${text}`, parameters))
      const literals = yield* literalsOf(ask, parameters)
      yield* ask(`SET LOCAL plan_cache_mode = force_generic_plan`)
      yield* ask(`PREPARE ${prepared} AS ${text}`)
      const call = parameters.length === 0 ? prepared : `${prepared} (${literals.join(",")})`
      const actual = explainedOf(yield* ask(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE ${call}`))
      plans.push({
        of: what,
        text,
        ms: actual["Execution Time"] ?? 0,
        pages: (actual.Plan["Shared Hit Blocks"] ?? 0) + (actual.Plan["Shared Read Blocks"] ?? 0),
        read: Math.max(...stepsOf(actual.Plan).map(readOf)),
        scanned: [...new Set([...scansOf(actual, large), ...scansOf(custom, large)])],
        plan: JSON.stringify(actual.Plan)
      })
    })
    return ask("SAVEPOINT looking").pipe(
      // A statement that is to fail does so when it is executed.
      Effect.andThen(Effect.ignore(explain)),
      Effect.andThen(ask("ROLLBACK TO SAVEPOINT looking")),
      Effect.andThen(ask("RELEASE SAVEPOINT looking"))
    )
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

/** The parameters as the database writes them. */
const literalsOf = (
  ask: (
    text: string,
    values: ReadonlyArray<unknown>
  ) => Effect.Effect<ReadonlyArray<ReadonlyArray<unknown>>, SqlError.SqlError>,
  parameters: ReadonlyArray<unknown>
) =>
  parameters.length === 0
    ? Effect.succeed([])
    : Effect.map(
        ask(`SELECT ${parameters.map((_, index) => `quote_nullable($${index + 1}::text)`).join(",")}`, parameters),
        ([row]) => row ?? []
      )

const explainedOf = ([row]: ReadonlyArray<ReadonlyArray<unknown>>): Explained => {
  const value = row?.[0]
  const [explained] = decodeExplained(typeof value === "string" ? value : JSON.stringify(value))
  if (explained === undefined) throw new Error("EXPLAIN gave nothing")
  return explained
}

const decodeExplained = (text: string): ReadonlyArray<Explained> => JSON.parse(text)

const stepsOf = (step: Step): ReadonlyArray<Step> => [step, ...(step.Plans ?? []).flatMap(stepsOf)]

const readOf = (step: Step): number =>
  ((step["Actual Rows"] ?? 0) + (step["Rows Removed by Filter"] ?? 0)) * (step["Actual Loops"] ?? 0)

/** Also those that were not needed for these parameters. */
const scansOf = (explained: Explained, large: ReadonlySet<string>): ReadonlyArray<string> =>
  stepsOf(explained.Plan).flatMap((step) => {
    const table = step["Relation Name"]
    return step["Node Type"] === "Seq Scan" && table !== undefined && large.has(table) ? [table] : []
  })
