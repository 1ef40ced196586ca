/** Connections that wait for their turn. */
import type { Connection } from "./Connection.ts"

/**
 * Networks take turns, so that a client never waits for all connections of another one. Of a network, every second turn
 * belongs to the newest connection. Those behind one proxy are of many clients, and a flood of older ones would delay a new
 * one for long.
 */
export class ConnectionQueue {
  /** Connections by network, in the order of the networks' turns. */
  readonly #lanes = new Map<string, Lane>()
  readonly #perNetworkMax: number
  #length = 0

  /** Beyond `perNetworkMax` connections of a network, the oldest one is closed, whose client has waited longest. */
  constructor(perNetworkMax = Number.POSITIVE_INFINITY) {
    this.#perNetworkMax = perNetworkMax
  }

  get length(): number {
    return this.#length
  }

  push(connection: Connection): void {
    const { network } = connection
    let lane = this.#lanes.get(network)
    if (lane === undefined) {
      lane = new Lane()
      this.#lanes.set(network, lane)
    }
    this.#length++
    lane.push(connection)
    if (lane.length > this.#perNetworkMax) this.#take(lane, false)?.socket.destroy()
  }

  /** Removes and returns the next connection that is not closed. Passes networks for which `rests` returns true. */
  next(rests: (network: string) => boolean = never): Connection | undefined {
    for (const [network, lane] of this.#lanes) {
      if (rests(network)) continue
      this.#lanes.delete(network)
      const connection = this.#nextOf(lane)
      if (lane.length > 0) this.#lanes.set(network, lane)
      if (connection !== undefined) return connection
    }
    return undefined
  }

  /** Networks with connections that wait, in the order of their turns. */
  get networks(): Iterable<string> {
    return this.#lanes.keys()
  }

  #nextOf(lane: Lane): Connection | undefined {
    while (lane.length > 0) {
      lane.isNewestNext = !lane.isNewestNext
      const connection = this.#take(lane, lane.isNewestNext)
      if (connection?.socket.destroyed === false) return connection
    }
    return undefined
  }

  #take(lane: Lane, newest: boolean): Connection | undefined {
    this.#length--
    return newest ? lane.pop() : lane.shift()
  }
}

const never = (): boolean => false

/** Connections of a network, from the oldest to the newest. */
class Lane {
  isNewestNext = false
  #connections: Array<Connection> = []
  /** Taken connections at the head of the array. */
  #taken = 0

  get length(): number {
    return this.#connections.length - this.#taken
  }

  push(connection: Connection): void {
    this.#connections.push(connection)
  }

  pop(): Connection | undefined {
    return this.length === 0 ? undefined : this.#connections.pop()
  }

  shift(): Connection | undefined {
    const connection = this.#connections[this.#taken]
    this.#taken++
    if (this.#taken * 2 > this.#connections.length) {
      this.#connections = this.#connections.slice(this.#taken)
      this.#taken = 0
    }
    return connection
  }
}
