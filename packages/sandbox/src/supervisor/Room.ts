/**
 * How many isolates fit into a runner, and which builds wait until there is room for theirs.
 *
 * A runner over its memory is killed, with everybody in it, and nobody knows whose fault it was. So it takes no more
 * than fit: where more builds are busy than that, they take turns.
 */
import type { Build } from "./Build.ts"

export interface RoomOptions {
  /** Isolates that one runner keeps. */
  readonly isolatesPerRunner: number
  /** Resident memory of a runner up to which it takes further isolates. */
  readonly roomBytes: number
}

/** What an isolate takes, as long as nobody has measured it. */
const isolateBytes = 16 * 1024 * 1024

export class Room {
  readonly #options: RoomOptions
  /** In the order in which they came. */
  readonly #waiting = new Set<Build>()
  #bytes = 0

  constructor(options: RoomOptions) {
    this.#options = options
  }

  /** Whether another isolate fits beside so many. A first one always does. */
  fits(isolates: number): boolean {
    const { isolatesPerRunner, roomBytes } = this.#options
    return isolates === 0 || (isolates < isolatesPerRunner && this.#bytes + isolateBytes <= roomBytes)
  }

  /** An isolate was made: it is a guess what it takes, until the runner is measured again. */
  made(): void {
    this.#bytes += isolateBytes
  }

  ended(): void {
    this.#bytes -= isolateBytes
  }

  /** Resident memory of the runner, of which so many isolates are not a part yet. */
  measured(bytes: number, loading: number): void {
    this.#bytes = bytes + loading * isolateBytes
  }

  get isWanted(): boolean {
    return this.#waiting.size > 0
  }

  want(build: Build): void {
    this.#waiting.add(build)
  }

  /** The builds that wait, in their turn. */
  get waiting(): ReadonlyArray<Build> {
    return [...this.#waiting]
  }

  /** It waits no more, whether it got room or has nothing to do any more. */
  leave(build: Build): void {
    this.#waiting.delete(build)
  }
}
