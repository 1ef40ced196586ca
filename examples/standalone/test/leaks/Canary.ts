/** A secret that is easy to find again, in whatever it was written to, by whatever encoding. */
import { randomBytes } from "node:crypto"

export interface Canary {
  readonly name: string
  /** What to look for: the bytes themselves and as hex and Base64 would write them, also within something longer. */
  readonly forms: ReadonlyArray<Buffer>
}

export const canaryOf = (name: string, ...values: ReadonlyArray<string | Uint8Array>): Canary => ({
  name,
  forms: values.flatMap((value) => formsOf(Buffer.from(value)))
})

/** 32 hex digits: no encoding of text changes them. */
export const freshDigits = (): string => randomBytes(16).toString("hex")

/** The canary of a token `[<prefix>_]<uuid>_<secret>`; the id may be seen by everybody. */
export const tokenCanary = (name: string, token: string): Canary => {
  const [, secret = ""] = /[0-9a-f]{12}_(.{20,})$/.exec(token) ?? []
  if (secret === "") throw new Error(`The ${name} has no secret`)
  return canaryOf(name, secret, Buffer.from(secret, "base64url"))
}

/** The names of those that are in `bytes`. */
export const found = (bytes: Buffer, canaries: ReadonlyArray<Canary>): ReadonlyArray<string> =>
  canaries.filter(({ forms }) => forms.some((form) => bytes.includes(form))).map(({ name }) => name)

const formsOf = (bytes: Buffer): ReadonlyArray<Buffer> =>
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

/** The part of a Base64 text that does not depend on what stands around the bytes, of which `before` are in its group. */
const base64Within = (bytes: Buffer, before: number): string => {
  const text = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64")
  const whole = text.slice(0, Math.floor(((before + bytes.length) * 8) / 6))
  return whole.slice(Math.ceil((before * 8) / 6))
}
