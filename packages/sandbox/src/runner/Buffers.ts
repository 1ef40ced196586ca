/**
 * Judges what an isolate holds outside its heap.
 *
 * That may be garbage which the engine has seen no reason to collect: a busy guest leaves megabytes of text a second
 * there. So past half of the limit new runs go to a fresh isolate, and only who is over the limit at two looks in a
 * row holds it for good.
 */
export class Buffers {
  readonly #limitBytes: number
  #isOver = false
  #isWorn = false

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  /** `worn` is said once. */
  judge(bytes: number): "fine" | "worn" | "over" {
    const wasOver = this.#isOver
    this.#isOver = bytes > this.#limitBytes
    if (wasOver && this.#isOver) return "over"
    if (this.#isWorn || bytes <= this.#limitBytes / 2) return "fine"
    this.#isWorn = true
    return "worn"
  }
}
