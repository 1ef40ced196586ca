/** Known vectors of the algorithms, round trips of the formats, and errors of `crypto.subtle`. */
import { assert, describe, it } from "vitest"
import { sameAsNode } from "./compare.ts"
import { Guest } from "./Guest.ts"

const prelude = `
  const { subtle } = crypto
  const hex = (text) => Uint8Array.from(text.replace(/\\s/g, "").match(/../g) ?? [], (pair) => parseInt(pair, 16))
  const text = (string) => new TextEncoder().encode(string)
  const toHex = (buffer) => Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, "0")).join("")
  const nameOf = async (run) => { try { await run(); return "none" } catch (error) { return error.name } }
  const raw = (bytes, algorithm, ...usages) => subtle.importKey("raw", bytes, algorithm, true, usages)`

/** Bodies of async functions with the values that a standard gives for them. */
const vectors: Readonly<Record<string, readonly [code: string, expected: unknown]>> = {
  "HMAC-SHA-256 as in RFC 4231, case 2": [
    `const key = await raw(text("Jefe"), { name: "HMAC", hash: "SHA-256" }, "sign")
     return toHex(await subtle.sign("HMAC", key, text("what do ya want for nothing?")))`,
    "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
  ],
  "AES-CBC as in NIST SP 800-38A, F.2.1": [
    `const key = await raw(hex("2b7e151628aed2a6abf7158809cf4f3c"), "AES-CBC", "encrypt")
     const iv = hex("000102030405060708090a0b0c0d0e0f")
     return toHex(await subtle.encrypt({ name: "AES-CBC", iv }, key, hex("6bc1bee22e409f96e93d7e117393172a"))).slice(0, 32)`,
    "7649abac8119b246cee98e9b12e9197d"
  ],
  "AES-CTR as in NIST SP 800-38A, F.5.1": [
    `const key = await raw(hex("2b7e151628aed2a6abf7158809cf4f3c"), "AES-CTR", "encrypt")
     const counter = hex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff")
     return toHex(await subtle.encrypt({ name: "AES-CTR", counter, length: 128 }, key, hex("6bc1bee22e409f96e93d7e117393172a")))`,
    "874d6191b620e3261bef6864990db6ce"
  ],
  "AES-GCM as in the GCM specification, case 4": [
    `const key = await raw(hex("feffe9928665731c6d6a8f9467308308"), "AES-GCM", "encrypt")
     const plain = "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"
     const additionalData = hex("feedfacedeadbeeffeedfacedeadbeefabaddad2")
     return toHex(await subtle.encrypt({ name: "AES-GCM", iv: hex("cafebabefacedbaddecaf888"), additionalData }, key, hex(plain))).slice(-32)`,
    "5bc94fbc3221a5db94fae95ae7121a47"
  ],
  "AES-KW as in RFC 3394, 4.1": [
    `const wrapping = await raw(hex("000102030405060708090A0B0C0D0E0F"), "AES-KW", "wrapKey", "unwrapKey")
     const key = await raw(hex("00112233445566778899AABBCCDDEEFF"), "AES-GCM", "encrypt")
     const wrapped = await subtle.wrapKey("raw", key, wrapping, "AES-KW")
     const unwrapped = await subtle.unwrapKey("raw", wrapped, wrapping, "AES-KW", "AES-GCM", true, ["encrypt"])
     return [toHex(wrapped), toHex(await subtle.exportKey("raw", unwrapped))]`,
    ["1fa68b0a8112b447aef34bd8fb5a7b829d3e862371d2cfe5", "00112233445566778899aabbccddeeff"]
  ],
  "HKDF as in RFC 5869, case 1": [
    `const key = await subtle.importKey("raw", new Uint8Array(22).fill(0x0b), "HKDF", false, ["deriveBits"])
     const salt = hex("000102030405060708090a0b0c"), info = hex("f0f1f2f3f4f5f6f7f8f9")
     return toHex(await subtle.deriveBits({ name: "HKDF", hash: "SHA-256", salt, info }, key, 336))`,
    "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
  ],
  "PBKDF2 as in RFC 6070, with 4096 iterations": [
    `const key = await subtle.importKey("raw", text("password"), "PBKDF2", false, ["deriveBits"])
     return toHex(await subtle.deriveBits({ name: "PBKDF2", hash: "SHA-1", salt: text("salt"), iterations: 4096 }, key, 160))`,
    "4b007901b765489abead49d926f721d065a429c1"
  ],
  "Ed25519 as in RFC 8032, 7.1, test 2": [
    `const d = "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb"
     const key = await subtle.importKey("pkcs8", hex("302e020100300506032b657004220420" + d), "Ed25519", true, ["sign"])
     const signature = await subtle.sign("Ed25519", key, hex("72"))
     const open = await raw(hex("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"), "Ed25519", "verify")
     return [toHex(signature), await subtle.verify("Ed25519", open, signature, hex("72")), await subtle.verify("Ed25519", open, signature, hex("73"))]`,
    [
      "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
      true,
      false
    ]
  ],
  "X25519 as in RFC 7748, 5.2": [
    `const d = "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4"
     const key = await subtle.importKey("pkcs8", hex("302e020100300506032b656e04220420" + d), "X25519", true, ["deriveBits"])
     const open = await raw(hex("e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c"), "X25519")
     return toHex(await subtle.deriveBits({ name: "X25519", public: open }, key, 256))`,
    "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"
  ],
  "ECDSA as in RFC 6979, A.2.5": [
    `const point = "0460fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb67903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299"
     const key = await raw(hex(point), { name: "ECDSA", namedCurve: "P-256" }, "verify")
     const signature = hex("efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8")
     const verify = (data) => subtle.verify({ name: "ECDSA", hash: "SHA-256" }, key, signature, text(data))
     return [await verify("sample"), await verify("simple")]`,
    [true, false]
  ],
  "ECDH as in RFC 5903, 8.1": [
    `const jwk = (x, y, d) => ({ kty: "EC", crv: "P-256", ...Object.fromEntries(Object.entries({ x, y, d }).filter(([, v]) => v).map(([k, v]) =>
       [k, btoa(String.fromCharCode(...hex(v))).replace(/\\+/g, "-").replace(/\\//g, "_").replace(/=/g, "")])) })
     const curve = { name: "ECDH", namedCurve: "P-256" }
     const mine = jwk("dad0b65394221cf9b051e1feca5787d098dfe637fc90b9ef945d0c3772581180", "5271a0461cdb8252d61f1c456fa3e59ab1f45b33accf5f58389e0577b8990bb3",
       "c88f01f510d9ac3f70a292daa2316de544e9aab8afe84049c62a9c57862d1433")
     const theirs = jwk("d12dfb5289c8d4f81208b70270398c342296970a0bccb74c736fc7554494bf63", "56fbf3ca366cc23e8157854c13c58d6aac23f046ada30f8353e74f33039872ab")
     const key = await subtle.importKey("jwk", mine, curve, false, ["deriveBits"])
     const open = await subtle.importKey("jwk", theirs, curve, true, [])
     return toHex(await subtle.deriveBits({ name: "ECDH", public: open }, key, 256))`,
    "d6840f6b42f6edafd13116e0e12565202fef8e9ece7dce03812464d04b9442de"
  ]
}

describe("crypto.subtle › known vectors", () => {
  for (const [name, [code, expected]] of Object.entries(vectors)) {
    it(`computes ${name}`, async () => {
      const guest = await Guest.start()
      assert.deepStrictEqual(await guest.run(`${prelude}\n${code}`), expected)
    })
  }
})

const publicExponent = "publicExponent: new Uint8Array([1, 0, 1])"
/** Generation, usages, and the parameters of a use of every algorithm with key pairs. */
const pairs = `[
  [{ name: "RSASSA-PKCS1-v1_5", modulusLength: 2048, ${publicExponent}, hash: "SHA-256" }, ["sign", "verify"], {}],
  [{ name: "RSA-PSS", modulusLength: 2048, ${publicExponent}, hash: "SHA-384" }, ["sign", "verify"], { saltLength: 32 }],
  [{ name: "RSA-OAEP", modulusLength: 2048, ${publicExponent}, hash: "SHA-1" }, ["encrypt", "decrypt"], { label: text("label") }],
  [{ name: "ECDSA", namedCurve: "P-256" }, ["sign", "verify"], { hash: "SHA-256" }],
  [{ name: "ECDSA", namedCurve: "P-384" }, ["sign", "verify"], { hash: { name: "SHA-384" } }],
  [{ name: "ECDSA", namedCurve: "P-521" }, ["sign", "verify"], { hash: "SHA-512" }],
  [{ name: "ECDH", namedCurve: "P-384" }, ["deriveBits", "deriveKey"], {}],
  [{ name: "Ed25519" }, ["sign", "verify"], {}],
  [{ name: "X25519" }, ["deriveBits"], {}]
]`

describe("crypto.subtle › keys", () => {
  sameAsNode({
    "exports and imports pairs in every format": `${prelude}
      const results = []
      for (const [algorithm, usages, parameters] of ${pairs}) {
        const { publicKey, privateKey } = await subtle.generateKey(algorithm, true, usages)
        const { name } = algorithm, data = text("data")
        for (const format of ["raw", "spki", "pkcs8", "jwk"]) for (const key of [publicKey, privateKey]) {
          try {
            const exported = await subtle.exportKey(format, key)
            const copy = await subtle.importKey(format, exported, algorithm, true, key.usages)
            const again = await subtle.exportKey(format, copy)
            const same = format === "jwk" ? JSON.stringify(again) === JSON.stringify(exported) : toHex(again) === toHex(exported)
            const [first, second] = key === publicKey ? [privateKey, copy] : [copy, publicKey]
            let works
            if (usages[0] === "sign") works = await subtle.verify({ name, ...parameters }, second, await subtle.sign({ name, ...parameters }, first, data), data)
            else if (usages[0] === "encrypt") works = toHex(await subtle.decrypt({ name, ...parameters }, first, await subtle.encrypt({ name, ...parameters }, second, data))) === toHex(data)
            else works = (await subtle.deriveBits({ name, public: second }, first, 256)).byteLength
            results.push([name, format, key.type, same, works, copy.type, copy.usages, copy.algorithm.name])
          } catch (error) { results.push([name, format, key.type, error.name]) }
        }
      }
      return results`,
    "wraps every type of key with every algorithm": `${prelude}
      const ec = await subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"])
      const rsa = await subtle.generateKey({ name: "RSA-OAEP", modulusLength: 2048, ${publicExponent}, hash: "SHA-256" }, false, ["wrapKey", "unwrapKey"])
      const results = []
      for (const [name, parameters] of [["AES-KW", {}], ["AES-GCM", { iv: new Uint8Array(12) }], ["AES-CBC", { iv: new Uint8Array(16) }], ["AES-CTR", { counter: new Uint8Array(16), length: 64 }], ["RSA-OAEP", {}]]) {
        const pair = name === "RSA-OAEP" ? rsa : await subtle.generateKey({ name, length: 256 }, false, ["wrapKey", "unwrapKey"])
        for (const [format, key] of [["raw", await raw(new Uint8Array(32).fill(3), "AES-GCM", "encrypt")], ["pkcs8", ec.privateKey], ["spki", ec.publicKey], ["jwk", ec.publicKey]]) {
          try {
            const wrapped = await subtle.wrapKey(format, key, pair.publicKey ?? pair, { name, ...parameters })
            const algorithm = format === "raw" ? "AES-GCM" : { name: "ECDSA", namedCurve: "P-256" }
            const unwrapped = await subtle.unwrapKey(format, wrapped, pair.privateKey ?? pair, { name, ...parameters }, algorithm, true, key.usages)
            results.push([name, format, JSON.stringify(await subtle.exportKey("jwk", unwrapped)) === JSON.stringify(await subtle.exportKey("jwk", key))])
          } catch (error) { results.push([name, format, error.name]) }
        }
      }
      return results`
  })
})

describe("crypto.subtle › derived and cloned keys", () => {
  sameAsNode({
    "derives keys of every kind": `${prelude}
      const salt = new Uint8Array(16), info = new Uint8Array(0)
      const results = []
      for (const [name, parameters] of [["PBKDF2", { salt, iterations: 10, hash: "SHA-256" }], ["HKDF", { salt, info, hash: "SHA-512" }]]) {
        const base = await subtle.importKey("raw", text("secret"), name, false, ["deriveKey", "deriveBits"])
        for (const type of [{ name: "AES-GCM", length: 256 }, { name: "AES-KW", length: 128 }, { name: "HMAC", hash: "SHA-384" }, { name: "HMAC", hash: "SHA-1", length: 160 }]) {
          const usages = type.name === "HMAC" ? ["sign"] : type.name === "AES-KW" ? ["wrapKey"] : ["encrypt"]
          const key = await subtle.deriveKey({ name, ...parameters }, base, type, true, usages)
          results.push([name, key.algorithm.name, key.algorithm.length, toHex(await subtle.exportKey("raw", key))])
        }
      }
      const pair = await subtle.generateKey({ name: "X25519" }, false, ["deriveKey"])
      const shared = await subtle.deriveKey({ name: "X25519", public: pair.publicKey }, pair.privateKey, "HKDF", false, ["deriveBits"])
      return [...results, shared.type, shared.extractable, shared.algorithm, (await subtle.deriveBits({ name: "HKDF", salt, info, hash: "SHA-256" }, shared, 128)).byteLength]`,
    "describes keys, always with the same objects": `${prelude}
      const results = []
      for (const [algorithm, usages] of ${pairs}) {
        const pair = await subtle.generateKey(algorithm, false, usages)
        for (const key of [pair.publicKey, pair.privateKey]) {
          const { publicExponent, ...rest } = key.algorithm
          results.push([key.type, key.extractable, key.usages, rest, publicExponent instanceof Uint8Array && [...publicExponent], key.algorithm === key.algorithm, key.usages === key.usages, String(key)])
        }
      }
      return results`,
    "clones keys that still work": `${prelude}
      const key = structuredClone(await raw(new Uint8Array(16), { name: "HMAC", hash: "SHA-256" }, "sign"))
      return toHex(await subtle.sign("HMAC", key, text("x")))`,
    "copies data and parameters at the call": `${prelude}
      const key = await raw(new Uint8Array(16), "AES-CBC", "encrypt")
      const iv = new Uint8Array(16), data = new Uint8Array(16)
      const pending = subtle.encrypt({ name: "AES-CBC", iv }, key, data)
      iv.fill(1); data.fill(2)
      return toHex(await pending)`
  })

  it("keeps a key secret that is not extractable, also from a wrapping key", async () => {
    const guest = await Guest.start()
    const answer = await guest.run(`${prelude}
      const key = await subtle.generateKey({ name: "HMAC", hash: "SHA-256" }, false, ["sign"])
      const wrapping = await subtle.generateKey({ name: "AES-KW", length: 128 }, false, ["wrapKey"])
      key.algorithm.name = "AES-GCM"; key.usages.push("verify")
      return [await nameOf(() => subtle.exportKey("raw", key)), await nameOf(() => subtle.wrapKey("raw", key, wrapping, "AES-KW")),
        await nameOf(() => subtle.verify("HMAC", key, new Uint8Array(32), new Uint8Array(1))), JSON.stringify(key), Object.keys(key)]`)
    assert.deepStrictEqual(answer, ["InvalidAccessError", "InvalidAccessError", "InvalidAccessError", "{}", []])
  })
})

/** Calls whose errors must be those of Node. */
const wrongCalls = `
  const attempts = [
    () => subtle.digest("MD5", data), () => subtle.digest({}, data), () => subtle.digest("SHA-256", "text"), () => subtle.digest("SHA-256"),
    () => subtle.generateKey("AES-CBC", true, ["encrypt"]), () => subtle.generateKey({ name: "AES-CBC", length: 100 }, true, ["encrypt"]),
    () => subtle.generateKey({ name: "AES-CBC", length: 128 }, true, []), () => subtle.generateKey({ name: "AES-CBC", length: 128 }, true, ["sign"]),
    () => subtle.generateKey({ name: "AES-CBC", length: -1 }, true, ["encrypt"]), () => subtle.generateKey({ name: "AES-CBC", length: 128 }, true, ["fly"]),
    () => subtle.generateKey({ name: "AES-CBC", length: 128 }, true), () => subtle.generateKey({ name: "ECDSA", namedCurve: "P-1" }, true, ["sign"]),
    () => subtle.generateKey({ name: "ECDSA" }, true, ["sign"]), () => subtle.generateKey({ name: "X" }, true, ["sign"]),
    () => subtle.generateKey({ name: "RSA-PSS", modulusLength: 2048, hash: "SHA-256" }, true, ["sign"]),
    () => subtle.generateKey({ name: "RSA-PSS", modulusLength: 2048, publicExponent: [1, 0, 1], hash: "SHA-256" }, true, ["sign"]),
    () => subtle.generateKey({ name: "RSA-PSS", modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: "MD5" }, true, ["sign"]),
    () => subtle.generateKey({ name: "HKDF" }, true, ["deriveBits"]), () => subtle.generateKey({ name: "HMAC" }, true, ["sign"]),
    () => subtle.importKey("file", data, "AES-CBC", true, ["encrypt"]), () => subtle.importKey("raw", data, "AES-CBC", true, ["encrypt"]),
    () => subtle.importKey("raw", {}, "AES-CBC", true, ["encrypt"]), () => subtle.importKey("jwk", data, "AES-CBC", true, ["encrypt"]),
    () => subtle.importKey("jwk", { kty: "RSA" }, "AES-CBC", true, ["encrypt"]), () => subtle.importKey("spki", data, "AES-CBC", true, ["encrypt"]),
    () => subtle.importKey("jwk", { kty: "oct", k: "AAAAAAAAAAAAAAAAAAAAAA", ext: false }, "AES-CBC", true, ["encrypt"]),
    () => subtle.importKey("jwk", { kty: "oct", k: "AAAAAAAAAAAAAAAAAAAAAA", key_ops: ["sign"] }, "AES-CBC", true, ["encrypt"]),
    () => subtle.importKey("jwk", { kty: "oct", k: "AAAAAAAAAAAAAAAAAAAAAA", alg: "A256CBC" }, "AES-CBC", true, ["encrypt"]),
    () => subtle.importKey("spki", data, { name: "ECDSA", namedCurve: "P-256" }, true, ["verify"]),
    () => subtle.importKey("raw", new Uint8Array(65).fill(4), { name: "ECDSA", namedCurve: "P-256" }, true, ["verify"]),
    () => subtle.importKey("pkcs8", data, "Ed25519", true, ["sign"]), () => subtle.importKey("pkcs8", data, "Ed25519", true, ["verify"]),
    () => subtle.importKey("raw", data, "HKDF", true, ["deriveBits"]), () => subtle.importKey("raw", data, "Argon2id", false, ["deriveBits"]),
    () => subtle.encrypt({ name: "AES-CBC" }, aes, data), () => subtle.encrypt({ name: "AES-CBC", iv: new Uint8Array(3) }, aes, data),
    () => subtle.encrypt({ name: "AES-CBC", iv: "text" }, aes, data), () => subtle.encrypt({ name: "AES-GCM", iv: data }, aes, data),
    () => subtle.encrypt({ name: "AES-CBC", iv }, {}, data), () => subtle.encrypt({ name: "AES-CBC", iv }, mac, data),
    () => subtle.decrypt({ name: "AES-CBC", iv }, aes, data), () => subtle.decrypt({ name: "AES-CBC", iv }, open, new Uint8Array(16)),
    () => subtle.encrypt({ name: "AES-CTR", counter: iv, length: 0 }, ctr, data), () => subtle.encrypt({ name: "AES-CTR", counter: iv, length: 129 }, ctr, data),
    () => subtle.encrypt({ name: "AES-CTR", counter: new Uint8Array(3), length: 64 }, ctr, data), () => subtle.encrypt({ name: "AES-CTR", counter: iv, length: 1 }, ctr, new Uint8Array(64)),
    () => subtle.sign("HMAC", aes, data), () => subtle.sign("AES-CBC", aes, data), () => subtle.sign("HMAC", mac, "text"), () => subtle.verify("HMAC", mac, data, data),
    () => subtle.exportKey("spki", aes), () => subtle.exportKey("raw", mac), () => subtle.exportKey("file", aes), () => subtle.exportKey("raw", {}),
    () => subtle.deriveBits({ name: "PBKDF2", hash: "SHA-256", salt: data, iterations: 0 }, password, 128), () => subtle.deriveBits({ name: "PBKDF2", hash: "SHA-256", salt: data, iterations: 1 }, password, 3),
    () => subtle.deriveBits({ name: "PBKDF2", hash: "SHA-256", salt: data, iterations: 1 }, password), () => subtle.deriveBits({ name: "PBKDF2", salt: data, iterations: 1 }, password, 128),
    () => subtle.deriveBits({ name: "HKDF", hash: "SHA-256", salt: data, info: data }, password, 128), () => subtle.deriveKey({ name: "PBKDF2", hash: "SHA-256", salt: data, iterations: 1 }, password, "AES-CBC", true, ["encrypt"]),
    () => subtle.deriveBits({ name: "ECDH", public: aes }, pair.privateKey, 128), () => subtle.deriveBits({ name: "ECDH", public: 1 }, pair.privateKey, 128),
    () => subtle.deriveBits({ name: "ECDH", public: pair.publicKey }, pair.privateKey, 4096), () => subtle.deriveBits({ name: "ECDH", public: pair.publicKey }, pair.publicKey, 128),
    () => subtle.wrapKey("raw", aes, mac, "AES-KW"), () => subtle.wrapKey("raw", aes, aes, { name: "AES-CBC", iv }), () => subtle.wrapKey("raw", mac, kw, "AES-KW"),
    () => subtle.unwrapKey("raw", data, kw, "AES-KW", "AES-CBC", true, ["encrypt"]), () => subtle.unwrapKey("raw", data, aes, "AES-KW", "AES-CBC", true, ["encrypt"])
  ]`

describe("crypto.subtle › errors", () => {
  sameAsNode({
    "has the names and the order of the standard": `${prelude}
      const data = new Uint8Array(3), iv = new Uint8Array(16)
      const aes = await raw(new Uint8Array(16), "AES-CBC", "encrypt")
      const open = await raw(new Uint8Array(16), "AES-CBC", "decrypt")
      const ctr = await raw(new Uint8Array(16), "AES-CTR", "encrypt")
      const kw = await raw(new Uint8Array(16), "AES-KW", "wrapKey", "unwrapKey")
      const mac = await subtle.importKey("raw", data, { name: "HMAC", hash: "SHA-256" }, false, ["sign"])
      const password = await subtle.importKey("raw", data, "PBKDF2", false, ["deriveBits", "deriveKey"])
      const pair = await subtle.generateKey({ name: "ECDH", namedCurve: "P-256" }, true, ["deriveBits"])
      ${wrongCalls}
      const names = []
      for (const attempt of attempts) names.push(String(attempt).slice(6) + " " + await nameOf(attempt))
      return names`
  })
})

describe("crypto.subtle › limits", () => {
  const refusals: Readonly<Record<string, readonly [code: string, expected: string]>> = {
    "an RSA key of 16,384 bits": [
      `subtle.generateKey({ name: "RSA-PSS", modulusLength: 16384, ${publicExponent}, hash: "SHA-256" }, true, ["sign"])`,
      "modulusLength is at most 4096, the limit cryptoRsaBits (got 16384)"
    ],
    "an unusual exponent": [
      `subtle.generateKey({ name: "RSA-PSS", modulusLength: 2048, publicExponent: new Uint8Array([2]), hash: "SHA-256" }, true, ["sign"])`,
      "publicExponent must be 3 or 65537"
    ],
    "a billion iterations": [
      `subtle.deriveBits({ name: "PBKDF2", hash: "SHA-256", salt, iterations: 1e9 }, password, 256)`,
      "iterations times blocks of output is at most 2000000, the limit cryptoRounds (got 1000000000)"
    ],
    "many blocks with many iterations": [
      `subtle.deriveBits({ name: "PBKDF2", hash: "SHA-256", salt, iterations: 1e5 }, password, 256 * 21)`,
      "iterations times blocks of output is at most 2000000, the limit cryptoRounds (got 2100000)"
    ],
    "a derived key of many blocks": [
      `subtle.deriveKey({ name: "PBKDF2", hash: "SHA-256", salt, iterations: 1e6 }, password, { name: "HMAC", hash: "SHA-256", length: 1024 }, true, ["sign"])`,
      "iterations times blocks of output is at most 2000000, the limit cryptoRounds (got 4000000)"
    ],
    "many bits": [
      `subtle.deriveBits({ name: "PBKDF2", hash: "SHA-256", salt, iterations: 1 }, password, 2 ** 31 - 8)`,
      "at most 524288 bits can be derived at once (got 2147483640)"
    ],
    "a long HMAC key": [
      `subtle.generateKey({ name: "HMAC", hash: "SHA-256", length: 2 ** 31 - 8 }, true, ["sign"])`,
      "a key has at most 524288 bits (got 2147483640)"
    ],
    "a large key to import": [
      `subtle.importKey("raw", new Uint8Array(70000), { name: "HMAC", hash: "SHA-256" }, true, ["sign"])`,
      "a key has at most 65536 bytes (got 70000)"
    ],
    "a large JSON Web Key": [
      `subtle.importKey("jwk", { kty: "oct", k: "A".repeat(70000) }, { name: "HMAC", hash: "SHA-256" }, true, ["sign"])`,
      "a key has at most 65536 bytes (got 70003)"
    ],
    "large data": [
      `subtle.sign("HMAC", mac, new Uint8Array(5 * 1024 * 1024))`,
      "The data is over 4194304 bytes, the limit cryptoBytes"
    ]
  }
  for (const [what, [code, expected]] of Object.entries(refusals)) {
    it(`refuse ${what}`, async () => {
      const guest = await Guest.start()
      const answer = await guest.run(`${prelude}
        const salt = new Uint8Array(8)
        const password = await subtle.importKey("raw", text("x"), "PBKDF2", false, ["deriveBits", "deriveKey"])
        const mac = await raw(text("x"), { name: "HMAC", hash: "SHA-256" }, "sign")
        try { await ${code}; return "none" } catch (error) { return [error.name, error.message, error instanceof DOMException] }`)
      assert.deepStrictEqual(answer, ["OperationError", expected, true])
    })
  }

  it("refuse RSA keys whose parts make an operation long", async () => {
    const guest = await Guest.start()
    const answer = await guest.run(`${prelude}
      const algorithm = { name: "RSASSA-PKCS1-v1_5", modulusLength: 1024, ${publicExponent}, hash: "SHA-256" }
      const { privateKey } = await subtle.generateKey(algorithm, true, ["sign", "verify"])
      const { n, e, d, p, q, dp, dq, qi } = await subtle.exportKey("jwk", privateKey)
      const long = "A" + "x".repeat(40000)
      const attempt = (parts, usage = "sign") => nameOf(() => subtle.importKey("jwk", { kty: "RSA", ...parts }, algorithm, true, [usage]))
      return [await attempt({ n, e, d, p, q, dp: long, dq, qi }), await attempt({ n, e, d: long, p, q, dp, dq, qi }), await attempt({ n, e: n }, "verify"),
        await attempt({ n: "x".repeat(1400), e }, "verify"), await attempt({ n, e, d, p, q, dp, dq, qi })]`)
    assert.deepStrictEqual(answer, ["DataError", "DataError", "OperationError", "OperationError", "none"])
  })
})
