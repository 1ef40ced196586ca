/** Draws that a seed determines: the same seed, and the same name, give the same ones. */

/** Of a name: 32 bits that differ a lot where names differ a little (FNV-1a, then mixed as MurmurHash3 ends). */
export const hashOf = (text: string, seed = 0): number => {
  let hash = 0x811c9dc5 ^ seed
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** A sequence of draws (Mulberry32). What draws from one of its own leaves all others as they are. */
export class Draws {
  #state: number

  constructor(seed: number, name: string) {
    this.#state = hashOf(name, seed)
  }

  /** 32 bits. */
  word(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }

  /** In [0, 1). */
  share(): number {
    return this.word() / 2 ** 32
  }

  /** An integer from `least` to `most`, both included. */
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
