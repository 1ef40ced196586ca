/** `TextEncoderStream` and `TextDecoderStream`. */
import { type BufferSource, isBufferSource } from "./bytes.ts"
import { brand } from "./define.ts"
import { TransformStream } from "./streams.ts"
import { TextDecoder, type TextDecoderOptions, TextEncoder } from "./text.ts"

export class TextEncoderStream {
  readonly #encoding = "utf-8"
  readonly #transform: TransformStream<string, Uint8Array>

  constructor() {
    const encoder = new TextEncoder()
    // A surrogate pair may be split between two chunks.
    let held = ""
    this.#transform = new TransformStream<string, Uint8Array>({
      transform: (chunk, controller) => {
        const text = held + String(chunk)
        const last = text.charCodeAt(text.length - 1)
        held = last >= 0xd800 && last <= 0xdbff ? text.slice(-1) : ""
        const bytes = encoder.encode(held === "" ? text : text.slice(0, -1))
        if (bytes.length > 0) {
          controller.enqueue(bytes)
        }
      },
      flush: (controller) => {
        if (held !== "") {
          controller.enqueue(encoder.encode(held))
        }
      }
    })
  }

  get encoding(): string {
    return this.#encoding
  }
  get readable(): TransformStream<string, Uint8Array>["readable"] {
    return this.#transform.readable
  }
  get writable(): TransformStream<string, Uint8Array>["writable"] {
    return this.#transform.writable
  }
}

export class TextDecoderStream {
  readonly #decoder: TextDecoder
  readonly #transform: TransformStream<BufferSource, string>

  constructor(label: string = "utf-8", options: TextDecoderOptions = {}) {
    const decoder = new TextDecoder(label, options)
    this.#decoder = decoder
    this.#transform = new TransformStream<BufferSource, string>({
      transform: (chunk, controller) => {
        if (!isBufferSource(chunk)) {
          throw new TypeError("TextDecoderStream: each chunk must be an ArrayBuffer or a view of one.")
        }
        const text = decoder.decode(chunk, { stream: true })
        if (text !== "") {
          controller.enqueue(text)
        }
      },
      flush: (controller) => {
        const text = decoder.decode()
        if (text !== "") {
          controller.enqueue(text)
        }
      }
    })
  }

  get encoding(): string {
    return this.#decoder.encoding
  }
  get fatal(): boolean {
    return this.#decoder.fatal
  }
  get ignoreBOM(): boolean {
    return this.#decoder.ignoreBOM
  }
  get readable(): TransformStream<BufferSource, string>["readable"] {
    return this.#transform.readable
  }
  get writable(): TransformStream<BufferSource, string>["writable"] {
    return this.#transform.writable
  }
}

brand({ TextEncoderStream, TextDecoderStream })
