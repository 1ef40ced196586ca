/**
 * Query plans of executed statements with their costs. Each statement has two plans: the generic plan of the prepared
 * statement, which ignores the parameters, and the custom plan.
 */
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { Inspect } from "./InspectedClient.ts"

/** Minimum rows of a table that must not be scanned. */
const largeRows = 2_000

/** Maximum rows that one step of a plan may read. */
export const readMax = 25_000

export interface Planned {
  /** The store method that sent the statement. */
  readonly of: string
  readonly text: string
  readonly ms: number
  /** Pages of 8 KiB that it read. */
  readonly pages: number
  /** Maximum rows that one of its steps read. */
  readonly read: number
  /** Large tables that one of the two plans scans. */
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

/** Records the plans of all statements that are sent while `during` runs. */
export const planRecorder = (large: ReadonlySet<string>) => {
  const plans: Array<Planned> = []
  let of: string | undefined
  let statements = 0

  const inspect: Inspect = (connection, text, parameters) => {
    if (of === undefined || !/^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b/i.test(text)) return Effect.void
    const what = of
    const query = (statement: string, values: ReadonlyArray<unknown> = []) =>
      connection.executeValuesUnprepared(statement, values)
    const prepared = `inspected_${++statements}`
    const explain = Effect.gen(function* () {
      const custom = parseExplain(yield* query(`EXPLAIN (FORMAT JSON) ${text}`, parameters))
      const literals = yield* toLiterals(query, parameters)
      yield* query(`SET LOCAL plan_cache_mode = force_generic_plan`)
      yield* query(`PREPARE ${prepared} AS ${text}`)
      const call = parameters.length === 0 ? prepared : `${prepared} (${literals.join(",")})`
      const actual = parseExplain(yield* query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE ${call}`))
      plans.push({
        of: what,
        text,
        ms: actual["Execution Time"] ?? 0,
        pages: (actual.Plan["Shared Hit Blocks"] ?? 0) + (actual.Plan["Shared Read Blocks"] ?? 0),
        read: Math.max(...listSteps(actual.Plan).map(countRead)),
        scanned: [...new Set([...listScans(actual, large), ...listScans(custom, large)])],
        plan: JSON.stringify(actual.Plan)
      })
    })
    return query("SAVEPOINT inspecting").pipe(
      // A statement that fails here fails again when it is executed.
      Effect.andThen(Effect.ignore(explain)),
      Effect.andThen(query("ROLLBACK TO SAVEPOINT inspecting")),
      Effect.andThen(query("RELEASE SAVEPOINT inspecting"))
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

  return { plans, inspect, during }
}

export type PlanRecorder = ReturnType<typeof planRecorder>

/** Finds tables and partitions that are too large for a scan. */
export const largeTables = (
  query: (text: string) => Effect.Effect<ReadonlyArray<{ readonly name: string }>, unknown>
) =>
  Effect.map(
    query(`SELECT relname::text AS name FROM pg_class
      WHERE relkind = 'r' AND relnamespace = 'weft'::regnamespace AND reltuples >= ${largeRows}`),
    (rows) => new Set(rows.map(({ name }) => name))
  )

/** Formats parameters as SQL literals. */
const toLiterals = (
  query: (
    text: string,
    values: ReadonlyArray<unknown>
  ) => Effect.Effect<ReadonlyArray<ReadonlyArray<unknown>>, SqlError.SqlError>,
  parameters: ReadonlyArray<unknown>
) =>
  parameters.length === 0
    ? Effect.succeed([])
    : Effect.map(
        query(`SELECT ${parameters.map((_, index) => `quote_nullable($${index + 1}::text)`).join(",")}`, parameters),
        ([row]) => row ?? []
      )

const parseExplain = ([row]: ReadonlyArray<ReadonlyArray<unknown>>): Explained => {
  const value = row?.[0]
  const [explained] = decodeExplained(typeof value === "string" ? value : JSON.stringify(value))
  if (explained === undefined) throw new Error("EXPLAIN returned no plan")
  return explained
}

const decodeExplained = (text: string): ReadonlyArray<Explained> => JSON.parse(text)

const listSteps = (step: Step): ReadonlyArray<Step> => [step, ...(step.Plans ?? []).flatMap(listSteps)]

const countRead = (step: Step): number =>
  ((step["Actual Rows"] ?? 0) + (step["Rows Removed by Filter"] ?? 0)) * (step["Actual Loops"] ?? 0)

/** Lists scans of large tables, including steps that were not executed. */
const listScans = (explained: Explained, large: ReadonlySet<string>): ReadonlyArray<string> =>
  listSteps(explained.Plan).flatMap((step) => {
    const table = step["Relation Name"]
    return step["Node Type"] === "Seq Scan" && table !== undefined && large.has(table) ? [table] : []
  })
