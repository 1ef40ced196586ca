/**
 * Metrics of the turns, in plain fields.
 *
 * No series has a label per key: keys are ids of tenants. Instead, a histogram counts how much time each key used in an
 * interval, and a gauge shows the share of the busiest key.
 */
import { type AnySeries, Distribution, type Series } from "../../foundation/telemetry/Series.ts"
import { type WorkKind, workKinds } from "./WorkKind.ts"

interface Counts {
  inline: number
  queued: number
  refused: number
  ms: number
}

const waitBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const keyBounds = [0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export class TurnMeter {
  readonly #counts: Readonly<Record<WorkKind, Counts>> = {
    request: zero(),
    host_call: zero(),
    outcome: zero(),
    list: zero(),
    stream: zero(),
    durable: zero()
  }
  readonly #wait = new Distribution(waitBounds)
  readonly #perKey = new Distribution(keyBounds)
  #busiestShare = 0

  ran(kind: WorkKind, ms: number): void {
    const counts = this.#counts[kind]
    counts.inline++
    counts.ms += ms
  }

  ranAfterWait(kind: WorkKind, ms: number, waitedMs: number): void {
    const counts = this.#counts[kind]
    counts.queued++
    counts.ms += ms
    this.#wait.add(waitedMs / 1000)
  }

  refused(kind: WorkKind): void {
    this.#counts[kind].refused++
  }

  /** Records the time that each key used in an interval, in milliseconds. */
  reportKeys(times: ReadonlyArray<number>): void {
    let total = 0
    let most = 0
    for (const ms of times) {
      this.#perKey.add(ms / 1000)
      total += ms
      most = Math.max(most, ms)
    }
    this.#busiestShare = total === 0 ? 0 : most / total
  }

  read(queued: number, keys: number): ReadonlyArray<AnySeries> {
    return [
      gauge("weft_turns_waiting", "Pieces of work that wait for their turn", queued),
      gauge("weft_turns_keys_waiting", "Environments and connections with work that waits for its turn", keys),
      gauge(
        "weft_turns_busiest_share",
        "Share of the environment or connection that used most time in the last interval, 0 to 1",
        this.#busiestShare
      ),
      this.#perKey.series("weft_turns_key_seconds", "Time that one environment or connection used in about 10 seconds"),
      this.#wait.series("weft_turns_wait_seconds", "Time that work waited for its turn, without work that ran at once"),
      ...workKinds.flatMap((kind) => readCounts(kind, this.#counts[kind]))
    ]
  }
}

const zero = (): Counts => ({ inline: 0, queued: 0, refused: 0, ms: 0 })

const readCounts = (kind: WorkKind, { inline, queued, refused, ms }: Counts): ReadonlyArray<Series> => {
  const ran = (how: string, value: number) =>
    counter("weft_turns_work_total", "Pieces of work by kind, run at once or after a wait", { kind, ran: how }, value)
  return [
    ran("at_once", inline),
    ran("after_wait", queued),
    counter(
      "weft_turns_refused_total",
      "Pieces of work refused because the queue of their key was full",
      { kind },
      refused
    ),
    counter("weft_turns_seconds_total", "Time of the event loop that the work used", { kind }, ms / 1000)
  ]
}

const gauge = (name: string, help: string, value: number): Series => ({ type: "gauge", name, help, labels: {}, value })

const counter = (name: string, help: string, labels: Series["labels"], value: number): Series => ({
  type: "counter",
  name,
  help,
  labels,
  value
})
