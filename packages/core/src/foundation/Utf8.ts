/** Text as UTF-8 bytes and back. */

// Every runtime has these two, but TypeScript declares them only with a platform's types, and core depends on none.
declare const TextEncoder: new () => { readonly encode: (text: string) => Uint8Array }
declare const TextDecoder: new (
  label?: string,
  options?: { readonly fatal?: boolean; readonly ignoreBOM?: boolean }
) => { readonly decode: (bytes: Uint8Array, options?: { readonly stream?: boolean }) => string }

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const strictDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

export const utf8Encode = (text: string): Uint8Array => encoder.encode(text)

/** Returns the number of bytes that `utf8Encode` would produce, without allocating them. */
export const utf8Length = (text: string): number => {
  let bytes = text.length
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit < 0x80) continue
    bytes += unit < 0x800 ? 1 : 2
    // The two halves of a surrogate pair are four bytes in total.
    if ((unit & 0xfc00) === 0xd800 && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00) index++
  }
  return bytes
}

/** Decodes bytes; invalid UTF-8 becomes U+FFFD. */
export const utf8Decode = (bytes: Uint8Array): string => decoder.decode(bytes)

/** Returns a decoder for chunks, which may end within a character. Like `utf8Decode`, but drops a byte order mark. */
export const utf8StreamDecoder = (): ((bytes: Uint8Array, isLast: boolean) => string) => {
  const streaming = new TextDecoder()
  return (bytes, isLast) => streaming.decode(bytes, { stream: !isLast })
}

/** Decodes bytes and keeps a byte order mark. Returns null for invalid UTF-8. */
export const utf8DecodeStrict = (bytes: Uint8Array): string | null => {
  try {
    return strictDecoder.decode(bytes)
  } catch {
    return null
  }
}
