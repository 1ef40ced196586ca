/** AES in Galois/Counter Mode, with tags of 128 bits. Loading it builds tables, which costs 3 ms and 1 MB. */
import { gcm } from "@noble/ciphers/aes.js"

export interface Parameters {
  readonly iv: Uint8Array
  readonly additionalData: Uint8Array | undefined
}

export const encrypt = (
  key: Uint8Array,
  { iv, additionalData }: Parameters,
  data: Uint8Array
): Uint8Array<ArrayBuffer> => new Uint8Array(gcm(key, iv, additionalData).encrypt(data))

/** Decrypts data; null if it was not encrypted with this key and these parameters. */
export const decrypt = (
  key: Uint8Array,
  { iv, additionalData }: Parameters,
  data: Uint8Array
): Uint8Array<ArrayBuffer> | null => {
  if (data.length < 16) {
    return null
  }
  try {
    return new Uint8Array(gcm(key, iv, additionalData).decrypt(data))
  } catch {
    return null
  }
}
