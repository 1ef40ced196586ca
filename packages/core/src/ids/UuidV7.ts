/**
 * UUIDs of version 7 (RFC 9562, section 5.7) that ascend: behind the millisecond counts a counter of 42 bits that
 * begins at random (section 6.2, method 1); the last 32 bits are random.
 *
 * `SecureRandom` makes the same ones, one fiber's step at a time. Every run takes several, so here a step is a call,
 * and randomness is drawn in blocks. No bit is used twice.
 */

/** Words of 32 bits in a block. */
const blockWords = 1024

/** Half of the counters, so that no millisecond has fewer than 2^41 before the next one is borrowed from. */
const seedHighMax = 2 ** 11
const lowCount = 2 ** 30
const highCount = 2 ** 12

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"))
const hexOf = (byte: number): string => hex[byte & 255] ?? ""

/** `now` gives milliseconds since 1970; `randomBytes` as many secure ones as it is asked for. */
export const makeUuidV7 = (now: () => number, randomBytes: (count: number) => Uint8Array): (() => string) => {
  let block = new Uint32Array(0)
  let used = 0
  const word = (): number => {
    if (used === block.length) {
      block = new Uint32Array(Uint8Array.from(randomBytes(blockWords * 4)).buffer)
      used = 0
    }
    return block[used++] ?? 0
  }

  let millisecond = -1
  let time = ""
  let high = 0
  let low = 0
  const begin = (instant: number): void => {
    millisecond = instant
    const text = instant.toString(16).padStart(12, "0")
    time = `${text.slice(0, 8)}-${text.slice(8)}-7`
    high = word() % seedHighMax
    low = word() % lowCount
  }
  const advance = (): void => {
    const instant = Math.max(0, Math.floor(now()))
    // A clock that stands, or goes back, leaves the millisecond as it is.
    if (instant > millisecond) {
      begin(instant)
      return
    }
    low++
    if (low < lowCount) return
    low = 0
    high++
    if (high === highCount) begin(millisecond + 1)
  }

  return () => {
    advance()
    const tail = word()
    return `${time}${(high >>> 8).toString(16)}${hexOf(high)}-${hexOf(0x80 | (low >>> 24))}${hexOf(low >>> 16)}-${hexOf(low >>> 8)}${hexOf(low)}${hexOf(tail >>> 24)}${hexOf(tail >>> 16)}${hexOf(tail >>> 8)}${hexOf(tail)}`
  }
}

/** When it was made, in milliseconds since 1970. */
export const timeOfUuidV7 = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
