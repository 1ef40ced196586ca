/** What a node counts of each host function: its calls by what came of them, and the time that they took. */
import { type AnySeries, Distribution } from "../metrics/Series.ts"

/**
 * - `refused`: by the function itself.
 * - `invalid`: the input was wrong.
 * - `limited`: by its rate, or because too many were waiting.
 * - `failed`: by the host's fault.
 * - `ended`: the run ended before.
 */
export type HostOutcome = "answered" | "refused" | "invalid" | "limited" | "timed_out" | "failed" | "ended"

/** Seconds. */
const bounds = [0.005, 0.025, 0.1, 0.5, 1, 5, 10, 30]

class FunctionMeter {
  readonly outcomes = new Map<HostOutcome, number>()
  readonly seconds = new Distribution(bounds)
  running = 0
}

export class HostMeter {
  readonly #functions = new Map<string, FunctionMeter>()

  constructor(names: Iterable<string>) {
    for (const name of names) this.#functions.set(name, new FunctionMeter())
  }

  /** A call had its turn. */
  began(name: string): void {
    const meter = this.#functions.get(name)
    if (meter !== undefined) meter.running++
  }

  /** What began has ended, also when nobody waited for it any more. */
  ended(name: string, ms: number): void {
    const meter = this.#functions.get(name)
    if (meter === undefined) return
    meter.running--
    meter.seconds.add(ms / 1000)
  }

  count(name: string, outcome: HostOutcome): void {
    const outcomes = this.#functions.get(name)?.outcomes
    outcomes?.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
  }

  read(): ReadonlyArray<AnySeries> {
    const counts: Array<AnySeries> = []
    const times: Array<AnySeries> = []
    const running: Array<AnySeries> = []
    for (const [name, meter] of this.#functions) {
      for (const [outcome, value] of meter.outcomes) {
        const labels = { function: name, outcome }
        const help = "Calls of host functions that have been answered, by what came of them"
        counts.push({ type: "counter", name: "weft_host_calls_total", help, labels, value })
      }
      const labels = { function: name }
      times.push(meter.seconds.series("weft_host_call_seconds", "Time that host functions took", labels))
      const help = "Host functions that go on"
      running.push({ type: "gauge", name: "weft_host_calls_running", help, labels, value: meter.running })
    }
    return [...counts, ...times, ...running]
  }
}
