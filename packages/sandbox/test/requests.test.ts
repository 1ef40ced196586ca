/** The request that a webhook's function receives at the limits of a body. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { sandbox } from "../src/index.ts"
import { prepareTenant } from "./Tenant.ts"

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

/** Forms with repeated and special names, and with escapes that are incomplete or no valid UTF-8. */
const forms = [
  "a=1&b=x+y&a=2&2=c&1=b",
  "__proto__=1&constructor=2&=3&&=&x&y=z=w",
  "%C3%A6=%F0%9F%98%80&%41%42=c%20d%2B",
  "a=%&b=%4&c=%zz&d=%C3&e=%C3%C3%A6",
  "a=%E0%80%80&b=%ED%A0%80&c=%F4%90%80%80&d=%F0%9F%98&e=%FF%C1%80",
  '%EF%BB%BFa=%00"\\\n&ø=å+æ&😀=😀'
]

/** Default maximum body of a request, in bytes. */
const bodyBytes = 4 * 1024 * 1024

// A long slice: the test is about the body, and a busy machine may take long to pass it.
layer(sandbox({ runners: 1, limits: { cpuSliceMs: 10_000 } }), { excludeTestServices: true, timeout: "60 seconds" })(
  "a request",
  (it) => {
    for (const [kind, text] of [
      ["of plain text", "x".repeat(bodyBytes)],
      ["that JSON escapes throughout", "\u0001".repeat(bodyBytes)],
      ["of wide characters", "å".repeat(bodyBytes / 2)]
    ] as const) {
      it.effect(`reaches its function with the maximum body, ${kind}`, () =>
        Effect.gen(function* () {
          const tenant = yield* prepareTenant(1, script)
          const called = { trigger: "request", svc: { request: empty }, body: { text, as: "text" } } as const
          const { outcome } = yield* tenant.call("size", called)
          assert.deepStrictEqual(outcome, { _tag: "Returned", output: JSON.stringify([text.length, true, "string"]) })
        })
      )
    }

    it.effect("reaches its function with a large body, also if many arrive together", () =>
      Effect.gen(function* () {
        const tenant = yield* prepareTenant(5, script)
        const text = "x".repeat(100_000)
        const called = { trigger: "request", svc: { request: empty }, body: { text, as: "text" } } as const
        for (let round = 0; round < 20; round++) {
          const ended = yield* Effect.all(
            Array.from({ length: 32 }, () => tenant.call("size", called)),
            { concurrency: "unbounded" }
          )
          const outputs = ended.map(({ outcome }) => ("output" in outcome ? outcome.output : outcome._tag))
          assert.deepStrictEqual(new Set(outputs), new Set(['[100000,true,"string"]']))
        }
      })
    )

    for (const [text, as, body] of [
      ['{"a":[1,null]}', "json", { a: [1, null] }],
      ['{"__proto__":{"x":1}}', "json", JSON.parse('{"__proto__":{"x":1}}')],
      ["[".repeat(100_000), "json", "[".repeat(100_000)],
      ["{} {}", "json", "{} {}"],
      ["", "json", ""],
      ['{"a":1}', "text", '{"a":1}'],
      ["AAAA", "given", null],
      ...forms.map((text) => [text, "form", Object.fromEntries(new URLSearchParams(text))] as const),
      // As the URL standard requires. Node 24 decodes the unescaped character wrong.
      ["a=%C3æ", "form", { a: "\ufffdæ" }]
    ] as const) {
      it.effect(`gets ${text.slice(0, 20)} as ${as}`, () =>
        Effect.gen(function* () {
          const tenant = yield* prepareTenant(2, script)
          const called = { trigger: "request", svc: { request: empty }, body: { text, as } } as const
          const { outcome } = yield* tenant.call("both", called)
          assert.deepStrictEqual(outcome, { _tag: "Returned", output: JSON.stringify([body, text, keys]) })
        })
      )
    }

    it.effect("gets a form although its code replaces the built-ins that could decode it", () =>
      Effect.gen(function* () {
        const replaced = `const { getOwnPropertyNames, defineProperty } = Object
for (const of of [String.prototype, JSON, Map.prototype, Object]) {
  for (const name of getOwnPropertyNames(of)) {
    try { if (typeof of[name] === "function") of[name] = () => { throw new Error("met") } } catch {}
  }
}
defineProperty(globalThis, "URLSearchParams", { get() { throw new Error("met") } })
defineProperty(Object.prototype, "a", { set() { throw new Error("met") } })`
        const tenant = yield* prepareTenant(4, `export const form = (request) => request.body\n${replaced}`)
        const body = { text: "a=1&b=x+y", as: "form" } as const
        const { outcome } = yield* tenant.call("form", { trigger: "request", svc: { request: empty }, body })
        assert.deepStrictEqual(outcome, { _tag: "Returned", output: '{"a":"1","b":"x y"}' })
      })
    )

    it.effect("calls no setter that its code adds to Object.prototype", () =>
      Effect.gen(function* () {
        const setters = `Object.defineProperty(Object.prototype, "body", { set() { throw new Error("met") } })
Object.defineProperty(Object.prototype, "body-raw", { set() { throw new Error("met") } })`
        const tenant = yield* prepareTenant(3, `${setters}${script}`)
        const called = { trigger: "request", svc: { request: empty }, body: { text: "1", as: "json" } } as const
        const { outcome } = yield* tenant.call("own", called)
        assert.deepStrictEqual(outcome, { _tag: "Returned", output: '[1,"1"]' })
      })
    )
  }
)
