/** What is told to one subscriber, as bytes in the order in which they are sent. */
import type { Portion, Told } from "@weft/core"
import { complete, type Framing, farewell, heartbeat } from "./Frames.ts"

export interface PiecesOptions {
  readonly framing: Framing
  /** Whether the end is announced when the time is up. */
  readonly isAnnounced: boolean
  readonly isLeaving: () => boolean
}

export class Pieces {
  readonly #options: PiecesOptions
  readonly #portions: Array<Portion> = []
  /** A piece that is no message, to be sent after all portions. */
  #comment: Uint8Array | null = null
  #from = 0
  #isOver = false

  constructor(options: PiecesOptions) {
    this.#options = options
  }

  /** Whether nothing can be added any more. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** What came since `next` gave null. */
  add(told: Told): void {
    if (typeof told === "string") {
      this.#isOver = true
      if (told === "expired" && this.#options.isAnnounced) this.#comment = complete
      if (told === "closed" && this.#options.isLeaving()) this.#comment = farewell
    } else if (told.length === 0) {
      this.#comment = heartbeat
    } else {
      this.#portions.push(...told)
    }
  }

  /** Null where there is none until more is added. */
  next(): Uint8Array | null {
    for (let portion = this.#portions[0]; portion !== undefined; portion = this.#portions[0]) {
      const piece = this.#options.framing.next(portion, this.#from)
      this.#from = piece === null || piece.end >= portion.length ? 0 : piece.end
      if (this.#from === 0) this.#portions.shift()
      if (piece !== null) return piece.bytes
    }
    const comment = this.#comment
    this.#comment = null
    return comment
  }
}
