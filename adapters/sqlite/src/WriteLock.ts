/**
 * A ticket lock for writes: a database runs one write transaction at a time, and two threads have some.
 *
 * SQLite's own busy handler blocks the waiting thread, even the main thread. It polls at intervals of up to 100 ms: in
 * vain for seconds, while the journal commits batch after batch. So each thread takes a ticket instead, and the main
 * thread waits without blocking.
 */
import { Effect, type Scope } from "effect"

/** Indexes in the shared memory: the next ticket, the ticket that holds the lock, and the journal's ticket. */
const nextTicket = 0
const servedTicket = 1
const journalTicket = 2
const noTicket = -1

export class WriteLock {
  readonly shared: SharedArrayBuffer
  readonly #cells: Int32Array<SharedArrayBuffer>

  /** Creates a lock, or another handle of the same lock from its `shared` memory. */
  constructor(shared?: SharedArrayBuffer) {
    this.shared = shared ?? new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT)
    this.#cells = new Int32Array(this.shared)
    if (shared === undefined) this.#cells[journalTicket] = noTicket
  }

  /** Acquires the lock in the journal's thread, which it blocks, until the scope ends. */
  readonly journal: Effect.Effect<void, never, Scope.Scope> = Effect.acquireRelease(
    Effect.sync(() => this.acquire()),
    () => Effect.sync(() => this.release())
  )

  /** Acquires the lock in the main thread, without blocking it, until the scope ends. */
  readonly main: Effect.Effect<void, never, Scope.Scope> = Effect.acquireRelease(
    Effect.suspend(() => {
      const ticket = Atomics.add(this.#cells, nextTicket, 1)
      return this.#served === ticket ? Effect.void : Effect.promise(() => this.#waitFor(ticket))
    }),
    () => Effect.sync(() => this.#advance())
  )

  /** As `journal`, until `release`. */
  acquire(): void {
    const ticket = Atomics.add(this.#cells, nextTicket, 1)
    Atomics.store(this.#cells, journalTicket, ticket)
    // Each value is read once: the value to wait for must be the one that was compared.
    for (let now = this.#served; now !== ticket; now = this.#served) Atomics.wait(this.#cells, servedTicket, now)
  }

  release(): void {
    Atomics.store(this.#cells, journalTicket, noTicket)
    this.#advance()
  }

  /** Releases the ticket of a journal thread that has ended. SQLite has rolled its transaction back. */
  async releaseJournal(): Promise<void> {
    const ticket = Atomics.exchange(this.#cells, journalTicket, noTicket)
    if (ticket === noTicket) return
    await this.#waitFor(ticket)
    this.#advance()
  }

  get #served(): number {
    return Atomics.load(this.#cells, servedTicket)
  }

  async #waitFor(ticket: number): Promise<void> {
    for (let now = this.#served; now !== ticket; now = this.#served) {
      await Atomics.waitAsync(this.#cells, servedTicket, now).value
    }
  }

  #advance(): void {
    Atomics.add(this.#cells, servedTicket, 1)
    Atomics.notify(this.#cells, servedTicket)
  }
}
