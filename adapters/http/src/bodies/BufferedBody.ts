/** The body of one request in memory, within the budget of all bodies. */
import type { BodyMemoryBudget } from "./BodyMemoryBudget.ts"

/** Bytes of each body that do not count, so that small bodies are accepted while large ones use up the budget. */
const freeBytesPerBody = 16 * 1024

/** Sizes of the blocks that small chunks are copied into. Each block is twice as large as the previous one. */
const firstBlockBytes = 1024
const blockBytesMax = 16 * 1024

/**
 * A body that keeps its reservation until it is released.
 *
 * A body may come in chunks of one byte, and every chunk that Node reads is an object of some hundred bytes. So chunks are
 * copied into blocks: memory is proportional to the bytes, whatever their chunks are.
 */
export class BufferedBody {
  readonly #budget: BodyMemoryBudget
  /** Full blocks and large chunks. Null after the release. */
  #chunks: Array<Uint8Array> | null = []
  #block: Uint8Array | null = null
  #usedOfBlock = 0
  #nextBlockBytes = firstBlockBytes
  /** Bytes that count towards the budget, negative within the free bytes. */
  #chargeable = -freeBytesPerBody
  #reserved = 0

  constructor(budget: BodyMemoryBudget) {
    this.#budget = budget
  }

  /** Adds a chunk and returns true. Releases the whole body and returns false if the chunk exceeds the budget. */
  add(chunk: Uint8Array): boolean {
    if (this.#chunks === null) return false
    this.#chargeable += chunk.length
    if (this.#chargeable > this.#reserved) {
      if (!this.#budget.reserve(this.#chargeable - this.#reserved)) {
        this.release()
        return false
      }
      this.#reserved = this.#chargeable
    }
    // Most bodies are one chunk, which needs no copy.
    const isAlone = this.#chunks.length === 0 && this.#block === null
    if (isAlone || chunk.length >= blockBytesMax) {
      this.#seal(this.#chunks)
      this.#chunks.push(chunk)
    } else {
      this.#copy(this.#chunks, chunk)
    }
    return true
  }

  #copy(chunks: Array<Uint8Array>, chunk: Uint8Array): void {
    let copied = 0
    while (copied < chunk.length) {
      const block = this.#block ?? this.#openBlock()
      const part = chunk.subarray(copied, copied + block.length - this.#usedOfBlock)
      block.set(part, this.#usedOfBlock)
      this.#usedOfBlock += part.length
      copied += part.length
      if (this.#usedOfBlock === block.length) this.#seal(chunks)
    }
  }

  #openBlock(): Uint8Array {
    const block = new Uint8Array(this.#nextBlockBytes)
    this.#nextBlockBytes = Math.min(2 * this.#nextBlockBytes, blockBytesMax)
    this.#block = block
    return block
  }

  #seal(chunks: Array<Uint8Array>): void {
    if (this.#block === null) return
    chunks.push(this.#block.subarray(0, this.#usedOfBlock))
    this.#block = null
    this.#usedOfBlock = 0
  }

  /** Returns the whole body, or null after a release. To be called once. */
  take(): Uint8Array | null {
    const chunks = this.#chunks
    if (chunks === null) return null
    this.#seal(chunks)
    this.#chunks = []
    const [only] = chunks
    return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks)
  }

  release(): void {
    this.#budget.release(this.#reserved)
    this.#reserved = 0
    this.#chunks = null
    this.#block = null
  }
}
