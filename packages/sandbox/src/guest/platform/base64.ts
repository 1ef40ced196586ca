/** Base64 as in `atob` and `btoa`. */
import { DOMException } from "./dom-exception.ts"
import { CodeUnits } from "./utf8.ts"

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

const digits = new Int8Array(128).fill(-1)
for (let value = 0; value < 64; value++) {
  digits[alphabet.charCodeAt(value)] = value
}

const padding = 0x3d

/** Letters per conversion to text: more would be too many arguments. */
const batch = 8192

const encode = (length: number, byteAt: (index: number) => number): string => {
  const output = new CodeUnits()
  for (let index = 0; index < length; index += 3) {
    const left = length - index
    const group = (byteAt(index) << 16) | (left > 1 ? byteAt(index + 1) << 8 : 0) | (left > 2 ? byteAt(index + 2) : 0)
    output.push(alphabet.charCodeAt(group >> 18))
    output.push(alphabet.charCodeAt((group >> 12) & 63))
    output.push(left > 1 ? alphabet.charCodeAt((group >> 6) & 63) : padding)
    output.push(left > 2 ? alphabet.charCodeAt(group & 63) : padding)
  }
  return output.take()
}

/** Decodes `text`, ignoring white space, and emits its bytes; false if it is not base64. */
const decode = (text: string, emit: (byte: number) => void): boolean => {
  let data = text.replace(/[\t\n\f\r ]+/g, "")
  if (data.length % 4 === 0) {
    data = data.replace(/={1,2}$/, "")
  }
  if (data.length % 4 === 1) {
    return false
  }
  let bits = 0
  let held = 0
  for (let index = 0; index < data.length; index++) {
    const digit = digits[data.charCodeAt(index)] ?? -1
    if (digit < 0) {
      return false
    }
    bits = ((bits << 6) | digit) & 0xffff
    held += 6
    if (held >= 8) {
      held -= 8
      emit((bits >> held) & 0xff)
    }
  }
  return true
}

export const btoa = (data: string): string => {
  const text = String(data)
  for (let index = 0; index < text.length; index++) {
    if (text.charCodeAt(index) > 0xff) {
      throw new DOMException("Invalid character", "InvalidCharacterError")
    }
  }
  return encode(text.length, (index) => text.charCodeAt(index))
}

export const atob = (data: string): string => {
  const output = new CodeUnits()
  if (!decode(String(data), (byte) => output.push(byte))) {
    throw new DOMException("The string to be decoded is not correctly encoded.", "InvalidCharacterError")
  }
  return output.take()
}

/** Decodes base64 as `atob`; null if it is malformed. */
export const decodeBase64 = (text: string): Uint8Array<ArrayBuffer> | null => {
  const bytes = new Uint8Array(Math.ceil((text.length * 3) / 4))
  let length = 0
  const valid = decode(text, (byte) => {
    bytes[length++] = byte
  })
  return valid ? bytes.slice(0, length) : null
}

/** Encodes base64 with padding, optimized for speed. */
export const encodeBytes = (bytes: Uint8Array): string => {
  let text = ""
  let codes: Array<number> = []
  for (let index = 0; index < bytes.length; index += 3) {
    const left = bytes.length - index
    const group = ((bytes[index] ?? 0) << 16) | ((bytes[index + 1] ?? 0) << 8) | (bytes[index + 2] ?? 0)
    codes.push(
      alphabet.charCodeAt(group >> 18),
      alphabet.charCodeAt((group >> 12) & 63),
      left > 1 ? alphabet.charCodeAt((group >> 6) & 63) : padding,
      left > 2 ? alphabet.charCodeAt(group & 63) : padding
    )
    if (codes.length >= batch) {
      text += String.fromCharCode.apply(null, codes)
      codes = []
    }
  }
  return text + String.fromCharCode.apply(null, codes)
}

/** Returns the number of bytes of padded base64. */
export const decodedLength = (text: string): number =>
  (text.length / 4) * 3 - (text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0)

/**
 * Decodes padded base64 into `bytes` from `start`. The text is valid, because the host made it. Padding writes up to two
 * zeros after the bytes, as far as they fit.
 */
export const decodeInto = (text: string, bytes: Uint8Array, start: number): void => {
  let to = start
  for (let index = 0; index < text.length; index += 4) {
    const group =
      ((digits[text.charCodeAt(index)] ?? 0) << 18) |
      ((digits[text.charCodeAt(index + 1)] ?? 0) << 12) |
      (((digits[text.charCodeAt(index + 2)] ?? 0) & 63) << 6) |
      ((digits[text.charCodeAt(index + 3)] ?? 0) & 63)
    bytes[to++] = group >> 16
    bytes[to++] = group >> 8
    bytes[to++] = group
  }
}
