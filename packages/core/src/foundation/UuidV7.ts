/**
 * Ascending UUIDs of version 7 (RFC 9562, section 5.7). The millisecond is followed by a counter of 42 bits that
 * starts at a random value (section 6.2, method 1). The last 32 bits are random.
 *
 * `SecureRandom` generates the same kind of id, but as an effect per id. Every run needs several ids, so this generator
 * is a plain function and draws randomness in blocks. No random bit is used twice.
 */

/** Size of a block of randomness, in words of 32 bits. */
const blockWords = 1024

/** Counters start in the lower half, so each millisecond has at least 2^41 ids before the next one is borrowed from. */
const seedHighMax = 2 ** 11
const lowCount = 2 ** 30
const highCount = 2 ** 12

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"))
const toHex = (byte: number): string => hex[byte & 255] ?? ""

/** Returns a generator. `now` returns milliseconds since 1970, `randomBytes` that many secure random bytes. */
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
    // If the clock stands still or moves back, the millisecond stays.
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
    return `${time}${(high >>> 8).toString(16)}${toHex(high)}-${toHex(0x80 | (low >>> 24))}${toHex(low >>> 16)}-${toHex(low >>> 8)}${toHex(low)}${toHex(tail >>> 24)}${toHex(tail >>> 16)}${toHex(tail >>> 8)}${toHex(tail)}`
  }
}

/** Returns the time at which the id was generated, in milliseconds since 1970. */
export const timeOfUuidV7 = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
