/** Latencies by the kind of request. */
import type { Answered, Client, Sending } from "../nodes/Client.ts"

/** Percentiles in milliseconds. */
export interface Percentiles {
  readonly p50: number
  readonly p99: number
}

/** Maximum samples of one kind between two readings, enough for a 99th percentile. */
const samplesMax = 20_000

export class Latencies {
  readonly #byKind = new Map<string, Array<number>>()
  readonly #counts = new Map<string, number>()

  add(kind: string, ms: number): void {
    const values = this.#byKind.get(kind) ?? []
    this.#byKind.set(kind, values)
    if (values.length < samplesMax) values.push(ms)
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1)
  }

  /** Returns the percentiles of all kinds since the last call. */
  take(): ReadonlyMap<string, Percentiles> {
    const taken = new Map([...this.#byKind].map(([kind, values]) => [kind, computePercentiles(values)]))
    this.#byKind.clear()
    return taken
  }

  /** Number of responses of each kind. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts
  }

  async timed<A>(kind: string, action: () => Promise<A>): Promise<A> {
    const began = performance.now()
    const done = await action()
    this.add(kind, performance.now() - began)
    return done
  }

  /** Wraps a client so that successful requests are measured. */
  measure(client: Client): Client {
    const post = async (sending: Sending): Promise<Answered> => {
      const began = performance.now()
      const answered = await client.post(sending)
      if (answered !== null) this.add(toKind(sending.path), performance.now() - began)
      return answered
    }
    return { ...client, post }
  }
}

const toKind = (path: string): string =>
  path.startsWith("/webhook/") ? "webhook" : path === "/v1/calls" ? "call" : "event"

const computePercentiles = (values: ReadonlyArray<number>): Percentiles => {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return { p50: at(0.5), p99: at(0.99) }
}
