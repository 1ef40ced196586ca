/** Base64 encoding and decoding, fast enough for the megabytes that pass between host and guest. */

// Every runtime has these two, and core depends on no platform's types (see Utf8.ts).
declare const TextEncoder: new () => { readonly encode: (text: string) => Uint8Array }
declare const TextDecoder: new (label?: string) => { readonly decode: (bytes: Uint8Array) => string }

const encoder = new TextEncoder()
const decoder = new TextDecoder()

const letters = encoder.encode("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
const padding = 61
const noDigit = 255

const digits = new Uint8Array(256).fill(noDigit)
for (const [value, letter] of letters.entries()) digits[letter] = value

export const base64Encode = (bytes: Uint8Array): string => {
  const { length } = bytes
  const output = new Uint8Array(Math.ceil(length / 3) * 4)
  let to = 0
  for (let from = 0; from < length; from += 3) {
    const left = length - from
    const first = bytes[from] ?? 0
    const second = left > 1 ? (bytes[from + 1] ?? 0) : 0
    const third = left > 2 ? (bytes[from + 2] ?? 0) : 0
    output[to] = letters[first >> 2] ?? 0
    output[to + 1] = letters[((first & 3) << 4) | (second >> 4)] ?? 0
    output[to + 2] = left > 1 ? (letters[((second & 15) << 2) | (third >> 6)] ?? 0) : padding
    output[to + 3] = left > 2 ? (letters[third & 63] ?? 0) : padding
    to += 4
  }
  return decoder.decode(output)
}

/** Returns null if the text is not padded base64. */
export const base64Decode = (text: string): Uint8Array | null => {
  const input = encoder.encode(text)
  if (input.length % 4 !== 0 || input.length !== text.length) return null
  const padded = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0
  const output = new Uint8Array((input.length / 4) * 3 - padded)
  // Padding at the end decodes as zeros. Anywhere else `=` is not a digit.
  if (padded > 0) input.fill(65, input.length - padded)
  let to = 0
  for (let from = 0; from < input.length; from += 4) {
    const first = digits[input[from] ?? 0] ?? noDigit
    const second = digits[input[from + 1] ?? 0] ?? noDigit
    const third = digits[input[from + 2] ?? 0] ?? noDigit
    const fourth = digits[input[from + 3] ?? 0] ?? noDigit
    if ((first | second | third | fourth) > 63) return null
    const group = (first << 18) | (second << 12) | (third << 6) | fourth
    output[to++] = group >> 16
    output[to++] = (group >> 8) & 255
    output[to++] = group & 255
  }
  return output
}
