/** A seeded pseudo-random generator for fuzzers and load generators: the same seed gives the same numbers. */

export interface Draws {
  /** Uniform in [0, 1). */
  readonly next: () => number
  /** Uniform integer from `least` to `most`, both included. */
  readonly whole: (least: number, most: number) => number
  readonly chance: (share: number) => boolean
  readonly one: <A>(values: ReadonlyArray<A>) => A
  readonly shuffled: <A>(values: ReadonlyArray<A>) => ReadonlyArray<A>
  /** Calls `make` between `least` and `most` times and returns the results. */
  readonly some: <A>(make: () => A, most: number, least?: number) => Array<A>
  readonly bytes: (length: number) => Buffer
}

export const draws = (seed: number): Draws => {
  let state = seed >>> 0
  // Mulberry32.
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const whole = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1))
  return {
    next,
    whole,
    chance: (share) => next() < share,
    one: (values) => {
      const value = values[whole(0, values.length - 1)]
      if (value === undefined) throw new Error("draws.one: the list of values is empty")
      return value
    },
    shuffled: (values) =>
      values
        .map((value) => ({ value, place: next() }))
        .sort((a, b) => a.place - b.place)
        .map(({ value }) => value),
    some: (make, most, least = 0) => Array.from({ length: whole(least, most) }, make),
    bytes: (length) => Buffer.from(Array.from({ length }, () => whole(0, 255)))
  }
}
