/** Forms (`application/x-www-form-urlencoded`), decoded as the URL standard requires. */
import { charCodeAt, fromCharCode, parse, slice, stringify } from "./primordials.ts"

const [ampersand, equals, plus, percent] = [0x26, 0x3d, 0x2b, 0x25]
const replacement = "\ufffd"

/** Returns the fields by name. A repeated name has its last value. */
export const parseForm = (text: string): unknown => {
  // `parse` creates own properties only, whatever the names are and whatever user code did to prototypes.
  let json = ""
  let start = 0
  while (start < text.length) {
    let end = start
    let mark = -1
    for (; end < text.length; end++) {
      const unit = charCodeAt(text, end)
      if (unit === ampersand) break
      if (unit === equals && mark === -1) mark = end
    }
    if (end > start) {
      const name = decode(text, start, mark === -1 ? end : mark)
      const value = mark === -1 ? "" : decode(text, mark + 1, end)
      json += `${json === "" ? "" : ","}${stringify(name)}:${stringify(value)}`
    }
    start = end + 1
  }
  return parse(`{${json}}`)
}

/** Decodes a name or a value between two indexes. */
const decode = (text: string, start: number, end: number): string => {
  let decoded = ""
  let copied = start
  let at = start
  while (at < end) {
    const unit = charCodeAt(text, at)
    const byte = unit === percent ? byteAt(text, at, end) : -1
    if (unit !== plus && byte === -1) {
      at++
      continue
    }
    decoded += slice(text, copied, at)
    if (unit === plus) {
      decoded += " "
      at++
    } else {
      const character = readCharacter(text, at, end, byte)
      decoded += character.text
      at = character.end
    }
    copied = at
  }
  return decoded + slice(text, copied, end)
}

/** Reads the escaped UTF-8 character whose first byte is at `at`. An invalid sequence is one replacement character. */
const readCharacter = (
  text: string,
  at: number,
  end: number,
  first: number
): { readonly text: string; readonly end: number } => {
  let next = at + 3
  if (first < 0x80) return { text: fromCharCode(first), end: next }
  if (first < 0xc2 || first > 0xf4) return { text: replacement, end: next }
  let missing = first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3
  let codePoint = first & (0x3f >> missing)
  // Narrower ranges exclude overlong forms, surrogates and values above U+10FFFF.
  let lower = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80
  let upper = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf
  for (; missing > 0; missing--) {
    const byte = byteAt(text, next, end)
    if (byte < lower || byte > upper) return { text: replacement, end: next }
    codePoint = (codePoint << 6) | (byte & 0x3f)
    next += 3
    lower = 0x80
    upper = 0xbf
  }
  if (codePoint < 0x10000) return { text: fromCharCode(codePoint), end: next }
  const rest = codePoint - 0x10000
  return { text: fromCharCode(0xd800 + (rest >> 10), 0xdc00 + (rest & 0x3ff)), end: next }
}

/** Returns the byte of the escape `%XX` at `at`, or -1 without one before `end`. */
const byteAt = (text: string, at: number, end: number): number => {
  if (at + 2 >= end || charCodeAt(text, at) !== percent) return -1
  const high = digitAt(text, at + 1)
  const low = digitAt(text, at + 2)
  return high === -1 || low === -1 ? -1 : high * 16 + low
}

/** Returns the value of the hexadecimal digit, or -1. */
const digitAt = (text: string, at: number): number => {
  const unit = charCodeAt(text, at)
  if (unit >= 0x30 && unit <= 0x39) return unit - 0x30
  const lower = unit | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}
