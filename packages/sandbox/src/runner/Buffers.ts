/**
 * Judges what an isolate holds outside its heap.
 *
 * That may be garbage which the engine has seen no reason to collect: a busy guest leaves megabytes of text a second
 * there, and one that reads two bodies of 20 MiB, one after the other, three times as much. So past half of the limit new
 * runs go to a fresh isolate, and only who is over the limit at several looks in a row holds it for good.
 */
const looksMax = 3

export class Buffers {
  readonly #limitBytes: number
  #looksOver = 0
  #isWorn = false

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  /** `worn` is said once. */
  judge(bytes: number): "fine" | "worn" | "over" {
    this.#looksOver = bytes > this.#limitBytes ? this.#looksOver + 1 : 0
    if (this.#looksOver === looksMax) return "over"
    if (this.#isWorn || bytes <= this.#limitBytes / 2) return "fine"
    this.#isWorn = true
    return "worn"
  }
}
