/** Metrics of host functions on this node: calls by outcome, and their duration. */
import { type AnySeries, Distribution } from "../../../foundation/telemetry/Series.ts"

/**
 * Outcome of a call.
 *
 * - `refused`: by the function, with `HostRefused`.
 * - `invalid`: the input does not match its schema.
 * - `limited`: above its rate, or too many calls were pending.
 * - `failed`: an error of the host.
 * - `ended`: the run ended first.
 */
export type HostCallOutcome = "answered" | "refused" | "invalid" | "limited" | "timed_out" | "failed" | "ended"

/** Bounds of the histogram in seconds. */
const bounds = [0.005, 0.025, 0.1, 0.5, 1, 5, 10, 30]

class FunctionMeter {
  readonly outcomes = new Map<HostCallOutcome, number>()
  readonly seconds = new Distribution(bounds)
  running = 0
}

export class HostMeter {
  readonly #functions = new Map<string, FunctionMeter>()

  constructor(names: Iterable<string>) {
    for (const name of names) this.#functions.set(name, new FunctionMeter())
  }

  /** Counts a running call. */
  countStart(name: string): void {
    const meter = this.#functions.get(name)
    if (meter !== undefined) meter.running++
  }

  /** Counts the end of a running call, also after its timeout. */
  countEnd(name: string, ms: number): void {
    const meter = this.#functions.get(name)
    if (meter === undefined) return
    meter.running--
    meter.seconds.add(ms / 1000)
  }

  count(name: string, outcome: HostCallOutcome): void {
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
        const help = "Finished calls of host functions, by outcome"
        counts.push({ type: "counter", name: "weft_host_calls_total", help, labels, value })
      }
      const labels = { function: name }
      times.push(meter.seconds.series("weft_host_call_seconds", "Duration of host functions", labels))
      const help = "Running host functions"
      running.push({ type: "gauge", name: "weft_host_calls_running", help, labels, value: meter.running })
    }
    return [...counts, ...times, ...running]
  }
}
