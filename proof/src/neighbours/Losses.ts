/** Compares the innocent tenant's runs with its events and with the ticks of its schedule. */
import { setTimeout as sleep } from "node:timers/promises"
import { Schema } from "effect"
import { tickMs } from "./innocentCode.ts"
import type { Published } from "./Messages.ts"

const Run = Schema.Struct({
  event_id: Schema.NullOr(Schema.String),
  status: Schema.String,
  start_time: Schema.String,
  stop_time: Schema.NullOr(Schema.String),
  result: Schema.Unknown
})
export type InnocentRun = typeof Run.Type

const Page = Schema.fromJsonString(
  Schema.Struct({ data: Schema.Array(Run), pagination: Schema.Struct({ has_more: Schema.Boolean }) })
)

const pageSize = 100

/** Maximum time for the events of the innocent tenant to be handled after the attack, in milliseconds. */
const settleMs = 30_000

export interface InnocentRuns {
  readonly ofEvents: ReadonlyArray<InnocentRun>
  readonly ofTicks: ReadonlyArray<InnocentRun>
}

/** Reads the runs when every acknowledged event has an ended run, or after 30 s. */
export const readRuns = async (url: string, key: string, events: ReadonlyArray<Published>): Promise<InnocentRuns> => {
  const until = performance.now() + settleMs
  for (;;) {
    const ofEvents = await readAll(url, key, "event")
    const ended = new Set(ofEvents.flatMap(({ event_id, stop_time }) => (stop_time === null ? [] : [event_id])))
    if (events.every(({ event_id }) => event_id === null || ended.has(event_id)) || performance.now() > until)
      return { ofEvents, ofTicks: await readAll(url, key, "schedule") }
    await sleep(200)
  }
}

const readAll = async (url: string, key: string, type: "event" | "schedule"): Promise<ReadonlyArray<InnocentRun>> => {
  const runs: Array<InnocentRun> = []
  for (let offset = 0; ; offset += pageSize) {
    const response = await fetch(`${url}/v1/runs?type=${type}&limit=${pageSize}&offset=${offset}`, {
      headers: { authorization: `Bearer ${key}` }
    })
    const { data, pagination } = Schema.decodeUnknownSync(Page)(await response.text())
    runs.push(...data)
    if (!pagination.has_more) return runs
  }
}

/** Lists the events that did not run exactly once with the right result. */
export const lostEvents = (
  events: ReadonlyArray<Published>,
  runs: ReadonlyArray<InnocentRun>
): ReadonlyArray<string> => {
  const byEvent = Map.groupBy(runs, ({ event_id }) => event_id)
  return events.flatMap(({ n, event_id, fault }) => {
    if (event_id === null) return [`event ${n} was refused: ${fault}`]
    const found = byEvent.get(event_id) ?? []
    const [run] = found
    if (run === undefined || found.length > 1) return [`event ${n} has ${found.length} runs`]
    if (run.status !== "succeeded") return [`the run of event ${n} is ${run.status}: ${JSON.stringify(run.result)}`]
    return Schema.is(EventResult)(run.result) && run.result.n === n ? [] : [`event ${n} has a wrong result`]
  })
}

const EventResult = Schema.Struct({ n: Schema.Int })
const TickResult = Schema.Struct({ tick: Schema.String })

/** Lists the seconds between two times, in milliseconds since 1970, that have not exactly one tick. */
export const lostTicks = (from: number, to: number, runs: ReadonlyArray<InnocentRun>): ReadonlyArray<string> => {
  const counts = new Map<number, number>()
  for (const { status, result } of runs) {
    if (status !== "succeeded" || !Schema.is(TickResult)(result)) continue
    const tick = Date.parse(result.tick)
    counts.set(tick, (counts.get(tick) ?? 0) + 1)
  }
  const lost: Array<string> = []
  for (let tick = Math.ceil(from / tickMs) * tickMs; tick <= to; tick += tickMs) {
    const count = counts.get(tick) ?? 0
    if (count !== 1) lost.push(`the tick of ${new Date(tick).toISOString()} has ${count} runs`)
  }
  return lost
}

/** Returns the longest time from publishing an event to the end of its run, in milliseconds. */
export const slowestEventMs = (events: ReadonlyArray<Published>, runs: ReadonlyArray<InnocentRun>): number => {
  const ends = new Map(runs.map(({ event_id, stop_time }) => [event_id, Date.parse(stop_time ?? "")]))
  return Math.max(
    0,
    ...events.map(({ at, event_id }) => (ends.get(event_id) ?? Number.NaN) - at).filter((ms) => !Number.isNaN(ms))
  )
}
