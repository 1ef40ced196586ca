/** Percent-encoding of the URL standard: the characters that each part of a URL escapes. */
import { decode, encode } from "../utf8.ts"

const makeEncodeSet = (characters: string): Uint8Array => {
  const set = new Uint8Array(128)
  // Every set contains the C0 controls and DEL.
  set.fill(1, 0, 0x20)
  set[0x7f] = 1
  for (const character of characters) {
    set[character.charCodeAt(0)] = 1
  }
  return set
}

export type EncodeSet = Uint8Array

export const controlSet: EncodeSet = makeEncodeSet("")
export const fragmentSet: EncodeSet = makeEncodeSet(' "<>`')
export const querySet: EncodeSet = makeEncodeSet(' "#<>')
export const specialQuerySet: EncodeSet = makeEncodeSet(" \"#<>'")
export const pathSet: EncodeSet = makeEncodeSet(' "#<>?^`{}')
export const userinfoSet: EncodeSet = makeEncodeSet(' "#<>?^`{}/:;=@[\\]|')
export const formSet: EncodeSet = makeEncodeSet(" \"#<>?^`{}/:;=@[\\]|$%&+,!'()~")

const escapes: ReadonlyArray<string> = Array.from(
  { length: 256 },
  (_, byte) => "%" + byte.toString(16).toUpperCase().padStart(2, "0")
)

const needs = (unit: number, set: EncodeSet): boolean => unit > 0x7e || set[unit] === 1

export const percentEncode = (text: string, set: EncodeSet): string => {
  let clean = 0
  while (clean < text.length && !needs(text.charCodeAt(clean), set)) {
    clean++
  }
  if (clean === text.length) {
    return text
  }
  let encoded = text.slice(0, clean)
  for (const byte of encode(text.slice(clean))) {
    encoded += needs(byte, set) ? escapes[byte] : String.fromCharCode(byte)
  }
  return encoded
}

const parseHex = (unit: number): number => {
  if (unit >= 0x30 && unit <= 0x39) {
    return unit - 0x30
  }
  const letter = unit | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}

/** Replaces escapes and decodes the bytes as UTF-8; malformed sequences become U+FFFD. */
export const percentDecode = (text: string): string => (text.includes("%") ? decode(percentDecodeBytes(text)) : text)

/** Replaces escapes; other characters become the bytes of UTF-8. */
export const percentDecodeBytes = (text: string): Uint8Array<ArrayBuffer> => {
  const bytes = encode(text)
  let length = 0
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] ?? 0
    const high = byte === 0x25 ? parseHex(bytes[index + 1] ?? 0) : -1
    const low = high >= 0 ? parseHex(bytes[index + 2] ?? 0) : -1
    bytes[length++] = low >= 0 ? high * 16 + low : byte
    index += low >= 0 ? 2 : 0
  }
  return bytes.subarray(0, length)
}
