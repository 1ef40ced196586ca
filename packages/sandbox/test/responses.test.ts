/** Valid and invalid responses of a webhook's function. */
import { assert, describe, it, layer } from "@effect/vitest"
import { defaultLimits, type Outcome } from "@weft/core/adapter"
import { Effect } from "effect"
import { sandbox } from "../src/index.ts"
import { ProtocolError } from "../src/protocol/Wire.ts"
import { toOutcome } from "../src/supervisor/outcomes.ts"
import { prepareTenant } from "./Tenant.ts"

const script = `
const answers = {
  cookies: () => ({ status: 200, headers: { "Set-Cookie": ["a=1; Path=/", "b=2, c"], "X-List": ["a", 2, null] } }),
  oneCookie: () => ({ status: 200, headers: { "set-cookie": "a=1" } }),
  noCookies: () => ({ status: 200, headers: { "set-cookie": [], "x-none": null, "x-absent": undefined } }),
  web: () => {
    const response = new Response("<p>", { status: 404, headers: { "content-type": "text/html", "x-a": "b" } })
    response.headers.append("set-cookie", "a=1")
    response.headers.append("x-a", "c")
    response.headers.append("Set-Cookie", "b=2")
    return response
  },
  webOneCookie: () => new Response(null, { status: 204, headers: { "set-cookie": "a=1" } }),
  injectedCookie: () => ({ status: 200, headers: { "set-cookie": ["a=1", "b=2\\r\\nx: y"] } }),
  injectedValue: () => ({ status: 200, headers: { "x-a": "b\\nx: y" } }),
  injectedName: () => ({ status: 200, headers: { "x-a: b\\r\\nx": "y" } }),
  spacedName: () => ({ status: 200, headers: { "x a": "y" } }),
  emptyName: () => ({ status: 200, headers: { "": "y" } }),
  wideValue: () => ({ status: 200, headers: { "x-a": "\\u20ac" } }),
  noObject: () => ({ status: 200, headers: "x-a: b" }),
  longHeader: () => ({ status: 200, headers: { "x-a": "a".repeat(70000) } }),
  longList: () => ({ status: 200, headers: { "x-a": new Array(1e9) } }),
  manyCookies: () => ({ status: 200, headers: { "set-cookie": Array.from({ length: 9000 }, () => "cookie=1") } }),
  informational: () => ({ status: 103 }),
  zero: () => ({ status: 0 }),
  beyond: () => ({ status: 600 }),
  webRefused: () => Response.error(),
  throwing: () => ({ status: 200, get headers() { throw new RangeError("no headers today") } })
}
export const answer = (request) => answers[request]()

const bytesOf = (length) => Uint8Array.from({ length }, (_, at) => (at * 7 + (at >> 8)) & 255)
export const bytes = (length) => new Response(bytesOf(length))
export const plainBytes = (length) => ({ status: 200, headers: { "content-type": "image/png" }, body: bytesOf(length) })
`

const nothing = Object.create(null)
const headers = (given: Record<string, string | ReadonlyArray<string>>) => Object.assign(Object.create(null), given)

layer(sandbox({ runners: 1 }), { excludeTestServices: true, timeout: "60 seconds" })("a response", (it) => {
  const answered: Record<string, { readonly status?: number; readonly headers: object; readonly body?: string }> = {
    cookies: { headers: headers({ "set-cookie": ["a=1; Path=/", "b=2, c"], "x-list": "a, 2, null" }) },
    oneCookie: { headers: headers({ "set-cookie": "a=1" }) },
    noCookies: { headers: headers({ "set-cookie": [] }) },
    web: {
      status: 404,
      headers: headers({ "content-type": "text/html", "set-cookie": ["a=1", "b=2"], "x-a": "b, c" }),
      body: "PHA+"
    },
    webOneCookie: { status: 204, headers: headers({ "set-cookie": ["a=1"] }) }
  }
  for (const [name, { status = 200, headers = nothing, body = "" }] of Object.entries(answered)) {
    it.effect(`is accepted: ${name}`, () =>
      Effect.gen(function* () {
        const tenant = yield* prepareTenant(1, script)
        const { outcome } = yield* tenant.call("answer", { trigger: "request", svc: { request: name } })
        const encoding = body === "" ? "text" : "base64"
        assert.deepStrictEqual<Outcome>(outcome, { _tag: "Responded", status, headers, encoding, body })
      })
    )
  }

  const bytesOf = (length: number) => Buffer.from(Uint8Array.from({ length }, (_, at) => (at * 7 + (at >> 8)) & 255))
  for (const fn of ["bytes", "plainBytes"]) {
    it.effect(`has its bytes as base64: ${fn}`, () =>
      Effect.gen(function* () {
        const tenant = yield* prepareTenant(1, script)
        for (const length of [1, 2, 3, 3071, 3072, 3073, 6144, 786_430, 786_431, 786_432]) {
          const { outcome } = yield* tenant.call(fn, { trigger: "request", svc: { request: length } })
          if (outcome._tag !== "Responded") assert.fail(`${length} bytes ended as ${outcome._tag}`)
          assert.isTrue(outcome.body === bytesOf(length).toString("base64"), `${length} bytes`)
        }
      })
    )

    it.effect(`is rejected for its length, not for its memory: ${fn}`, () =>
      Effect.gen(function* () {
        const tenant = yield* prepareTenant(1, script)
        for (const length of [786_433, 5_000_000]) {
          const { outcome } = yield* tenant.call(fn, { trigger: "request", svc: { request: length } })
          assert.deepInclude(outcome, { _tag: "LimitExceeded", limit: "resultBytes" })
        }
      })
    )
  }

  const refused: Record<string, readonly [error: string, message: string]> = {
    injectedCookie: ["InvalidResponse", '"set-cookie"'],
    injectedValue: ["InvalidResponse", '"x-a"'],
    injectedName: ["InvalidResponse", "an invalid header"],
    spacedName: ["InvalidResponse", '"x a"'],
    emptyName: ["InvalidResponse", '""'],
    wideValue: ["InvalidResponse", '"x-a"'],
    noObject: ["InvalidResponse", "headers that are not an object"],
    longHeader: ["InvalidResponse", "too many headers"],
    longList: ["InvalidResponse", "too many headers"],
    manyCookies: ["InvalidResponse", "too many headers"],
    informational: ["InvalidResponse", "the status 103"],
    zero: ["InvalidResponse", "the status 0"],
    beyond: ["InvalidResponse", "the status 600"],
    webRefused: ["InvalidResponse", "the status 0"],
    throwing: ["RangeError", "no headers today"]
  }
  for (const [name, [error, message]] of Object.entries(refused)) {
    it.effect(`is rejected with a reason: ${name}`, () =>
      Effect.gen(function* () {
        const tenant = yield* prepareTenant(1, script)
        const { outcome } = yield* tenant.call("answer", { trigger: "request", svc: { request: name } })
        if (outcome._tag !== "Threw") assert.fail(`${name} ended as ${outcome._tag}`)
        assert.strictEqual(outcome.name, error)
        assert.include(outcome.message, message)
      })
    )
  }
})

describe("a response from a compromised isolate", () => {
  const responded = (headers: string) => () =>
    toOutcome(
      { kind: "responded", run: 1, status: 200, encoding: "text", headers, body: "", cpuMs: 0, heapBytes: 0 },
      defaultLimits
    )

  it("has valid headers", () => {
    assert.deepInclude(responded('{"x-a":"b","set-cookie":["a=1","b=2"]}')(), {
      headers: headers({ "x-a": "b", "set-cookie": ["a=1", "b=2"] })
    })
    for (const wrong of [
      '{"x-a":["b"]}',
      '{"set-cookie":["a=1",2]}',
      '{"set-cookie":["a=1\\r\\nx: y"]}',
      '{"set-cookie":{"length":1}}',
      '{"X-A":"b"}',
      '{"x a":"b"}',
      '{"x-a":1}',
      '["x-a"]',
      "null",
      "{",
      `{"x-a":"${"b".repeat(65_536)}"}`
    ]) {
      assert.throws(responded(wrong), ProtocolError, undefined, wrong)
    }
  })
})
