import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { sameAsNode } from "./compare.ts"
import { Guest, oracle } from "./Guest.ts"

const bytes = (minLength: number, maxLength: number) =>
  fc.uint8Array({ minLength, maxLength }).map((array) => [...array])

const hashes = `["SHA-1", "SHA-256", "SHA-384", "SHA-512"]`
const prelude = `const u8 = (array) => new Uint8Array(array); const list = (buffer) => [...new Uint8Array(buffer)];`

describe("crypto.subtle", () => {
  it("digests and authenticates any data as Node does", async () => {
    const guest = await Guest.start()
    const cases = fc.sample(fc.tuple(bytes(1, 200), bytes(0, 300)), { numRuns: 60, seed: 11 })
    const code = `${prelude}
      const answers = []
      for (const [secret, data] of ${JSON.stringify(cases)}) {
        for (const hash of ${hashes}) {
          const key = await crypto.subtle.importKey("raw", u8(secret), { name: "HMAC", hash }, false, ["sign", "verify"])
          const signature = await crypto.subtle.sign("HMAC", key, u8(data))
          const verified = await crypto.subtle.verify("HMAC", key, signature, u8(data))
          const refused = await crypto.subtle.verify("HMAC", key, signature, u8([...data, 0]))
          answers.push([list(await crypto.subtle.digest(hash, u8(data))), list(signature), verified, refused])
        }
      }
      return answers`
    assert.deepStrictEqual(await guest.run(code), await oracle(code))
  })

  it("encrypts any data as Node does, and decrypts only unchanged data", async () => {
    const guest = await Guest.start()
    const secret = fc.oneof(bytes(16, 16), bytes(24, 24), bytes(32, 32))
    const cases = fc.sample(fc.tuple(secret, bytes(12, 20), fc.option(bytes(0, 40)), bytes(0, 200)), {
      numRuns: 60,
      seed: 12
    })
    const code = `${prelude}
      const answers = []
      for (const [secret, iv, aad, data] of ${JSON.stringify(cases)}) {
        const key = await crypto.subtle.importKey("raw", u8(secret), "AES-GCM", false, ["encrypt", "decrypt"])
        const algorithm = { name: "AES-GCM", iv: u8(iv), ...(aad === null ? {} : { additionalData: u8(aad) }) }
        const sealed = await crypto.subtle.encrypt(algorithm, key, u8(data))
        const changed = new Uint8Array(sealed.slice(0))
        changed[changed.length - 1] ^= 1
        answers.push([list(sealed), list(await crypto.subtle.decrypt(algorithm, key, sealed)),
          await crypto.subtle.decrypt(algorithm, key, changed).catch((error) => error.name),
          await crypto.subtle.decrypt({ ...algorithm, additionalData: u8([1, 2, 3]) }, key, sealed).catch((error) => error.name)])
      }
      return answers`
    assert.deepStrictEqual(await guest.run(code), await oracle(code))
  })

  sameAsNode({
    "imports and exports keys": `${prelude}
      const raw = u8(Array.from({ length: 32 }, (_, index) => index * 7))
      const keys = [
        await crypto.subtle.importKey("raw", raw, { name: "hmac", hash: { name: "sha-256" } }, true, ["verify", "sign"]),
        await crypto.subtle.importKey("raw", raw, { name: "AES-GCM" }, true, ["decrypt"]),
        await crypto.subtle.importKey("jwk", { kty: "oct", k: "AAECAwQFBgcICQoLDA0ODw", alg: "A128GCM", ext: true }, "AES-GCM", true, ["encrypt", "decrypt"])
      ]
      return Promise.all(keys.map(async (key) => {
        const { k, kty, alg, key_ops, ext } = await crypto.subtle.exportKey("jwk", key)
        return [key.type, key.extractable, key.usages.sort(), key.algorithm.name, key.algorithm.length, key.algorithm.hash?.name,
          list(await crypto.subtle.exportKey("raw", key)), k, kty, alg, key_ops.sort(), ext, Object.prototype.toString.call(key)]
      }))`,
    "generates keys": `${prelude}
      const algorithms = [{ name: "AES-GCM", length: 256 }, { name: "HMAC", hash: "SHA-256" }, { name: "HMAC", hash: "SHA-512" }, { name: "HMAC", hash: "SHA-1", length: 256 }]
      const keys = []
      for (const algorithm of algorithms) {
        const usages = algorithm.name === "HMAC" ? ["sign"] : ["encrypt", "decrypt"]
        const key = await crypto.subtle.generateKey(algorithm, true, usages)
        keys.push([key.algorithm.length, (await crypto.subtle.exportKey("raw", key)).byteLength])
      }
      return keys`,
    "refuses the wrong use of keys": `${prelude}
      const attempt = async (run) => { try { return [await run(), "worked"].length } catch (error) { return error.name } }
      const raw = u8(new Array(16).fill(1))
      const mac = await crypto.subtle.importKey("raw", raw, { name: "HMAC", hash: "SHA-256" }, false, ["verify"])
      const aes = await crypto.subtle.importKey("raw", raw, "AES-GCM", false, ["encrypt"])
      const attempts = [
        () => crypto.subtle.sign("HMAC", mac, raw),
        () => crypto.subtle.encrypt({ name: "AES-GCM", iv: raw }, mac, raw),
        () => crypto.subtle.decrypt({ name: "AES-GCM", iv: raw }, aes, raw),
        () => crypto.subtle.exportKey("raw", mac),
        () => crypto.subtle.importKey("raw", u8([1]), "AES-GCM", false, ["encrypt"]),
        () => crypto.subtle.importKey("raw", raw, "AES-GCM", false, ["sign"]),
        () => crypto.subtle.importKey("raw", raw, "AES-GCM", false, []),
        () => crypto.subtle.importKey("raw", raw, { name: "HMAC", hash: "MD5" }, false, ["sign"]),
        () => crypto.subtle.importKey("jwk", { kty: "oct", k: "AAAA", alg: "HS512" }, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]),
        () => crypto.subtle.importKey("jwk", { kty: "RSA" }, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]),
        () => crypto.subtle.digest("MD5", raw),
        () => crypto.subtle.generateKey({ name: "AES-GCM", length: 100 }, false, ["encrypt"])
      ]
      const names = []
      for (const run of attempts) names.push(await attempt(run))
      return names`,
    "works on a copy of the data": `${prelude}
      const data = u8([1, 2, 3])
      const digest = crypto.subtle.digest("SHA-256", data)
      data[0] = 9
      return list(await digest)`,
    "digests views, buffers and long data": `${prelude}
      const long = u8(Array.from({ length: 5000 }, (_, index) => index))
      return [list(await crypto.subtle.digest("SHA-512", long)), list(await crypto.subtle.digest("SHA-256", long.buffer)), list(await crypto.subtle.digest({ name: "sha-1" }, new DataView(long.buffer, 7, 99)))]`
  })
})

describe("random numbers", () => {
  it("fill integer views, and only those", async () => {
    const guest = await Guest.start()
    const answer = await guest.run(`
      const attempt = (run) => { try { return run() } catch (error) { return error.name } }
      const view = new Uint32Array(100)
      return [crypto.getRandomValues(view) === view, new Set(view).size > 90,
        new Set(crypto.getRandomValues(new Uint8Array(65536))).size,
        attempt(() => crypto.getRandomValues(new Float64Array(1))), attempt(() => crypto.getRandomValues(new Uint8Array(65537))),
        attempt(() => crypto.getRandomValues([1])), crypto.getRandomValues(new Uint8Array(0)).length]`)
    assert.deepStrictEqual(answer, [true, true, 256, "TypeMismatchError", "QuotaExceededError", "TypeMismatchError", 0])
  })

  it("produce UUIDs of version 4 that do not repeat", async () => {
    const guest = await Guest.start()
    const answer = await guest.run("return Array.from({ length: 500 }, () => crypto.randomUUID())")
    const uuids: ReadonlyArray<unknown> = Array.isArray(answer) ? answer : []
    assert.strictEqual(new Set(uuids).size, 500)
    for (const uuid of uuids) {
      assert.match(String(uuid), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    }
  })

  it("depend on every byte of the entropy", async () => {
    const draw = async (entropy: Uint8Array) => (await Guest.start(entropy)).run("return crypto.randomUUID()")
    const base = new Uint8Array(48).fill(1)
    const drawn = new Set([await draw(base)])
    for (const at of [0, 20, 31, 32, 43, 44, 47]) {
      drawn.add(await draw(base.with(at, 2)))
    }
    assert.strictEqual(drawn.size, 8)
    assert.isTrue(drawn.has(await draw(base)), "the same entropy draws the same numbers")
  })
})
