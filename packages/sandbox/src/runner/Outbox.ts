/** Reads what an isolate had to say: the counterpart of the kernel's outbox. */

export interface OutboxFrame {
  readonly letter: string
  readonly run: number
  readonly a: number
  readonly b: number
  readonly first: string
  readonly second: string
}

/** Throws when the text is not a sequence of whole frames; only a kernel that was broken into writes such text. */
export const readOutbox = (text: string): ReadonlyArray<OutboxFrame> => {
  const frames: Array<OutboxFrame> = []
  const reader = new NumberReader(text)
  while (reader.at < text.length) {
    const letter = text.charAt(reader.at++)
    const run = reader.until(comma)
    const a = reader.until(comma)
    const b = reader.until(comma)
    const firstLength = reader.until(comma)
    const secondLength = reader.until(colon)
    const firstEnd = reader.at + firstLength
    const secondEnd = firstEnd + secondLength
    if (secondEnd > text.length) throw new Error("an outbox ends within a frame")
    frames.push({
      letter,
      run,
      a,
      b,
      first: text.slice(reader.at, firstEnd),
      second: text.slice(firstEnd, secondEnd)
    })
    reader.at = secondEnd
  }
  return frames
}

const comma = 44
const colon = 58

class NumberReader {
  at = 0
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  /** Digits up to `stop`, as a number below 2^32. */
  until(stop: number): number {
    let value = 0
    for (;;) {
      const unit = this.#text.charCodeAt(this.at++)
      if (unit === stop) break
      const digit = unit - 48
      if (!(digit >= 0 && digit <= 9)) throw new Error("an outbox frame has no number where one belongs")
      value = value * 10 + digit
    }
    if (value > 0xffffffff) throw new Error("an outbox frame has a number out of range")
    return value
  }
}
