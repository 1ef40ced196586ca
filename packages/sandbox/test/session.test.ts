import { assert, layer } from "@effect/vitest"
import { Sandbox } from "@weft/core/adapter"
import { Effect } from "effect"
import { sandbox } from "../src/index.ts"
import { runnerPids } from "./RunnerPids.ts"
import { type Call, createTenant, prepareTenant } from "./Tenant.ts"
import { buildBundle } from "./zip.ts"

let tenants = 7000

/** Opens a session. Its `input` returns the outcome, `value` the JSON and `text` the formatted value. */
const open = Effect.fnUntraced(function* (build: Uint8Array | null = null) {
  const service = yield* Sandbox
  const tenant = createTenant(service, ++tenants, yield* service.compileSession(build), { keepsState: true })
  const call = (fn: string, args: ReadonlyArray<unknown>, options: Call = {}) =>
    Effect.map(
      tenant.call(`weft:session/${fn}`, { trigger: "args", svc: { args, run: {} }, ...options }),
      ({ outcome }) => outcome
    )
  let inputs = 0
  yield* call("open", [])
  const input = Effect.fnUntraced(function* (text: string, options: Call = {}) {
    return yield* call("input", [++inputs, yield* service.prepareInput(text)], options)
  })
  const part = (name: "text" | "json") => (text: string) =>
    Effect.map(input(text), (outcome) =>
      outcome._tag === "Returned" ? String(JSON.parse(outcome.output)[name]) : JSON.stringify(outcome)
    )
  const complete = (source: string) =>
    Effect.map(call("complete", [source, source.length]), (outcome) =>
      outcome._tag === "Returned" ? JSON.parse(outcome.output).candidates : outcome
    )
  return { input, value: part("json"), text: part("text"), complete }
})

const syntaxError = (text: string) =>
  Effect.map(Effect.flip(Sandbox.use((service) => service.prepareInput(text))), ({ message }) => message)

layer(sandbox({ runners: 1 }), { excludeTestServices: true, timeout: "60 seconds" })("a session", (it) => {
  it.effect("keeps variables of TypeScript and JavaScript, with await at the top level", () =>
    Effect.gen(function* () {
      const { value } = yield* open()
      for (const [text, expected] of [
        ["const a: number = await Promise.resolve(4), b = 2", "null"],
        ["a * b", "8"],
        ["_ + 1", "9"],
        ["enum Color { Red, Green }\ninterface P { readonly q: Color }", "null"],
        ["({ q: Color.Green } satisfies P).q", "1"],
        ["{ a }", '{"a":4}'],
        ["{ const c = 1; c }", "null"],
        ["function f<T>(x: T) { return [x, a] }\nf<string>('x')", '["x",4]'],
        ["a = 5", '{"_tag":"Threw"'],
        ["missing", '{"_tag":"Threw"'],
        ["_error.name", '"ReferenceError"'],
        ["const _ = 'mine'; 1", "1"],
        ["2", "2"],
        ["_", '"mine"'],
        ["new URLPattern({ pathname: '/:a' }).exec('https://x/1').pathname.groups.a", '"1"'],
        ["'x'.repeat(300000)", "null"]
      ] as const) {
        const found = yield* value(text)
        assert.isTrue(found.startsWith(expected), `${text}: ${found}`)
      }
    })
  )

  it.effect("formats what JSON cannot represent, within bounds", () =>
    Effect.gen(function* () {
      const { text } = yield* open()
      for (const [source, expected] of [
        ["new Map([['k', new Set([1, { a: 1n }])]])", "Map(1) { 'k' => Set(2) { 1, { a: 1n } } }"],
        ["class Tea { price = 3; get secret() { throw 1 } }; new Tea()", "Tea { price: 3 }"],
        ["const o = { get a() { return 1 } }; o.o = o; o", "<ref *1> { a: [Getter], o: [Circular *1] }"],
        ["(x) => x", "[Function (anonymous)]"],
        ["undefined", ""],
        ["'a\\nb'", "'a\\nb'"]
      ] as const)
        assert.strictEqual(yield* text(source), expected, source)
      assert.match(yield* text("\nnew RangeError('no')"), /^RangeError: no\n {4}at eval \(repl-7\.ts:2:\d+\)$/)
      const wide = yield* text("Array.from({ length: 100 }, () => Array.from({ length: 100 }, () => ({ a: {} })))")
      assert.isBelow(wide.length, 70_000)
      assert.include(wide, "[Object]")
    })
  )

  it.effect("rejects a syntax error with its position, and reports an input that more text may complete", () =>
    Effect.gen(function* () {
      assert.match(yield* syntaxError("const a = 1\noops oops"), /^repl\.ts:2:6 /)
      assert.match(yield* syntaxError("'abc"), /^repl\.ts:1:5 Unterminated string/)
      for (const text of ["f(1,", "if (a) {\n", "`abc\n", "/* abc", "[1, 2", "a +", "class A {"])
        assert.match(yield* syntaxError(text), / Unexpected end of the input$/, text)
      assert.match(yield* syntaxError("(".repeat(2000)), /nested deeper/)
    })
  )

  it.effect("has own lines in stacks, and none of its program", () =>
    Effect.gen(function* () {
      const { input } = yield* open()
      yield* input("function fail() {\n  throw new Error('no')\n}")
      const outcome = yield* input("\n\nfail()")
      assert.deepInclude(outcome, { _tag: "Threw", message: "no" })
      if (outcome._tag !== "Threw") return
      assert.match(outcome.stack, /^Error: no\n {4}at fail \(repl-1\.ts:2:\d+\)\n {4}at eval \(repl-2\.ts:3:\d+\)$/)
    })
  )

  it.effect("uses the build of its context", () =>
    Effect.gen(function* () {
      const { value } = yield* open(buildBundle("export const price = (item) => item.length; export default 7"))
      assert.strictEqual(yield* value("import seven, { price } from 'weft:build'"), "null")
      assert.strictEqual(yield* value("price('tea') + seven + build.price('x')"), "11")
      assert.strictEqual(yield* value("await svc.invoke('main/price', ['four'])"), "4")
      assert.include(yield* value("import fs from 'node:fs'"), "imports nothing but weft:build")
    })
  )

  it.effect("completes names and members without a call of code", () =>
    Effect.gen(function* () {
      const { value, complete } = yield* open()
      yield* value("let calls = 0; const tea = { get price() { calls++; return {} }, name: 'x', nested: { deep: 1 } }")
      assert.includeMembers(yield* complete(""), ["calls", "tea", "svc"])
      assert.deepStrictEqual(yield* complete("1 + te"), ["tea"])
      assert.deepStrictEqual(yield* complete("tea.n"), ["name", "nested"])
      assert.deepStrictEqual(yield* complete("tea?.nested.de"), ["deep"])
      assert.deepStrictEqual(yield* complete("tea.price."), [])
      assert.deepStrictEqual(yield* complete("f().na"), [])
      assert.include(yield* complete("svc.ev"), "events")
      assert.include(yield* complete("svc.events.pub"), "publish")
      assert.include(yield* complete("URL.can"), "canParse")
      assert.strictEqual(yield* value("calls"), "0")
    })
  )

  it.effect("shares nothing with another session, nor with other builds", () =>
    Effect.gen(function* () {
      const [one, two] = [yield* open(), yield* open()]
      yield* one.value("globalThis.shared = 1; Array.prototype.shared = 1")
      assert.strictEqual(yield* two.value("[typeof shared, typeof [].shared]"), '["undefined","undefined"]')
      const build = yield* prepareTenant(++tenants, "export const f = () => typeof [].shared")
      assert.deepInclude((yield* build.call("f")).outcome, { output: '"undefined"' })
    })
  )

  it.effect("ends only itself if its code changes the program, and gives no way out of its isolate", () =>
    Effect.gen(function* () {
      for (const attack of [
        "Object.prototype.toJSON = () => ({ lost: true })",
        "Array.prototype.push = Array.prototype.map = () => { throw 1 }",
        "JSON.stringify = () => 'forged'; eval = () => 1; Reflect.apply = () => 1",
        "Promise.prototype.then = function () { return this }",
        "Object.defineProperty(globalThis, 'svc', { get() { throw 1 }, configurable: false })",
        "String.prototype.split = Map.prototype.get = Set.prototype.add = null",
        "Object.defineProperty(Object.prototype, 'text', { set() { throw 1 }, get: () => 'forged' })"
      ]) {
        const { input } = yield* open()
        const outcomes = [yield* input(attack, { timeoutMs: 1000 }), yield* input("1 + 1", { timeoutMs: 500 })]
        for (const { _tag } of outcomes)
          assert.include(["Returned", "Threw", "TimedOut", "LimitExceeded"], _tag, attack)
      }
      const { value } = yield* open()
      const ways = [
        "weft$.load.constructor",
        "weft$.constant.constructor",
        "(function () { return this })",
        "(() => { try { null.x } catch (error) { return error.constructor } })()",
        "_.constructor"
      ].map(
        (way) => `attempt(() => ${way}.constructor('return typeof process + typeof require + (this === globalThis)')())`
      )
      const attempt = "const attempt = (work) => { try { return work() } catch (error) { return error.name } }"
      const found = yield* value(`${attempt}; [${ways.join()}]`)
      assert.notInclude(found, "object", found)
      assert.strictEqual(yield* value("typeof process + typeof require"), '"undefinedundefined"')
    })
  )
})

layer(sandbox({ runners: 1, idleMs: 1, callsPerIsolate: 1, limits: { heapBytes: 32 * 2 ** 20, cpuSliceMs: 200 } }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("the isolate of a session", (it) => {
  it.effect("outlasts idle time and other limits of isolates, and ends by processor time and memory", () =>
    Effect.gen(function* () {
      const { input, value } = yield* open()
      yield* value("const kept = 1")
      yield* Effect.sleep("1200 millis")
      assert.strictEqual(yield* value("kept"), "1")
      assert.deepInclude(yield* input("for (;;);"), { _tag: "CpuExhausted" })
      assert.deepStrictEqual(yield* input("1"), { _tag: "Returned", output: '{"lost":true}' })
      const greedy = yield* open()
      const outcome = yield* greedy.input("const all = []; for (;;) all.push(new Array(1e5).fill({}))")
      assert.include(["OutOfMemory", "CpuExhausted"], outcome._tag)
      assert.deepStrictEqual(yield* greedy.input("1"), { _tag: "Returned", output: '{"lost":true}' })
    })
  )

  it.effect("is not replaced after the death of its runner: the next input reports the loss", () =>
    Effect.gen(function* () {
      const { input } = yield* open()
      for (const pid of runnerPids()) process.kill(pid, "SIGKILL")
      let outcome = yield* input("1")
      if (outcome._tag === "RunnerLost") outcome = yield* input("1")
      assert.deepStrictEqual(outcome, { _tag: "Returned", output: '{"lost":true}' })
    })
  )
})
