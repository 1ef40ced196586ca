/**
 * Pauses of networks whose connections are expensive to read, such as many small chunks or pipelined requests.
 *
 * The cost of a read is known only after it. So after an expensive one, its network opens no further connection for a while,
 * and other networks have the event loop. Without another active network nobody pauses: behind a proxy, all clients have
 * its address.
 */

/** Pause after an expensive read, which takes about 20 ms, in milliseconds. */
const restMs = 30

/** Time after a new connection in which its network counts as active, in milliseconds. */
const activeMs = 1_000

interface Arrival {
  readonly network: string
  readonly at: number
}

export class NetworkRests {
  /** Networks that pause, with the end of the pause. */
  readonly #until = new Map<string, number>()
  /** The last new connection, and the last one of another network. */
  #latest: Arrival = { network: "", at: Number.NEGATIVE_INFINITY }
  #other: Arrival = this.#latest

  /** Records a new connection. */
  arrive(network: string, now: number): void {
    if (network !== this.#latest.network) this.#other = this.#latest
    this.#latest = { network, at: now }
  }

  /** Begins a pause of the network if another one is active. */
  begin(network: string, now: number): void {
    const { at } = this.#latest.network === network ? this.#other : this.#latest
    if (now - at > activeMs) return
    // Pauses of the same length end in the order in which they began.
    for (const [other, until] of this.#until) {
      if (until > now) break
      this.#until.delete(other)
    }
    this.#until.delete(network)
    this.#until.set(network, now + restMs)
  }

  /** Returns the time until the pause of the network ends, in milliseconds; 0 without one. */
  remaining(network: string, now: number): number {
    return Math.max(0, (this.#until.get(network) ?? 0) - now)
  }
}
