/** Text as UTF-8 bytes and back. */

// Every runtime has these two, but TypeScript declares them only together with a platform, and core names none.
declare const TextEncoder: new () => { readonly encode: (text: string) => Uint8Array }
declare const TextDecoder: new (
  label?: string,
  options?: { readonly fatal?: boolean; readonly ignoreBOM?: boolean }
) => { readonly decode: (bytes: Uint8Array) => string }

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const strictDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

export const utf8Encode = (text: string): Uint8Array => encoder.encode(text)

/** Bytes that are not UTF-8 become U+FFFD. */
export const utf8Decode = (bytes: Uint8Array): string => decoder.decode(bytes)

/** Null for bytes that are not UTF-8; a byte order mark stays. */
export const utf8DecodeStrict = (bytes: Uint8Array): string | null => {
  try {
    return strictDecoder.decode(bytes)
  } catch {
    return null
  }
}
