/** Base64 (RFC 4648, section 4) for bytes that leave the realm. */
import { apply, charCodeAt, fromCharCode, typedArrayLength } from "./primordials.ts"

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
const padding = 0x3d

/** Codes per conversion to text. A text that is built letter by letter takes 20 times its length in memory. */
const batch = 4096

/** Created before user code runs: to write an existing index of an array calls no user code. */
const codes: Array<number> = []
for (let at = 0; at < batch; at++) codes.push(0)

/** Returns the length of the base64 of this number of bytes. */
export const base64Length = (bytes: number): number => 4 * ((bytes + 2 - ((bytes + 2) % 3)) / 3)

export const base64 = (bytes: Uint8Array): string => {
  const length = typedArrayLength(bytes)
  let text = ""
  let filled = 0
  for (let at = 0; at < length; at += 3) {
    const group = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0)
    codes[filled] = charCodeAt(alphabet, group >> 18)
    codes[filled + 1] = charCodeAt(alphabet, (group >> 12) & 63)
    codes[filled + 2] = at + 1 < length ? charCodeAt(alphabet, (group >> 6) & 63) : padding
    codes[filled + 3] = at + 2 < length ? charCodeAt(alphabet, group & 63) : padding
    filled += 4
    if (filled === batch) {
      text += apply(fromCharCode, undefined, codes)
      filled = 0
    }
  }
  for (let at = 0; at < filled; at++) text += fromCharCode(codes[at] ?? 0)
  return text
}
