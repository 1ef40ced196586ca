/** The latest connections that have opened and were not read yet. Reading any of them may be expensive. */
import type { Connection } from "./Connection.ts"

/** Maximum connections. Older ones that send nothing are forgotten. */
const freshMax = 256

export class FreshConnections {
  readonly #connections = new Set<Connection>()

  add(connection: Connection): void {
    this.#connections.add(connection)
    if (this.#connections.size <= freshMax) return
    for (const oldest of this.#connections) {
      this.#connections.delete(oldest)
      return
    }
  }

  /** Forgets a connection that was read or closed. */
  delete(connection: Connection): void {
    this.#connections.delete(connection)
  }

  /** Removes and returns all connections, the oldest first. */
  takeAll(): ReadonlyArray<Connection> {
    const all = [...this.#connections]
    this.#connections.clear()
    return all
  }
}
