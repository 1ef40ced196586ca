/**
 * True if `signature`, of the form `sha256=<hex>`, is the HMAC-SHA-256 of `body` under `secret`. `subtle.verify` compares
 * in constant time.
 */
export const isSigned = async (body: string, signature: string, secret: string): Promise<boolean> => {
  const bytes = signatureBytes(signature)
  if (bytes === null) return false
  const key = await crypto.subtle.importKey("raw", utf8(secret), { name: "HMAC", hash: "SHA-256" }, false, ["verify"])
  return crypto.subtle.verify("HMAC", key, bytes, utf8(body))
}

const signatureBytes = (signature: string): Uint8Array<ArrayBuffer> | null => {
  const hex = /^sha256=([0-9a-f]{64})$/.exec(signature)?.[1]
  if (hex === undefined) return null
  return Uint8Array.from({ length: hex.length / 2 }, (_, index) =>
    Number.parseInt(hex.slice(index * 2, index * 2 + 2), 16)
  )
}

const utf8 = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(new TextEncoder().encode(text))
