/** Creates self-signed certificates for 127.0.0.1. Node can parse certificates but cannot create them. */
import { generateKeyPairSync, randomBytes, sign } from "node:crypto"

/** Encodes a value in DER: tag, length, content. */
const der = (tag: number, ...parts: ReadonlyArray<Uint8Array>): Buffer => {
  const content = Buffer.concat(parts)
  const { length } = content
  const head = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.from([tag, ...head]), content])
}

const sequence = (...parts: ReadonlyArray<Uint8Array>) => der(0x30, ...parts)
const bytes = (hex: string) => Buffer.from(hex, "hex")
const oid = (hex: string) => der(0x06, bytes(hex))
const utcTime = (instant: Date) =>
  der(0x17, Buffer.from(`${instant.toISOString().replace(/[-:T]/g, "").slice(2, 14)}Z`))

const ecdsaWithSha256 = sequence(oid("2a8648ce3d040302"))
const name = sequence(der(0x31, sequence(oid("550403"), der(0x0c, Buffer.from("test")))))
/** Extension `subjectAltName` with 127.0.0.1 and localhost. */
const altNames = sequence(
  oid("551d11"),
  der(0x04, sequence(der(0x87, Buffer.from([127, 0, 0, 1])), der(0x82, Buffer.from("localhost"))))
)

/** Creates a certificate and key in PEM, valid from yesterday until tomorrow. */
export const selfSigned = (): { readonly cert: string; readonly key: string } => {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  const day = 24 * 60 * 60_000
  const content = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ecdsaWithSha256,
    name,
    sequence(utcTime(new Date(Date.now() - day)), utcTime(new Date(Date.now() + day))),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(altNames))
  )
  const signature = der(0x03, Buffer.from([0]), sign("sha256", content, privateKey))
  const lines = sequence(content, ecdsaWithSha256, signature).toString("base64").replace(/.{64}/g, "$&\n")
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines.trimEnd()}\n-----END CERTIFICATE-----\n`,
    key: String(privateKey.export({ type: "pkcs8", format: "pem" }))
  }
}
