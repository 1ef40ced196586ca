/** The decoder of GB18030 and GBK. */
import { ByteDecoder, isBetween } from "./byte-decoder.ts"
import { gb18030Range, lookup } from "./tables.ts"

const isDigit = (byte: number): boolean => isBetween(byte, 0x30, 0x39)
const isLead = (byte: number): boolean => isBetween(byte, 0x81, 0xfe)

export class Gb18030Decoder extends ByteDecoder {
  readonly #find = lookup("gb18030")
  /** Bytes of an incomplete sequence; 0 if they are missing. */
  #first = 0
  #second = 0
  #third = 0

  protected step(byte: number): void {
    if (this.#third !== 0) this.#fourth(byte)
    else if (this.#second !== 0) {
      if (isLead(byte)) this.#third = byte
      else this.#refuse(this.#second, byte)
    } else if (this.#first !== 0) {
      if (isDigit(byte)) this.#second = byte
      else this.#pair(byte)
    } else if (byte < 0x80) {
      this.output.push(byte)
    } else if (byte === 0x80) {
      this.output.push(0x20ac)
    } else if (isLead(byte)) {
      this.#first = byte
    } else {
      this.invalid()
    }
  }

  protected end(): void {
    if (this.#first !== 0) this.invalid()
    this.restart()
  }

  protected restart(): void {
    this.#first = 0
    this.#second = 0
    this.#third = 0
  }

  #pair(byte: number): void {
    const lead = this.#first
    this.#first = 0
    const isTrail = isBetween(byte, 0x40, 0x7e) || isBetween(byte, 0x80, 0xfe)
    const pointer = (lead - 0x81) * 190 + byte - (byte < 0x7f ? 0x40 : 0x41)
    this.conclude(isTrail ? this.#find(pointer) : 0, byte)
  }

  #fourth(byte: number): void {
    if (!isDigit(byte)) {
      this.#refuse(this.#second, this.#third, byte)
      return
    }
    const pointer =
      (this.#first - 0x81) * 12_600 + (this.#second - 0x30) * 1260 + (this.#third - 0x81) * 10 + byte - 0x30
    this.restart()
    const codePoint = gb18030Range(pointer)
    if (codePoint === 0) this.invalid()
    else this.output.pushCodePoint(codePoint)
  }

  /** Replaces the first byte, and consumes the ones after it on their own. */
  #refuse(...bytes: ReadonlyArray<number>): void {
    this.restart()
    this.invalid()
    for (const byte of bytes) this.step(byte)
  }
}
