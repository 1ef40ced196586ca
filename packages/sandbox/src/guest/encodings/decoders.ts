/** The decoders of encodings with one or two bytes, and the choice of a decoder by the name of its encoding. */
import type { Decoder } from "../platform/encodings.ts"
import { ByteDecoder, isBetween } from "./byte-decoder.ts"
import { EucJpDecoder } from "./euc-jp.ts"
import { Gb18030Decoder } from "./gb18030.ts"
import { Iso2022JpDecoder } from "./iso-2022-jp.ts"
import { isTable, lookup, type TableName } from "./tables.ts"

/** Decodes bytes from 0x80 by a function; others are ASCII. */
class SingleByteDecoder extends ByteDecoder {
  readonly #find: (byte: number) => number

  constructor(find: (byte: number) => number) {
    super()
    this.#find = find
  }

  protected step(byte: number): void {
    if (byte < 0x80) this.output.push(byte)
    else this.conclude(this.#find(byte), byte)
  }
  protected end(): void {}
  protected restart(): void {}
}

interface Pairs {
  readonly isLead: (byte: number) => boolean
  /** Returns the code point of a byte that is neither ASCII nor the first of a pair; 0 if it has none. */
  readonly single: (byte: number) => number
  /** Returns the code point of a pair; 0 if it has none. */
  readonly pair: (lead: number, byte: number) => number
}

/** Decodes pairs of bytes. */
class PairDecoder extends ByteDecoder {
  readonly #pairs: Pairs
  #lead = 0

  constructor(pairs: Pairs) {
    super()
    this.#pairs = pairs
  }

  protected step(byte: number): void {
    const lead = this.#lead
    if (lead !== 0) {
      this.#lead = 0
      const codePoint = this.#pairs.pair(lead, byte)
      const marked = codePoint > 0xffffff
      this.conclude(marked ? codePoint >>> 24 : codePoint, byte)
      if (marked) this.output.push(0x300 + (codePoint & 0xff))
    } else if (byte < 0x80) {
      this.output.push(byte)
    } else if (this.#pairs.isLead(byte)) {
      this.#lead = byte
    } else {
      this.conclude(this.#pairs.single(byte), byte)
    }
  }

  protected end(): void {
    if (this.#lead !== 0) this.invalid()
    this.#lead = 0
  }

  protected restart(): void {
    this.#lead = 0
  }
}

const isLeadByte = (byte: number): boolean => isBetween(byte, 0x81, 0xfe)
const none = (): number => 0

/** Pointers of Big5 that are a letter with a mark: letter in the upper 8 bits, mark in the lower ones. */
const markedLetters: ReadonlyMap<number, number> = new Map([
  [1133, 0xca000004],
  [1135, 0xca00000c],
  [1164, 0xea000004],
  [1166, 0xea00000c]
])

const big5 = (): Pairs => {
  const find = lookup("big5")
  return {
    isLead: isLeadByte,
    single: none,
    pair: (lead, byte) => {
      if (!isBetween(byte, 0x40, 0x7e) && !isBetween(byte, 0xa1, 0xfe)) return 0
      const pointer = (lead - 0x81) * 157 + byte - (byte < 0x7f ? 0x40 : 0x62)
      return markedLetters.get(pointer) ?? find(pointer)
    }
  }
}

const eucKr = (): Pairs => {
  const find = lookup("euc-kr")
  return {
    isLead: isLeadByte,
    single: none,
    pair: (lead, byte) => (isBetween(byte, 0x41, 0xfe) ? find((lead - 0x81) * 190 + byte - 0x41) : 0)
  }
}

/** Pointers of Shift_JIS whose code points are for private use. */
const privateStart = 8836
const privateEnd = 10_715

const shiftJis = (): Pairs => {
  const find = lookup("jis0208")
  return {
    isLead: (byte) => isBetween(byte, 0x81, 0x9f) || isBetween(byte, 0xe0, 0xfc),
    single: (byte) => (byte === 0x80 ? byte : isBetween(byte, 0xa1, 0xdf) ? 0xff61 - 0xa1 + byte : 0),
    pair: (lead, byte) => {
      if (!isBetween(byte, 0x40, 0x7e) && !isBetween(byte, 0x80, 0xfc)) return 0
      const pointer = (lead - (lead < 0xa0 ? 0x81 : 0xc1)) * 188 + byte - (byte < 0x7f ? 0x40 : 0x41)
      return isBetween(pointer, privateStart, privateEnd) ? 0xe000 - privateStart + pointer : find(pointer)
    }
  }
}

const fromTable = (name: TableName): Decoder => {
  const find = lookup(name)
  return new SingleByteDecoder((byte) => find(byte - 0x80))
}

/** Returns a decoder of an encoding that `findEncoding` returned. */
export const decoderOf = (encoding: string): Decoder => {
  switch (encoding) {
    case "big5":
      return new PairDecoder(big5())
    case "euc-kr":
      return new PairDecoder(eucKr())
    case "shift_jis":
      return new PairDecoder(shiftJis())
    case "euc-jp":
      return new EucJpDecoder()
    case "iso-2022-jp":
      return new Iso2022JpDecoder()
    case "gb18030":
    case "gbk":
      return new Gb18030Decoder()
    case "x-user-defined":
      return new SingleByteDecoder((byte) => 0xf700 + byte)
    default: {
      // The visual and the logical order of Hebrew differ in their display, not in their bytes.
      const name = encoding === "iso-8859-8-i" ? "iso-8859-8" : encoding
      if (!isTable(name)) throw new RangeError(`The "${encoding}" encoding is not supported`)
      return fromTable(name)
    }
  }
}
