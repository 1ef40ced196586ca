/** The stored results of durable runs, and the executions of bodies that they reported. */
import type { Query, Row } from "@weft/bench/instruments"
import type { Evidence, StoredEvent, StoredRun } from "./Evidence.ts"
import { bodyType, type FlowPlan, readPlan, signalType } from "./FlowGuest.ts"

/** The recorded result of a request. */
export interface StoredResult {
  readonly position: number
  readonly seq: number
  readonly kind: string
  readonly name: string
  readonly ok: boolean
  readonly attempts: number
  readonly started_at: number
  readonly ended_at: number
  readonly value: unknown
}

/** An execution of the body of a step, as it reported itself. Times in epoch milliseconds. */
export interface Execution {
  readonly execution: string
  readonly name: string
  readonly attempt: number
  readonly began: number
  /** Id and start of the function's call in this stay in an isolate. */
  readonly activation: string
  readonly activated: number
}

export interface DurableRun {
  readonly run: StoredRun
  /** In the order of their positions. */
  readonly results: ReadonlyArray<StoredResult>
  readonly executions: ReadonlyArray<Execution>
}

/** An event of the type `chaos:flow` with everything that belongs to it. */
export interface Flow {
  readonly event: StoredEvent
  readonly plan: FlowPlan
  readonly runs: ReadonlyArray<DurableRun>
  /** Events that start child runs. */
  readonly calls: ReadonlyArray<StoredEvent>
  readonly children: ReadonlyArray<DurableRun>
  readonly signals: ReadonlyArray<StoredEvent>
}

export interface FlowEvidence {
  readonly flows: ReadonlyArray<Flow>
  /** Waits and results that belong to no run, or to one that has ended. */
  readonly orphans: ReadonlyArray<string>
}

/** Returns the field of an object; undefined for anything else. */
export const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined

const toResult = (row: Row): StoredResult => ({
  position: Number(row.position),
  seq: Number(row.seq),
  kind: String(row.kind),
  name: String(row.name),
  ok: Number(row.ok) === 1,
  attempts: Number(row.attempts),
  started_at: Number(row.started_at),
  ended_at: Number(row.ended_at),
  // That of a token is encrypted.
  value: typeof row.result === "string" && row.kind !== "token" ? JSON.parse(row.result) : null
})

const toExecution = ({ data }: StoredEvent): Execution => ({
  execution: String(data.execution),
  name: String(data.name),
  attempt: Number(data.attempt),
  began: Number(data.began),
  activation: String(data.activation),
  activated: Number(data.activated)
})

/** Returns the flow of an event that starts a child run; undefined for other events. */
export const flowOfCall = ({ event_type, data }: StoredEvent): unknown =>
  event_type === "svc:call" && data.fn === "main/child" && Array.isArray(data.args)
    ? fieldOf(data.args[0], "flow")
    : undefined

export const gatherFlows = async (query: Query, { events, runsOfEvent }: Evidence): Promise<FlowEvidence> => {
  const columns = "run_id, position, seq, kind, name, ok, attempts, started_at, ended_at, result"
  const rows = await query(`SELECT ${columns} FROM workflow_steps ORDER BY run_id, position`)
  const results = Map.groupBy(rows, ({ run_id }) => String(run_id))
  const all = [...events.values()]
  const bodies = Map.groupBy(
    all.filter(({ event_type }) => event_type === bodyType),
    ({ data }) => String(data.run_id)
  )
  const signals = Map.groupBy(
    all.filter(({ event_type }) => event_type === signalType),
    ({ data }) => data.flow
  )
  const calls = Map.groupBy(all, flowOfCall)
  const toRuns = ({ event_id }: StoredEvent): ReadonlyArray<DurableRun> =>
    (runsOfEvent.get(event_id) ?? []).map((run) => ({
      run,
      results: (results.get(run.run_id) ?? []).map(toResult),
      executions: (bodies.get(run.run_id) ?? []).map(toExecution)
    }))
  const flows = all.flatMap((event): ReadonlyArray<Flow> => {
    if (event.event_type !== "chaos:flow") return []
    const plan = readPlan(event.data)
    const called = calls.get(plan.n) ?? []
    return [
      {
        ...{ event, plan, calls: called, signals: signals.get(plan.n) ?? [] },
        ...{ runs: toRuns(event), children: called.flatMap(toRuns) }
      }
    ]
  })
  return { flows, orphans: await listOrphans(query) }
}

const listOrphans = async (query: Query): Promise<ReadonlyArray<string>> => {
  const rows = await query(
    `SELECT 'wait' AS what, w.run_id, w.name FROM workflow_waits w
        LEFT JOIN runs r USING (env_id, run_id) WHERE r.status IS DISTINCT FROM 'running'
      UNION ALL SELECT 'result', s.run_id, s.name FROM workflow_steps s
        LEFT JOIN runs r USING (env_id, run_id) WHERE r.run_id IS NULL`
  )
  return rows.map(({ what, run_id, name }) => `${what} ${name} of ${run_id}`)
}
