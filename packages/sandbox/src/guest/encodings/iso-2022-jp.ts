/** The decoder of ISO-2022-JP, whose escape sequences select character sets. */
import { ByteDecoder, isBetween } from "./byte-decoder.ts"
import { lookup } from "./tables.ts"

type CharacterSet = "ascii" | "roman" | "katakana" | "kanji"

const escape = 0x1b

/** Character sets by the two bytes after the escape byte. */
const escapes: ReadonlyMap<number, CharacterSet> = new Map([
  [0x2842, "ascii"],
  [0x284a, "roman"],
  [0x2849, "katakana"],
  [0x2440, "kanji"],
  [0x2442, "kanji"]
])

/** The end of the input, as a byte. */
const ended = -1

export class Iso2022JpDecoder extends ByteDecoder {
  readonly #kanji = lookup("jis0208")
  #set: CharacterSet = "ascii"
  /** First byte of a kanji, or of an escape sequence after the escape byte; 0 if it is missing. */
  #lead = 0
  #isEscaping = false
  /** True after an escape sequence without text after it: another one is an error. */
  #hasEscaped = false

  protected step(byte: number): void {
    if (this.#isEscaping) this.#escape(byte)
    else if (this.#lead !== 0) this.#pair(byte)
    else if (byte === escape) this.#isEscaping = true
    else if (byte !== ended) this.#single(byte)
  }

  protected end(): void {
    // The first end may complete an escape sequence as text, whose second byte begins a kanji.
    while (this.#isEscaping || this.#lead !== 0) this.step(ended)
    this.restart()
  }

  protected restart(): void {
    this.#set = "ascii"
    this.#lead = 0
    this.#isEscaping = false
    this.#hasEscaped = false
  }

  #single(byte: number): void {
    this.#hasEscaped = false
    if (this.#set === "kanji") {
      if (isBetween(byte, 0x21, 0x7e)) this.#lead = byte
      else this.invalid()
    } else if (this.#set === "katakana") {
      if (isBetween(byte, 0x21, 0x5f)) this.output.push(0xff61 - 0x21 + byte)
      else this.invalid()
    } else if (byte > 0x7f || byte === 0x0e || byte === 0x0f) {
      this.invalid()
    } else if (this.#set === "roman" && (byte === 0x5c || byte === 0x7e)) {
      this.output.push(byte === 0x5c ? 0xa5 : 0x203e)
    } else {
      this.output.push(byte)
    }
  }

  #pair(byte: number): void {
    const lead = this.#lead
    this.#lead = 0
    const codePoint = isBetween(byte, 0x21, 0x7e) ? this.#kanji((lead - 0x21) * 94 + byte - 0x21) : 0
    if (codePoint === 0) this.invalid()
    else this.output.push(codePoint)
    if (byte === escape) this.#isEscaping = true
  }

  #escape(byte: number): void {
    const lead = this.#lead
    if (lead === 0 && (byte === 0x24 || byte === 0x28)) {
      this.#lead = byte
      return
    }
    this.#isEscaping = false
    this.#lead = 0
    const set = lead === 0 ? undefined : escapes.get((lead << 8) | byte)
    if (set === undefined) {
      this.#hasEscaped = false
      this.invalid()
      if (lead !== 0) this.step(lead)
      this.step(byte)
      return
    }
    this.#set = set
    if (this.#hasEscaped) this.invalid()
    this.#hasEscaped = true
  }
}
