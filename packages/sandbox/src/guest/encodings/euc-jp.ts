/** The decoder of EUC-JP. */
import { ByteDecoder, isBetween } from "./byte-decoder.ts"
import { lookup } from "./tables.ts"

/** First byte of half-width katakana. */
const katakana = 0x8e
/** First byte of three bytes of JIS X 0212. */
const supplement = 0x8f

const isKanji = (byte: number): boolean => isBetween(byte, 0xa1, 0xfe)

export class EucJpDecoder extends ByteDecoder {
  readonly #kanji = lookup("jis0208")
  readonly #supplement = lookup("jis0212")
  #lead = 0
  #isSupplement = false

  protected step(byte: number): void {
    const lead = this.#lead
    if (lead === 0) {
      if (byte < 0x80) this.output.push(byte)
      else if (byte === katakana || byte === supplement || isKanji(byte)) this.#lead = byte
      else this.invalid()
    } else if (lead === katakana && isBetween(byte, 0xa1, 0xdf)) {
      this.#lead = 0
      this.output.push(0xff61 - 0xa1 + byte)
    } else if (lead === supplement && isKanji(byte)) {
      this.#isSupplement = true
      this.#lead = byte
    } else {
      const find = this.#isSupplement ? this.#supplement : this.#kanji
      this.restart()
      this.conclude(isKanji(lead) && isKanji(byte) ? find((lead - 0xa1) * 94 + byte - 0xa1) : 0, byte)
    }
  }

  protected end(): void {
    if (this.#lead !== 0) this.invalid()
    this.restart()
  }

  protected restart(): void {
    this.#lead = 0
    this.#isSupplement = false
  }
}
