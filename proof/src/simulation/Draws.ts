/** Pseudo-random numbers: the same seed and name give the same sequence. */

/** Hashes a text to 32 bits: FNV-1a with the finalizer of MurmurHash3, so that similar texts get unrelated hashes. */
export const computeHash = (text: string, seed = 0): number => {
  let hash = 0x811c9dc5 ^ seed
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** A pseudo-random generator (Mulberry32). Sequences with different names are independent. */
export class Draws {
  #state: number

  constructor(seed: number, name: string) {
    this.#state = computeHash(name, seed)
  }

  /** Returns 32 random bits. */
  word(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }

  /** Returns a number in [0, 1). */
  share(): number {
    return this.word() / 2 ** 32
  }

  /** Returns an integer from `least` to `most`, both included. */
  between(least: number, most: number): number {
    return least + (this.word() % (most - least + 1))
  }

  chance(share: number): boolean {
    return this.share() < share
  }

  pick<A>(of: readonly [A, ...ReadonlyArray<A>]): A {
    return of[this.word() % of.length] ?? of[0]
  }

  bytes(into: Uint8Array): void {
    for (let index = 0; index < into.length; index++) into[index] = this.word() & 255
  }
}
