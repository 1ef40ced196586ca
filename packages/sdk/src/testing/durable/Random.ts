/** Random numbers of a durable run: the same generator as in the runtime. */

/** Returns a generator (sfc32) of numbers in [0, 1) whose sequence depends only on `seed`. */
export const makeRandom = (seed: string): (() => number) => {
  const words = [0x9e3779b9, 0x243f6a88, 0xb7e15162, seed.length]
  for (let at = 0; at < seed.length; at++) {
    const index = at & 3
    words[index] = (((words[index] ?? 0) ^ seed.charCodeAt(at)) * 0x01000193) >>> 0
  }
  let [a = 0, b = 0, c = 0, d = 0] = words
  const next = (): number => {
    const sum = (a + b + d) | 0
    d = (d + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (c << 21) | (c >>> 11)
    c = (c + sum) | 0
    return (sum >>> 0) / 4_294_967_296
  }
  // The first numbers of similar seeds are similar.
  for (let round = 0; round < 16; round++) next()
  return next
}

/** Returns a UUID of version 4 from random numbers. */
export const makeUuid = (random: () => number): string => {
  let text = ""
  for (let at = 0; at < 32; at++) {
    const digit = at === 12 ? 4 : at === 16 ? 8 + random() * 4 : random() * 16
    text += `${at === 8 || at === 12 || at === 16 || at === 20 ? "-" : ""}${hex[digit | 0] ?? "0"}`
  }
  return text
}

const hex = "0123456789abcdef"
