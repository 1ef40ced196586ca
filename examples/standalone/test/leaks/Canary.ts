/** A secret that can be found in any output and encoding. */
import { randomBytes } from "node:crypto"

export interface Canary {
  readonly name: string
  /** Byte sequences to search for: plain, hex and Base64, also as part of longer text. */
  readonly forms: ReadonlyArray<Buffer>
}

export const makeCanary = (name: string, ...values: ReadonlyArray<string | Uint8Array>): Canary => ({
  name,
  forms: values.flatMap((value) => encode(Buffer.from(value)))
})

/** Returns 32 random hex digits, which text encodings do not change. */
export const freshDigits = (): string => randomBytes(16).toString("hex")

/** Creates the canary of a token `[<prefix>_]<uuid>_<secret>`. Its id is not secret. */
export const tokenCanary = (name: string, token: string): Canary => {
  const [, secret = ""] = /[0-9a-f]{12}_(.{20,})$/.exec(token) ?? []
  if (secret === "") throw new Error(`The ${name} has no secret`)
  return makeCanary(name, secret, Buffer.from(secret, "base64url"))
}

/** Returns the names of the canaries in `bytes`. */
export const findCanaries = (bytes: Buffer, canaries: ReadonlyArray<Canary>): ReadonlyArray<string> =>
  canaries.filter(({ forms }) => forms.some((form) => bytes.includes(form))).map(({ name }) => name)

const encode = (bytes: Buffer): ReadonlyArray<Buffer> =>
  [
    bytes,
    Buffer.from(bytes.toString("latin1"), "utf16le"),
    bytes.toString("hex"),
    bytes.toString("hex").toUpperCase(),
    ...[0, 1, 2].flatMap((before) => {
      const inner = base64Within(bytes, before)
      return [inner, inner.replaceAll("+", "-").replaceAll("/", "_")]
    })
  ].map((form) => Buffer.from(form))

/** Returns the Base64 text that does not depend on the surrounding bytes, `before` of which are in the same group. */
const base64Within = (bytes: Buffer, before: number): string => {
  const text = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64")
  const whole = text.slice(0, Math.floor(((before + bytes.length) * 8) / 6))
  return whole.slice(Math.ceil((before * 8) / 6))
}
