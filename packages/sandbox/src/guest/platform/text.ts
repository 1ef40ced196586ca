/** `TextEncoder` and `TextDecoder`. */
import { type BufferSource, bytesOf, isBufferSource } from "./bytes.ts"
import { brand } from "./define.ts"
import { type Decoder, decoderFor, findEncoding } from "./encodings.ts"
import * as Utf8 from "./utf8.ts"

const requireEncoder = (isEncoder: boolean): void => {
  if (!isEncoder) {
    throw new TypeError("this is not a TextEncoder")
  }
}

export class TextEncoder {
  readonly #encoding = "utf-8"

  get encoding(): string {
    return this.#encoding
  }

  encode(text: string = ""): Uint8Array<ArrayBuffer> {
    requireEncoder(#encoding in this)
    return Utf8.encode(String(text))
  }

  encodeInto(text: string, destination: Uint8Array): { read: number; written: number } {
    requireEncoder(#encoding in this)
    if (!(destination instanceof Uint8Array)) {
      throw new TypeError("TextEncoder.encodeInto: the destination must be a Uint8Array.")
    }
    return Utf8.encodeInto(String(text), destination)
  }
}

export interface TextDecoderOptions {
  readonly fatal?: boolean
  readonly ignoreBOM?: boolean
}

export class TextDecoder {
  readonly #encoding: string
  readonly #fatal: boolean
  readonly #ignoreBom: boolean
  readonly #decoder: Decoder
  /** True if anything was decoded since the start of the stream: then the byte order mark has passed. */
  #started = false
  #streaming = false

  constructor(label: string = "utf-8", options: TextDecoderOptions = {}) {
    const encoding = findEncoding(String(label))
    if (encoding === undefined) {
      throw new RangeError(`The "${label}" encoding is not supported`)
    }
    this.#encoding = encoding
    this.#fatal = Boolean(options?.fatal)
    this.#ignoreBom = Boolean(options?.ignoreBOM)
    this.#decoder = decoderFor(encoding)
  }

  get encoding(): string {
    return this.#encoding
  }
  get fatal(): boolean {
    return this.#fatal
  }
  get ignoreBOM(): boolean {
    return this.#ignoreBom
  }

  decode(input: BufferSource | undefined = undefined, options: { readonly stream?: boolean } = {}): string {
    if (input !== undefined && !isBufferSource(input)) {
      throw new TypeError("TextDecoder.decode: the input must be an ArrayBuffer or a view of one.")
    }
    if (!this.#streaming) {
      this.#decoder.reset()
      this.#started = false
    }
    this.#streaming = Boolean(options?.stream)
    let text = input === undefined ? "" : this.#decoder.decode(bytesOf(input))
    if (!this.#streaming) {
      text += this.#decoder.finish()
    }
    if (this.#fatal && this.#decoder.malformed) {
      this.#streaming = false
      throw new TypeError(`The encoded data was not valid for encoding ${this.#encoding}`)
    }
    return this.#withoutMark(text)
  }

  #withoutMark(text: string): string {
    if (this.#started || text === "") {
      return text
    }
    this.#started = true
    const hasMark = this.#encoding.startsWith("utf-") && text.startsWith("\ufeff")
    return hasMark && !this.#ignoreBom ? text.slice(1) : text
  }
}

brand({ TextEncoder, TextDecoder })
