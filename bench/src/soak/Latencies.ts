/** How long answers took, by what was asked. */
import type { Answered, Client, Sending } from "../nodes/Client.ts"

/** Percentiles of some time, in milliseconds. */
export interface Percentiles {
  readonly p50: number
  readonly p99: number
}

/** More than that of one kind between two readings are not kept: enough for a 99th percentile. */
const keptMax = 20_000

export class Latencies {
  readonly #byKind = new Map<string, Array<number>>()
  readonly #counts = new Map<string, number>()

  add(kind: string, ms: number): void {
    const values = this.#byKind.get(kind) ?? []
    this.#byKind.set(kind, values)
    if (values.length < keptMax) values.push(ms)
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1)
  }

  /** Of all kinds since the last time. */
  take(): ReadonlyMap<string, Percentiles> {
    const taken = new Map([...this.#byKind].map(([kind, values]) => [kind, percentilesOf(values)]))
    this.#byKind.clear()
    return taken
  }

  /** Answers of each kind since the beginning. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts
  }

  async timed<A>(kind: string, doing: () => Promise<A>): Promise<A> {
    const began = performance.now()
    const done = await doing()
    this.add(kind, performance.now() - began)
    return done
  }

  /** The client, measured; what it got no answer for is no latency. */
  measured(client: Client): Client {
    const post = async (sending: Sending): Promise<Answered> => {
      const began = performance.now()
      const answered = await client.post(sending)
      if (answered !== null) this.add(kindOf(sending.path), performance.now() - began)
      return answered
    }
    return { ...client, post }
  }
}

const kindOf = (path: string): string =>
  path.startsWith("/webhook/") ? "webhook" : path === "/v1/calls" ? "call" : "event"

const percentilesOf = (values: ReadonlyArray<number>): Percentiles => {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return { p50: at(0.5), p99: at(0.99) }
}
