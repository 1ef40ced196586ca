/** `crypto.subtle` in real isolates: where it computes, what it costs, and what ends with an isolate. */
import { assert, describe, it } from "@effect/vitest"
import type { Outcome, Sandbox } from "@weft/core/adapter"
import { Effect, Fiber } from "effect"
import { sandbox } from "../src/index.ts"
import { CryptoQueue } from "../src/runner/crypto/CryptoQueue.ts"
import { GuestCrypto } from "../src/runner/crypto/GuestCrypto.ts"
import { prepareTenant, type Tenant } from "./Tenant.ts"

const script = `
const { subtle } = crypto
const text = (string) => new TextEncoder().encode(string)
const shared = subtle.importKey("raw", new Uint8Array(16), { name: "HMAC", hash: "SHA-256" }, false, ["sign"])
const toHex = (buffer) => Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, "0")).join("")
export const sign = async (data) => toHex(await subtle.sign("HMAC", await shared, text(data)))
export const leave = () => "left"
export const derive = async (iterations) => {
  const key = await subtle.importKey("raw", text("x"), "PBKDF2", false, ["deriveBits"])
  return (await subtle.deriveBits({ name: "PBKDF2", hash: "SHA-256", salt: text("salt"), iterations }, key, 256)).byteLength
}
export const deriveForever = async () => { for (;;) await Promise.all(Array.from({ length: 20 }, () => derive(1_000_000))) }
export const generateForever = async () => {
  const algorithm = { name: "RSA-PSS", modulusLength: 4096, publicExponent: new Uint8Array([1, 0, 1]), hash: "SHA-256" }
  for (;;) await Promise.all(Array.from({ length: 20 }, () => subtle.generateKey(algorithm, false, ["sign"])))
}
export const importForever = async () => {
  const curve = { name: "ECDSA", namedCurve: "P-521" }
  const { privateKey } = await subtle.generateKey(curve, true, ["sign"])
  const exported = await subtle.exportKey("pkcs8", privateKey)
  for (;;) await Promise.all(Array.from({ length: 100 }, () => subtle.importKey("pkcs8", exported, curve, false, ["sign"])))
}
export const unawaited = () => { subtle.generateKey({ name: "AES-GCM", length: 128 }, false, ["encrypt"]); return 1 }
export const flood = async () => {
  const key = await shared
  const results = await Promise.allSettled(Array.from({ length: 40 }, () => subtle.sign("HMAC", key, new Uint8Array(1024 * 1024))))
  return [results.filter(({ status }) => status === "fulfilled").length > 0, [...new Set(results.map(({ reason }) => reason?.message))]]
}
export const sleep = (event, svc) => new Promise((resolve) => setTimeout(resolve, 200))
`

/** A busy machine may take longer than the usual time limit for the guest's part of the work. */
const withSandbox = <A, E>(
  { limits, ...options }: NonNullable<Parameters<typeof sandbox>[0]>,
  body: Effect.Effect<A, E, Sandbox>
) => Effect.provide(body, sandbox({ runners: 1, limits: { cpuSliceMs: 10_000, ...limits }, ...options }))

const outputOf = (outcome: Outcome) => (outcome._tag === "Returned" ? outcome.output : JSON.stringify(outcome))

const call = (tenant: Tenant, fn: string, event: unknown = null, timeoutMs = 10_000) =>
  tenant.call(fn, { svc: { event, run: {} }, timeoutMs })

const signature = JSON.stringify("5fa8a8fbf7b15e9ba6b21a5b0ff1cd8a0d5d4d5b4a7b36ff55e7d4ed3b4c9dc8").length

describe("crypto.subtle in isolates", () => {
  it.live("computes with keys that the module imported while it loaded", () =>
    withSandbox(
      {},
      Effect.gen(function* () {
        const tenant = yield* prepareTenant(1, script)
        const answers = yield* Effect.all(
          ["left", "a", "b", "a"].map((data) => (data === "left" ? call(tenant, "leave") : call(tenant, "sign", data))),
          { concurrency: "unbounded" }
        )
        const [left, first, second, third] = answers.map(({ outcome }) => outputOf(outcome))
        assert.strictEqual(left, '"left"')
        assert.strictEqual(first?.length, signature)
        assert.strictEqual(first, third)
        assert.notStrictEqual(first, second)
      })
    )
  )

  it.live("counts the processor time for the run, and does not end it for its CPU slice", () =>
    withSandbox(
      { limits: { cpuSliceMs: 50 } },
      Effect.gen(function* () {
        const tenant = yield* prepareTenant(1, script)
        const { outcome, usage } = yield* call(tenant, "derive", 1_500_000)
        assert.strictEqual(outputOf(outcome), "32")
        assert.isAbove(usage.cpu_ms, 50)
        assert.isAtMost(usage.cpu_ms, usage.wall_ms)
      })
    )
  )

  it.live("ends a run at its timeout although it computes", () =>
    withSandbox(
      {},
      Effect.gen(function* () {
        const tenant = yield* prepareTenant(1, script)
        const { outcome } = yield* call(tenant, "deriveForever", null, 1000)
        assert.strictEqual(outcome._tag, "TimedOut")
        assert.strictEqual(outputOf((yield* call(tenant, "derive", 10)).outcome), "32")
      })
    )
  )

  it.live("replaces a runner in which one operation exceeds cryptoMs", () =>
    withSandbox(
      { limits: { cryptoMs: 100 } },
      Effect.gen(function* () {
        const tenant = yield* prepareTenant(1, script)
        const neighbour = yield* prepareTenant(2, script)
        const waiting = yield* Effect.forkChild(call(neighbour, "sleep"))
        assert.strictEqual((yield* call(tenant, "derive", 2_000_000)).outcome._tag, "CpuExhausted")
        assert.strictEqual((yield* Fiber.join(waiting)).outcome._tag, "Returned")
        assert.strictEqual(outputOf((yield* call(neighbour, "derive", 10)).outcome), "32")
      })
    )
  )

  it.live("limits the data in progress of a run", () =>
    withSandbox(
      { limits: { cryptoBytes: 8 * 1024 * 1024 } },
      Effect.gen(function* () {
        const tenant = yield* prepareTenant(1, script)
        const { outcome } = yield* call(tenant, "flood")
        assert.strictEqual(outputOf(outcome), '[true,[null,"pending data of crypto.subtle is over 8388608 bytes"]]')
      })
    )
  )

  it.live("does not keep a run from ending that does not wait for an operation", () =>
    withSandbox(
      {},
      Effect.gen(function* () {
        const tenant = yield* prepareTenant(1, script)
        assert.strictEqual(outputOf((yield* call(tenant, "unawaited")).outcome), "1")
      })
    )
  )

  it.live(
    "does not starve neighbours that compute as well",
    () =>
      withSandbox(
        {},
        Effect.gen(function* () {
          const attackers = yield* Effect.forEach([11, 12, 13], (number) => prepareTenant(number, script))
          const neighbour = yield* prepareTenant(1, script)
          yield* call(neighbour, "sign", "warm")
          const attacks = yield* Effect.forEach(
            ["deriveForever", "generateForever", "importForever"].flatMap((fn, index) =>
              attackers.slice(index, index + 1).map((each) => [each, fn] as const)
            ),
            ([each, fn]) => Effect.forkChild(call(each, fn, null, 20_000))
          )
          yield* Effect.sleep("500 millis")
          const waits: Array<number> = []
          for (let round = 0; round < 20; round++) {
            const { outcome, usage } = yield* call(neighbour, "sign", `round ${round}`)
            assert.strictEqual(outcome._tag, "Returned")
            waits.push(usage.wall_ms)
          }
          yield* Effect.forEach(attacks, (attack) => Fiber.interrupt(attack))
          // An operation of a neighbour waits for a few short ones, never for one that takes seconds.
          assert.isBelow(waits.toSorted((a, b) => a - b)[10] ?? Infinity, 500)
        })
      ),
    30_000
  )
})

interface Settled {
  readonly ok: boolean
  readonly text: string
  readonly detail: string
}

const submit = (crypto: GuestCrypto, request: ReadonlyArray<unknown>, bytes = ""): Promise<Settled> =>
  new Promise((resolve) =>
    crypto.submit({
      request: JSON.stringify(request),
      bytes,
      isWanted: () => true,
      settle: (ok, text, detail) => resolve({ ok, text, detail }),
      overran: () => undefined
    })
  )

const limits = { cryptoBytes: 2 ** 20, cryptoRsaBits: 2048, cryptoRounds: 1000, cryptoMs: 1000 }
const makeCrypto = () => new GuestCrypto(new CryptoQueue(limits.cryptoMs), limits)

const generate = ["generateKey", { object: { name: "HMAC", hash: { object: { name: "SHA-256" } } } }, false, ["sign"]]
const sign = (length: number) => ["sign", { object: { name: "HMAC" } }, { key: [0, length] }, { bytes: [0, 4] }]

/** Returns the handle of a generated key. */
const generateHandle = async (crypto: GuestCrypto): Promise<string> => {
  const { text } = await submit(crypto, generate)
  const start = text.indexOf(":") + 1 + Number.parseInt(text, 10)
  return text.slice(start)
}

describe("handles of keys", () => {
  it("are valid in their isolate only, and only unchanged", async () => {
    const mine = makeCrypto()
    const handle = await generateHandle(mine)
    const changed = handle.slice(0, -1) + (handle.endsWith("\0") ? "\x01" : "\0")
    assert.isTrue((await submit(mine, sign(handle.length), handle)).ok)
    for (const [crypto, given] of [
      [makeCrypto(), handle],
      [mine, changed],
      [mine, handle.slice(0, 20)],
      [mine, ""]
    ] as const) {
      const { ok, text } = await submit(crypto, sign(given.length), `${given}${" ".repeat(4)}`)
      assert.deepStrictEqual([ok, text], [false, "InvalidAccessError"])
    }
  })

  it("are useless after the end of their isolate", async () => {
    const crypto = makeCrypto()
    const handle = await generateHandle(crypto)
    crypto.dispose()
    let settled = false
    void submit(crypto, sign(handle.length), handle).then(() => (settled = true))
    await new Promise((resolve) => setTimeout(resolve, 20))
    assert.isFalse(settled)
  })

  it("contain nothing of the key", async () => {
    const crypto = makeCrypto()
    const secret = "a secret of 32 bytes, in plain text"
    const request = [
      "importKey",
      "raw",
      { bytes: [0, secret.length] },
      { object: { name: "HMAC", hash: { object: { name: "SHA-256" } } } },
      true,
      ["sign"]
    ]
    const { text } = await submit(crypto, request, secret)
    assert.notInclude(text, secret.slice(0, 8))
  })
})

describe("hostile requests", () => {
  const requests: ReadonlyArray<readonly [unknown, string]> = [
    [["digest", "SHA-256", { bytes: [0, 1] }], "TypeError"],
    [["constructor"], "TypeError"],
    [["supports", "sign"], "TypeError"],
    [[], "TypeError"],
    [{ length: 1 }, "TypeError"],
    [["sign", { bytes: [0, 2 ** 40] }], "TypeError"],
    [["sign", { bytes: [-1, 1] }], "TypeError"],
    [["sign", { bytes: "x" }], "TypeError"],
    [["sign", { object: null }], "TypeError"],
    [["sign", { object: { __proto__: null, name: "HMAC" } }, { other: 1 }], "TypeError"],
    [["generateKey", { object: { name: "argon2id" } }, true, []], "NotSupportedError"],
    [["generateKey", { object: { name: { object: {} } } }, true, []], "NotSupportedError"],
    [
      [
        "importKey",
        "raw",
        { bytes: [0, 1] },
        { object: { name: "HMAC", hash: { object: { name: "SHA3-256" } } } },
        true,
        ["sign"]
      ],
      "NotSupportedError"
    ]
  ]
  it("are refused with an error of the standard", async () => {
    for (const [request, expected] of requests) {
      const { ok, text } = await submit(makeCrypto(), Object(request), "bytes")
      assert.deepStrictEqual([JSON.stringify(request), ok, text], [JSON.stringify(request), false, expected])
    }
  })
})
