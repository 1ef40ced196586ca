/** UTF-8 encoding, and decoding with the error handling of the Encoding standard, in chunks of any size. */

/** Maximum arguments of `String.fromCharCode`: more may overflow the stack. */
const batch = 4096

const replacement = 0xfffd

/** Collects UTF-16 code units into a string. */
export class CodeUnits {
  // A plain array: a typed array takes ten times as long to become arguments.
  #units: Array<number> = []
  #text = ""

  push(unit: number): void {
    if (this.#units.length === batch) {
      this.#text = this.take()
    }
    this.#units.push(unit)
  }

  pushCodePoint(codePoint: number): void {
    if (codePoint > 0xffff) {
      this.push(0xd800 + ((codePoint - 0x10000) >> 10))
      this.push(0xdc00 + ((codePoint - 0x10000) & 0x3ff))
    } else {
      this.push(codePoint)
    }
  }

  /** Removes and returns the collected text. */
  take(): string {
    const text = this.#text + String.fromCharCode.apply(null, this.#units)
    this.#text = ""
    this.#units = []
    return text
  }
}

const codePointAt = (text: string, index: number): number => {
  const unit = text.charCodeAt(index)
  if (unit < 0xd800 || unit > 0xdfff) {
    return unit
  }
  const codePoint = text.codePointAt(index) ?? replacement
  return codePoint > 0xffff ? codePoint : replacement
}

const utf8Size = (codePoint: number): number =>
  codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4

/** Writes a code point at `offset`, where it must fit. */
const write = (bytes: Uint8Array, offset: number, codePoint: number, size: number): void => {
  if (size === 1) {
    bytes[offset] = codePoint
    return
  }
  for (let index = size - 1; index > 0; index--) {
    bytes[offset + index] = 0x80 | ((codePoint >> (6 * (size - 1 - index))) & 0x3f)
  }
  bytes[offset] = ((0xf00 >> size) & 0xff) | (codePoint >> (6 * (size - 1)))
}

/** Returns the number of bytes of `text` in UTF-8. */
const lengthOf = (text: string): number => {
  let length = 0
  for (let index = 0; index < text.length; index++) {
    const codePoint = codePointAt(text, index)
    length += utf8Size(codePoint)
    index += codePoint > 0xffff ? 1 : 0
  }
  return length
}

export const encode = (text: string): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(lengthOf(text))
  encodeInto(text, bytes)
  return bytes
}

/** Encodes as many whole characters as fit. `read` counts UTF-16 units, `written` bytes. */
export const encodeInto = (text: string, bytes: Uint8Array): { read: number; written: number } => {
  let read = 0
  let written = 0
  while (read < text.length) {
    const codePoint = codePointAt(text, read)
    const size = utf8Size(codePoint)
    if (written + size > bytes.length) {
      break
    }
    write(bytes, written, codePoint, size)
    written += size
    read += codePoint > 0xffff ? 2 : 1
  }
  return { read, written }
}

/** Decodes UTF-8 that arrives in chunks. */
export class Utf8Decoder {
  readonly #output = new CodeUnits()
  #codePoint = 0
  /** Number of missing continuation bytes. */
  #missing = 0
  /** Range of the next continuation byte; narrower after some first bytes. */
  #lower = 0x80
  #upper = 0xbf
  #malformed = false

  /** True if invalid sequences occurred since the last `finish`. */
  get malformed(): boolean {
    return this.#malformed
  }

  decode(bytes: Uint8Array): string {
    const output = this.#output
    for (let index = 0; index < bytes.length; index++) {
      const byte = bytes[index] ?? 0
      if (this.#missing === 0) {
        if (byte < 0x80) {
          output.push(byte)
        } else {
          this.#start(byte)
        }
      } else if (byte < this.#lower || byte > this.#upper) {
        this.#invalid()
        index--
      } else {
        this.#continue(byte)
      }
    }
    return output.take()
  }

  /** Ends the input and returns the text of an incomplete sequence. */
  finish(): string {
    if (this.#missing > 0) {
      this.#invalid()
    }
    return this.#output.take()
  }

  reset(): void {
    this.#missing = 0
    this.#lower = 0x80
    this.#upper = 0xbf
    this.#malformed = false
    this.#output.take()
  }

  #start(byte: number): void {
    if (byte >= 0xc2 && byte <= 0xdf) {
      this.#missing = 1
      this.#codePoint = byte & 0x1f
    } else if (byte >= 0xe0 && byte <= 0xef) {
      this.#missing = 2
      this.#codePoint = byte & 0x0f
      this.#lower = byte === 0xe0 ? 0xa0 : 0x80
      this.#upper = byte === 0xed ? 0x9f : 0xbf
    } else if (byte >= 0xf0 && byte <= 0xf4) {
      this.#missing = 3
      this.#codePoint = byte & 0x07
      this.#lower = byte === 0xf0 ? 0x90 : 0x80
      this.#upper = byte === 0xf4 ? 0x8f : 0xbf
    } else {
      this.#invalid()
    }
  }

  #continue(byte: number): void {
    this.#lower = 0x80
    this.#upper = 0xbf
    this.#codePoint = (this.#codePoint << 6) | (byte & 0x3f)
    this.#missing--
    if (this.#missing === 0) {
      this.#output.pushCodePoint(this.#codePoint)
    }
  }

  #invalid(): void {
    this.#missing = 0
    this.#lower = 0x80
    this.#upper = 0xbf
    this.#malformed = true
    this.#output.push(replacement)
  }
}

/** Decodes a whole text and replaces malformed sequences. A byte order mark stays. */
export const decode = (bytes: Uint8Array): string => {
  const decoder = new Utf8Decoder()
  return decoder.decode(bytes) + decoder.finish()
}
