/** The frequent encodings with their labels and decoders. A script that few builds need adds the others. */
import { CodeUnits, Utf8Decoder } from "./utf8.ts"

type Encoding = "utf-8" | "utf-16le" | "utf-16be" | "windows-1252"

/** Decodes bytes in chunks. Malformed sequences become U+FFFD and set `malformed`. */
export interface Decoder {
  readonly malformed: boolean
  readonly decode: (bytes: Uint8Array) => string
  readonly finish: () => string
  readonly reset: () => void
}

const labels: Readonly<Record<Encoding, string>> = {
  "utf-8": "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8",
  "utf-16le": "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le",
  "utf-16be": "unicodefffe utf-16be",
  "windows-1252":
    "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1 " +
    "iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252"
}

const encodings: ReadonlyArray<Encoding> = ["utf-8", "utf-16le", "utf-16be", "windows-1252"]

/** Encodings of another script. */
interface Encodings {
  /** Returns the name of the encoding with a label in lower case. */
  readonly find: (label: string) => string | undefined
  readonly decoder: (encoding: string) => Decoder
}

let others: Encodings | undefined

export const addEncodings = (given: Encodings): void => {
  others = given
}

/** Returns the encoding of a label such as "latin1"; undefined if it is unknown or not supported. */
export const findEncoding = (label: string): string | undefined => {
  const name = label.replace(/^[\t\n\f\r ]+|[\t\n\f\r ]+$/g, "").toLowerCase()
  return encodings.find((encoding) => labels[encoding].split(" ").includes(name)) ?? others?.find(name)
}

/** Returns a decoder of an encoding that `findEncoding` returned. */
export const decoderFor = (encoding: string): Decoder => {
  switch (encoding) {
    case "utf-16le":
      return new Utf16Decoder(true)
    case "utf-16be":
      return new Utf16Decoder(false)
    case "windows-1252":
      return new Windows1252Decoder()
    default:
      return others === undefined || encoding === "utf-8" ? new Utf8Decoder() : others.decoder(encoding)
  }
}

/** Windows-1252 from 0x80 to 0x9F; the rest is Latin-1. */
const windows1252 =
  "\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f" +
  "\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178"

class Windows1252Decoder implements Decoder {
  readonly malformed = false

  decode(bytes: Uint8Array): string {
    const output = new CodeUnits()
    for (const byte of bytes) {
      output.push(byte >= 0x80 && byte < 0xa0 ? windows1252.charCodeAt(byte - 0x80) : byte)
    }
    return output.take()
  }
  finish(): string {
    return ""
  }
  reset(): void {}
}

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff

class Utf16Decoder implements Decoder {
  readonly #littleEndian: boolean
  readonly #output = new CodeUnits()
  /** First byte of an incomplete code unit. */
  #byte: number | null = null
  /** High surrogate without its low one. */
  #high: number | null = null
  malformed = false

  constructor(littleEndian: boolean) {
    this.#littleEndian = littleEndian
  }

  decode(bytes: Uint8Array): string {
    for (const byte of bytes) {
      if (this.#byte === null) {
        this.#byte = byte
      } else {
        this.#unit(this.#littleEndian ? (byte << 8) | this.#byte : (this.#byte << 8) | byte)
        this.#byte = null
      }
    }
    return this.#output.take()
  }

  finish(): string {
    // Half a unit after half a surrogate pair is one error, not two.
    if (this.#byte !== null || this.#high !== null) {
      this.#invalid()
    }
    this.#byte = null
    this.#high = null
    return this.#output.take()
  }

  reset(): void {
    this.#byte = null
    this.#high = null
    this.malformed = false
    this.#output.take()
  }

  #unit(unit: number): void {
    const high = this.#high
    this.#high = null
    if (high !== null && isLow(unit)) {
      this.#output.push(high)
      this.#output.push(unit)
      return
    }
    if (high !== null) {
      this.#invalid()
    }
    if (isHigh(unit)) {
      this.#high = unit
    } else if (isLow(unit)) {
      this.#invalid()
    } else {
      this.#output.push(unit)
    }
  }

  #invalid(): void {
    this.malformed = true
    this.#output.push(0xfffd)
  }
}
