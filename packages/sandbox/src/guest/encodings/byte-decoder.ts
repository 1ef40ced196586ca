/** A decoder that consumes one byte at a time. */
import type { Decoder } from "../platform/encodings.ts"
import { CodeUnits } from "../platform/utf8.ts"

export abstract class ByteDecoder implements Decoder {
  malformed = false
  protected readonly output = new CodeUnits()

  /** Consumes a byte. */
  protected abstract step(byte: number): void
  /** Consumes the end of the input. */
  protected abstract end(): void
  /** Returns to the start of the input. */
  protected abstract restart(): void

  decode(bytes: Uint8Array): string {
    for (let index = 0; index < bytes.length; index++) this.step(bytes[index] ?? 0)
    return this.output.take()
  }

  finish(): string {
    this.end()
    return this.output.take()
  }

  reset(): void {
    this.restart()
    this.malformed = false
    this.output.take()
  }

  protected invalid(): void {
    this.malformed = true
    this.output.push(0xfffd)
  }

  /** Ends a sequence. Without a code point it is invalid, and an ASCII byte at its end is consumed on its own. */
  protected conclude(codePoint: number, last: number): void {
    if (codePoint !== 0) {
      this.output.pushCodePoint(codePoint)
      return
    }
    this.invalid()
    if (last < 0x80) this.step(last)
  }
}

/** True if `byte` is from `low` to `high`. */
export const isBetween = (byte: number, low: number, high: number): boolean => byte >= low && byte <= high
