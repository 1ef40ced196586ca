/**
 * How much of the bodies of webhooks is held in memory. Anybody may send one, and all of it is here before anybody can be
 * asked for anything: so there is one room for all of them.
 */

/** Of each body, what is not counted: small ones come in also while large ones have taken the room. */
const uncountedBytes = 16 * 1024

/** What a piece takes besides its bytes: a body may come in pieces of one byte. */
const pieceBytes = 256

export class HeldBodies {
  /** The most bytes that one body may have. */
  readonly eachBytes: number
  readonly #allBytes: number
  #bytes = 0

  constructor(eachBytes: number, allBytes: number) {
    this.eachBytes = eachBytes
    this.#allBytes = allBytes
  }

  /** Counts bytes, if there is room for them. */
  take(bytes: number): boolean {
    if (this.#bytes + bytes > this.#allBytes) return false
    this.#bytes += bytes
    return true
  }

  free(bytes: number): void {
    this.#bytes -= bytes
  }
}

/** The body of one request, which has its room until it is let go. */
export class HeldBody {
  readonly #all: HeldBodies
  /** Null when it was let go. */
  #pieces: Array<Uint8Array> | null = []
  #weight = -uncountedBytes
  #counted = 0

  constructor(all: HeldBodies) {
    this.#all = all
  }

  /** Where there is no room for a piece, the whole body is let go. */
  add(piece: Uint8Array): void {
    if (this.#pieces === null) return
    this.#pieces.push(piece)
    this.#weight += piece.length + pieceBytes
    if (this.#weight <= this.#counted) return
    if (this.#all.take(this.#weight - this.#counted)) this.#counted = this.#weight
    else this.letGo()
  }

  /** All that was added, to be asked for once; null when it was let go. */
  take(): Uint8Array | null {
    const pieces = this.#pieces
    if (pieces === null) return null
    this.#pieces = []
    const [only] = pieces
    return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces)
  }

  letGo(): void {
    this.#all.free(this.#counted)
    this.#counted = 0
    this.#pieces = null
  }
}
