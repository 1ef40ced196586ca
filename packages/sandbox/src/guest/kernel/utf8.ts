import { charCodeAt } from "./primordials.ts"

/** Returns the number of bytes of the text in UTF-8. A lone surrogate counts as three, the size of its replacement. */
export const utf8Bytes = (text: string): number => {
  const length = text.length
  let bytes = length
  for (let at = 0; at < length; at++) {
    const unit = charCodeAt(text, at)
    if (unit < 0x80) continue
    if (unit < 0x800) {
      bytes += 1
    } else if (unit >= 0xd800 && unit < 0xdc00 && at + 1 < length && isLow(charCodeAt(text, at + 1))) {
      bytes += 2
      at++
    } else {
      bytes += 2
    }
  }
  return bytes
}

/** True if the text has over `max` bytes. Counts only if the length does not decide it. */
export const isLonger = (text: string, max: number): boolean =>
  text.length > max || (text.length * 3 > max && utf8Bytes(text) > max)

const isLow = (unit: number): boolean => unit >= 0xdc00 && unit < 0xe000
