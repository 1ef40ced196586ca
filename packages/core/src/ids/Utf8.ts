/** Text as UTF-8 bytes and back. */

// Every runtime has these two, but TypeScript declares them only together with a platform, and core names none.
declare const TextEncoder: new () => { readonly encode: (text: string) => Uint8Array }
declare const TextDecoder: new (
  label?: string,
  options?: { readonly fatal?: boolean; readonly ignoreBOM?: boolean }
) => { readonly decode: (bytes: Uint8Array, options?: { readonly stream?: boolean }) => string }

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const strictDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

export const utf8Encode = (text: string): Uint8Array => encoder.encode(text)

/** How many bytes `utf8Encode` gives, without making them. */
export const utf8Length = (text: string): number => {
  let bytes = text.length
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit < 0x80) continue
    bytes += unit < 0x800 ? 1 : 2
    // The two halves of a pair make four bytes together.
    if ((unit & 0xfc00) === 0xd800 && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00) index++
  }
  return bytes
}

/** Bytes that are not UTF-8 become U+FFFD. */
export const utf8Decode = (bytes: Uint8Array): string => decoder.decode(bytes)

/** Decodes bytes that come in pieces, which may end within a character. As `utf8Decode` otherwise; a BOM is left out. */
export const utf8Pieces = (): ((bytes: Uint8Array, isLast: boolean) => string) => {
  const pieces = new TextDecoder()
  return (bytes, isLast) => pieces.decode(bytes, { stream: !isLast })
}

/** Null for bytes that are not UTF-8; a byte order mark stays. */
export const utf8DecodeStrict = (bytes: Uint8Array): string | null => {
  try {
    return strictDecoder.decode(bytes)
  } catch {
    return null
  }
}
