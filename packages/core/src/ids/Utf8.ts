/** Text as UTF-8 bytes and back. */

// Every runtime has these two, but TypeScript declares them only together with a platform, and core names none.
declare const TextEncoder: new () => { readonly encode: (text: string) => Uint8Array }
declare const TextDecoder: new () => { readonly decode: (bytes: Uint8Array) => string }

const encoder = new TextEncoder()
const decoder = new TextDecoder()

export const utf8Encode = (text: string): Uint8Array => encoder.encode(text)

/** Bytes that are not UTF-8 become U+FFFD. */
export const utf8Decode = (bytes: Uint8Array): string => decoder.decode(bytes)
