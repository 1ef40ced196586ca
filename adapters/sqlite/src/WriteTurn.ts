/**
 * Whose turn it is to write: a database takes one transaction at a time, and two threads have them.
 *
 * Left to itself, SQLite has whoever comes second sleep on the spot, in the main thread with all its requests, and look
 * again after up to a tenth of a second: beside a journal that commits one batch after the other it looks in vain for
 * seconds. So they draw numbers, and wait as their thread may.
 */
import { Effect, type Scope } from "effect"

/** Places in the shared memory: the next number, the one whose turn it is, and the journal's. */
const next = 0
const serving = 1
const ofJournal = 2
const none = -1

export class WriteTurn {
  readonly shared: SharedArrayBuffer
  readonly #places: Int32Array<SharedArrayBuffer>

  /** `shared` of another one stands for the same database. */
  constructor(shared?: SharedArrayBuffer) {
    this.shared = shared ?? new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT)
    this.#places = new Int32Array(this.shared)
    if (shared === undefined) this.#places[ofJournal] = none
  }

  /** For the journal's thread, which has nothing else to do. */
  readonly journal: Effect.Effect<void, never, Scope.Scope> = Effect.acquireRelease(
    Effect.sync(() => this.begin()),
    () => Effect.sync(() => this.end())
  )

  /** For the main thread, which goes on meanwhile. */
  readonly main: Effect.Effect<void, never, Scope.Scope> = Effect.acquireRelease(
    Effect.suspend(() => {
      const number = Atomics.add(this.#places, next, 1)
      return this.#serving === number ? Effect.void : Effect.promise(() => this.#turnOf(number))
    }),
    () => Effect.sync(() => this.#pass())
  )

  /** As `journal`, until `end`. */
  begin(): void {
    const number = Atomics.add(this.#places, next, 1)
    Atomics.store(this.#places, ofJournal, number)
    // Looked at once: what is waited for must be the number that was not one's own.
    for (let now = this.#serving; now !== number; now = this.#serving) Atomics.wait(this.#places, serving, now)
  }

  end(): void {
    Atomics.store(this.#places, ofJournal, none)
    this.#pass()
  }

  /** The journal's thread is no more, whatever it was about to do: SQLite has undone what it had not committed. */
  async giveUpJournal(): Promise<void> {
    const number = Atomics.exchange(this.#places, ofJournal, none)
    if (number === none) return
    await this.#turnOf(number)
    this.#pass()
  }

  get #serving(): number {
    return Atomics.load(this.#places, serving)
  }

  async #turnOf(number: number): Promise<void> {
    for (let now = this.#serving; now !== number; now = this.#serving) {
      await Atomics.waitAsync(this.#places, serving, now).value
    }
  }

  #pass(): void {
    Atomics.add(this.#places, serving, 1)
    Atomics.notify(this.#places, serving)
  }
}
