/** Connections that have just opened, so that the loop may read them for the first time in this turn. */
import type { Connection } from "./Connection.ts"

export class FreshConnections {
  #current = new Set<Connection>()
  /** Those of the previous turn, which the loop reads in this one. */
  #previous = new Set<Connection>()
  #isTimed = false

  add(connection: Connection): void {
    this.#current.add(connection)
    this.#age()
  }

  /** Forgets a connection that was read. */
  delete(connection: Connection): void {
    if (!this.#current.delete(connection)) this.#previous.delete(connection)
  }

  /** Removes and returns all connections, the oldest first. */
  takeAll(): ReadonlyArray<Connection> {
    const all = [...this.#previous, ...this.#current]
    this.#previous.clear()
    this.#current.clear()
    return all
  }

  /** Forgets connections after the turn in which they could be read. */
  #age(): void {
    if (this.#isTimed) return
    this.#isTimed = true
    setImmediate(() => {
      this.#isTimed = false
      const forgotten = this.#previous
      forgotten.clear()
      this.#previous = this.#current
      this.#current = forgotten
      if (this.#previous.size > 0) this.#age()
    })
  }
}
