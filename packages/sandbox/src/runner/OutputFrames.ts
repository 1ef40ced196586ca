/** Parses the output of an isolate: the counterpart of the kernel's `OutputBuffer`. */

export interface OutputFrame {
  readonly letter: string
  readonly run: number
  readonly a: number
  readonly b: number
  readonly first: string
  readonly second: string
}

/** Parses the text into frames. Throws if a frame is incomplete: only a compromised kernel writes such text. */
export const readOutput = (text: string): ReadonlyArray<OutputFrame> => {
  const frames: Array<OutputFrame> = []
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
    if (secondEnd > text.length) throw new Error("the output of an isolate ends within a frame")
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

  /** Reads digits up to `stop` as a number below 2^32. */
  until(stop: number): number {
    let value = 0
    for (;;) {
      const unit = this.#text.charCodeAt(this.at++)
      if (unit === stop) break
      const digit = unit - 48
      if (!(digit >= 0 && digit <= 9)) throw new Error("an output frame has an invalid number")
      value = value * 10 + digit
    }
    if (value > 0xffffffff) throw new Error("an output frame has a number above 2^32 - 1")
    return value
  }
}
