/** What a webhook's function is handed at the limits of a body. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { isolated } from "../src/index.ts"
import { tenantOf } from "./Tenant.ts"

const script = `
export const size = (request, svc) => [request["body-raw"].length, svc.request === request, typeof request.body]
export const both = (request) => [request.body, request["body-raw"], Object.keys(request)]
export const own = (request) => {
  const names = ["body", "body-raw"]
  return names.map((name) => Object.getOwnPropertyDescriptor(request, name).value)
}
`

const empty = { method: "POST", body: null, "body-raw": "" }
const keys = ["method", "body", "body-raw"]

/** The largest body of a request in bytes, unless the host says more. */
const bodyBytes = 4 * 1024 * 1024

// The body is what counts here, however long a busy machine takes to hand it over.
layer(isolated({ runners: 1, limits: { cpuSliceMs: 10_000 } }), { excludeTestServices: true, timeout: "60 seconds" })(
  "a request",
  (it) => {
    for (const [kind, text] of [
      ["of plain text", "x".repeat(bodyBytes)],
      ["that JSON escapes throughout", "\u0001".repeat(bodyBytes)],
      ["of wide characters", "å".repeat(bodyBytes / 2)]
    ] as const) {
      it.effect(`reaches its function with the largest body, ${kind}`, () =>
        Effect.gen(function* () {
          const tenant = yield* tenantOf(1, script)
          const called = { trigger: "request", svc: { request: empty }, body: { text, as: "text" } } as const
          const { outcome } = yield* tenant.call("size", called)
          assert.deepStrictEqual(outcome, { _tag: "Returned", output: JSON.stringify([text.length, true, "string"]) })
        })
      )
    }

    for (const [text, as, body] of [
      ['{"a":[1,null]}', "json", { a: [1, null] }],
      ['{"__proto__":{"x":1}}', "json", JSON.parse('{"__proto__":{"x":1}}')],
      ["[".repeat(100_000), "json", "[".repeat(100_000)],
      ["{} {}", "json", "{} {}"],
      ["", "json", ""],
      ['{"a":1}', "text", '{"a":1}'],
      ["AAAA", "given", null]
    ] as const) {
      it.effect(`gets ${text.slice(0, 20)} as ${as}`, () =>
        Effect.gen(function* () {
          const tenant = yield* tenantOf(2, script)
          const called = { trigger: "request", svc: { request: empty }, body: { text, as } } as const
          const { outcome } = yield* tenant.call("both", called)
          assert.deepStrictEqual(outcome, { _tag: "Returned", output: JSON.stringify([body, text, keys]) })
        })
      )
    }

    it.effect("meets no setter that its code put into the prototype of all objects", () =>
      Effect.gen(function* () {
        const setters = `Object.defineProperty(Object.prototype, "body", { set() { throw new Error("met") } })
Object.defineProperty(Object.prototype, "body-raw", { set() { throw new Error("met") } })`
        const tenant = yield* tenantOf(3, `${setters}${script}`)
        const called = { trigger: "request", svc: { request: empty }, body: { text: "1", as: "json" } } as const
        const { outcome } = yield* tenant.call("own", called)
        assert.deepStrictEqual(outcome, { _tag: "Returned", output: '[1,"1"]' })
      })
    )
  }
)
