/** Formats of keys: PEM and DER of PKCS #8, SPKI, PKCS #1, SEC 1 and X.509, and JWK. */
import { Buffer } from "node:buffer"
import {
  at,
  type Element,
  fromInteger,
  readElement,
  readSequence,
  tags,
  toInteger,
  write,
  writeInteger,
  writeOid
} from "./der.ts"
import { type CurveName, curves, derivePublic, type ExportOptions, type Material } from "./KeyObject.ts"
import type { RsaPrivate, RsaPublic } from "./rsa.ts"

type Asymmetric = Exclude<Material, { readonly kind: "secret" }>

const rsaOid = "2a864886f70d010101"
const ecOid = "2a8648ce3d0201"
const edOid = "2b6570"

const unsupported = (what: string): Error =>
  Object.assign(new Error(`The key is not supported: ${what}`), { code: "ERR_OSSL_UNSUPPORTED" })

const isCurve = (name: string): name is CurveName => Object.hasOwn(curves, name)

const findCurve = (test: (name: CurveName) => boolean): CurveName => {
  const found = Object.keys(curves).filter(isCurve).find(test)
  if (found === undefined) throw unsupported("an unknown curve")
  return found
}

const hexOf = ({ content }: Element): string => content.toString("hex")

const readRsaPublic = (bytes: Buffer): RsaPublic => {
  const [n, e] = readSequence(bytes).map(toInteger)
  if (n === undefined || e === undefined) throw unsupported("an RSA key without modulus")
  return { n, e }
}

const readRsaPrivate = (bytes: Buffer): RsaPrivate => {
  const [, n, e, d, p, q, dp, dq, qi] = readSequence(bytes).map(toInteger)
  if (n === undefined || e === undefined || d === undefined || p === undefined || q === undefined)
    throw unsupported("an RSA key without factors")
  if (dp === undefined || dq === undefined || qi === undefined) throw unsupported("an RSA key without exponents")
  return { n, e, d, p, q, dp, dq, qi }
}

const fromRsa = (key: RsaPrivate): Asymmetric => ({ kind: "rsa", public: { n: key.n, e: key.e }, private: key })

const fromScalar = (curve: CurveName, secret: Uint8Array): Asymmetric => ({
  kind: "ec",
  curve,
  public: derivePublic(curve, secret),
  private: secret
})

const readSec1 = (bytes: Buffer, known?: CurveName): Asymmetric => {
  const elements = readSequence(bytes)
  const parameters = elements.find(({ tag }) => tag === 0xa0)
  const curve =
    known ??
    findCurve((name) => parameters !== undefined && curves[name].oid === hexOf(readElement(parameters.content)))
  return fromScalar(curve, Uint8Array.from(at(elements, 1).content))
}

const readPkcs8 = (bytes: Buffer): Asymmetric => {
  const elements = readSequence(bytes)
  const [oid, parameters] = readSequence(at(elements, 1).whole)
  const key = at(elements, 2).content
  if (oid !== undefined && hexOf(oid) === rsaOid) return fromRsa(readRsaPrivate(key))
  if (oid !== undefined && hexOf(oid) === ecOid) {
    return readSec1(
      key,
      findCurve((name) => parameters !== undefined && curves[name].oid === hexOf(parameters))
    )
  }
  if (oid === undefined || hexOf(oid) !== edOid) throw unsupported("an unknown algorithm")
  const secret = Uint8Array.from(readElement(key).content)
  return { kind: "ed25519", public: derivePublic("ed25519", secret), private: secret }
}

const readSpki = (bytes: Buffer): Asymmetric => {
  const elements = readSequence(bytes)
  const [oid, parameters] = readSequence(at(elements, 0).whole)
  // The first byte of a bit string counts unused bits.
  const key = at(elements, 1).content.subarray(1)
  const name = oid === undefined ? "" : hexOf(oid)
  if (name === rsaOid) return { kind: "rsa", public: readRsaPublic(key) }
  if (name === edOid) return { kind: "ed25519", public: Uint8Array.from(key) }
  if (name !== ecOid) throw unsupported("an unknown algorithm")
  const curve = findCurve((each) => parameters !== undefined && curves[each].oid === hexOf(parameters))
  return { kind: "ec", curve, public: Uint8Array.from(key) }
}

/** Returns the public key of a certificate: the seventh field, or the sixth without a version. */
const readCertificate = (bytes: Buffer): Asymmetric => {
  const fields = readSequence(at(readSequence(bytes), 0).whole)
  return readSpki(at(fields, fields[0]?.tag === 0xa0 ? 6 : 5).whole)
}

const readers: Readonly<Record<string, (bytes: Buffer) => Asymmetric>> = {
  "PRIVATE KEY": readPkcs8,
  "RSA PRIVATE KEY": (bytes) => fromRsa(readRsaPrivate(bytes)),
  "EC PRIVATE KEY": (bytes) => readSec1(bytes),
  "PUBLIC KEY": readSpki,
  "RSA PUBLIC KEY": (bytes) => ({ kind: "rsa", public: readRsaPublic(bytes) }),
  CERTIFICATE: readCertificate
}

export const readPem = (text: string): Asymmetric => {
  const [, label = "", body = ""] = /-----BEGIN ([A-Z ]+)-----([\s\S]+?)-----END \1-----/.exec(text) ?? []
  const read = readers[label]
  if (read === undefined) throw unsupported(label === "" ? "it is not PEM" : `PEM of ${label}`)
  return read(Buffer.from(body.replace(/\s/g, ""), "base64"))
}

export const readDer = (bytes: Buffer, type: string): Asymmetric => {
  const labels: Readonly<Record<string, string>> = { pkcs8: "PRIVATE KEY", spki: "PUBLIC KEY", sec1: "EC PRIVATE KEY" }
  const read = readers[labels[type] ?? ""]
  if (read === undefined) throw unsupported(`DER of the type ${type}`)
  return read(bytes)
}

export interface Jwk {
  readonly [name: string]: unknown
}

const bytesOf = (jwk: Jwk, name: string): Buffer => {
  const value = jwk[name]
  if (typeof value !== "string") throw unsupported(`a JWK without ${name}`)
  return Buffer.from(value, "base64url")
}

const integerOf = (jwk: Jwk, name: string): bigint => BigInt(`0x0${bytesOf(jwk, name).toString("hex")}`)

export const readJwk = (jwk: Jwk): Asymmetric => {
  if (jwk.kty === "RSA") {
    const key = { n: integerOf(jwk, "n"), e: integerOf(jwk, "e") }
    if (jwk.d === undefined) return { kind: "rsa", public: key }
    const read = (name: string): bigint => integerOf(jwk, name)
    return fromRsa({ ...key, d: read("d"), p: read("p"), q: read("q"), dp: read("dp"), dq: read("dq"), qi: read("qi") })
  }
  if (jwk.kty === "EC") {
    const curve = findCurve((name) => curves[name].jwk === jwk.crv)
    if (jwk.d !== undefined) return fromScalar(curve, Uint8Array.from(bytesOf(jwk, "d")))
    return {
      kind: "ec",
      curve,
      public: Uint8Array.from(Buffer.concat([Buffer.from([4]), bytesOf(jwk, "x"), bytesOf(jwk, "y")]))
    }
  }
  if (jwk.kty !== "OKP" || jwk.crv !== "Ed25519") throw unsupported(`a JWK of the type ${String(jwk.kty)}`)
  const base = { kind: "ed25519", public: Uint8Array.from(bytesOf(jwk, "x")) } as const
  return jwk.d === undefined ? base : { ...base, private: Uint8Array.from(bytesOf(jwk, "d")) }
}

const toText = (value: bigint, length = 0): string => fromInteger(value, length).toString("base64url")
const encode = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64url")

const writeJwk = (isPrivate: boolean, key: Asymmetric): Jwk => {
  if (key.kind === "rsa") {
    const open = { kty: "RSA", n: toText(key.public.n), e: toText(key.public.e) }
    if (!isPrivate || key.private === undefined) return open
    const { d, p, q, dp, dq, qi } = key.private
    return { ...open, d: toText(d), p: toText(p), q: toText(q), dp: toText(dp), dq: toText(dq), qi: toText(qi) }
  }
  const secret = isPrivate && key.private !== undefined ? { d: encode(key.private) } : {}
  if (key.kind === "ed25519") return { kty: "OKP", crv: "Ed25519", x: encode(key.public), ...secret }
  const half = (key.public.length - 1) / 2
  const [x, y] = [key.public.subarray(1, 1 + half), key.public.subarray(1 + half)]
  return { kty: "EC", crv: curves[key.curve].jwk, x: encode(x), y: encode(y), ...secret }
}

const version0 = writeInteger(0n)

const algorithmOf = (key: Asymmetric): Buffer => {
  if (key.kind === "rsa") return write(tags.sequence, writeOid(rsaOid), write(tags.null))
  if (key.kind === "ed25519") return write(tags.sequence, writeOid(edOid))
  return write(tags.sequence, writeOid(ecOid), writeOid(curves[key.curve].oid))
}

const writeRsaPublic = ({ n, e }: RsaPublic): Buffer => write(tags.sequence, writeInteger(n), writeInteger(e))

const writeRsaPrivate = ({ n, e, d, p, q, dp, dq, qi }: RsaPrivate): Buffer =>
  write(tags.sequence, version0, ...[n, e, d, p, q, dp, dq, qi].map(writeInteger))

const writePrivate = (key: Asymmetric): Buffer => {
  if (key.private === undefined) throw unsupported("it has no private part")
  if (key.kind === "rsa") return writeRsaPrivate(key.private)
  if (key.kind === "ed25519") return write(tags.octets, key.private)
  const point = write(0xa1, write(tags.bits, Buffer.alloc(1), key.public))
  return write(tags.sequence, writeInteger(1n), write(tags.octets, key.private), point)
}

const writePublic = (key: Asymmetric): Buffer =>
  key.kind === "rsa" ? writeRsaPublic(key.public) : Buffer.from(key.public)

const toPem = (label: string, der: Buffer): string =>
  `-----BEGIN ${label}-----\n${(der.toString("base64").match(/.{1,64}/g) ?? []).join("\n")}\n-----END ${label}-----\n`

export const writeKey = (isPrivate: boolean, key: Asymmetric, { format = "pem", type }: ExportOptions): unknown => {
  if (format === "jwk") return writeJwk(isPrivate, key)
  const isPkcs1 = type === "pkcs1" && key.kind === "rsa"
  const inner = isPrivate ? writePrivate(key) : writePublic(key)
  const wrapped = isPrivate
    ? write(tags.sequence, version0, algorithmOf(key), write(tags.octets, inner))
    : write(tags.sequence, algorithmOf(key), write(tags.bits, Buffer.alloc(1), inner))
  const der = isPkcs1 ? inner : wrapped
  return format === "der" ? der : toPem(`${isPkcs1 ? "RSA " : ""}${isPrivate ? "PRIVATE" : "PUBLIC"} KEY`, der)
}
