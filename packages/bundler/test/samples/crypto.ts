/** Cryptography. Each function runs in Node and in the sandbox, with the same result. */
import crypto from "node:crypto"
import { ec, rsa } from "./keys.ts"

export const hashes = () => [
  ...["md5", "sha1", "sha256", "sha384", "sha512", "sha3-256", "ripemd160", "RSA-SHA256"].map((name) =>
    crypto.createHash(name).update("a").update("ü").digest("hex")
  ),
  crypto.createHmac("sha256", "key").update("text").digest("base64"),
  crypto.createHash("sha256").copy().digest("base64url"),
  crypto.hash("sha1", "a")
]

export const derivation = () => [
  crypto.pbkdf2Sync("password", "salt", 10, 20, "sha512").toString("hex"),
  crypto.scryptSync("password", "salt", 20, { N: 16 }).toString("hex"),
  Buffer.from(crypto.hkdfSync("sha256", "key", "salt", "info", 20)).toString("hex")
]

export const ciphers = () => {
  const [key, iv] = [Buffer.alloc(32, 7), Buffer.alloc(16, 9)]
  const cbc = crypto.createCipheriv("aes-256-cbc", key, iv)
  const gcm = crypto.createCipheriv("aes-256-gcm", key, iv.subarray(0, 12))
  const sealed = Buffer.concat([gcm.setAAD(Buffer.from("more")).update("secret"), gcm.final()])
  const opened = crypto.createDecipheriv("aes-256-gcm", key, iv.subarray(0, 12))
  opened.setAAD(Buffer.from("more")).setAuthTag(gcm.getAuthTag())
  const text = Buffer.concat([opened.update(sealed), opened.final()]).toString()
  return [
    cbc.update("secret", "utf8", "hex") + cbc.final("hex"),
    sealed.toString("hex"),
    gcm.getAuthTag().toString("hex"),
    text
  ]
}

export const signatures = () => {
  const signature = crypto.createSign("RSA-SHA256").update("text").sign(rsa, "base64")
  const isVerified = (key: string, input: string): boolean =>
    crypto.createVerify("RSA-SHA256").update(input).verify(crypto.createPublicKey(key), signature, "base64")
  const compact = crypto.sign("sha256", Buffer.from("text"), { key: ec, dsaEncoding: "ieee-p1363" })
  const pss = { key: rsa, padding: crypto.constants.RSA_PKCS1_PSS_PADDING }
  return [
    signature,
    isVerified(rsa, "text"),
    isVerified(rsa, "other"),
    crypto.verify(
      "sha256",
      Buffer.from("text"),
      { key: crypto.createPublicKey(ec), dsaEncoding: "ieee-p1363" },
      compact
    ),
    crypto.verify("sha256", Buffer.from("text"), pss, crypto.sign("sha256", Buffer.from("text"), pss)),
    crypto.createPrivateKey(ec).asymmetricKeyDetails?.namedCurve,
    crypto.createPublicKey(rsa).export({ format: "pem", type: "spki" }),
    { ...crypto.createPublicKey(ec).export({ format: "jwk" }) }
  ]
}

export const random = () => {
  const value = crypto.randomInt(5, 7)
  return [
    crypto.randomBytes(8).length,
    crypto.randomUUID().length,
    value >= 5 && value < 7,
    crypto.timingSafeEqual(Buffer.from("a"), Buffer.from("a"))
  ]
}
