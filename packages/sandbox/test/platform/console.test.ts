import { inspect } from "node:util"
import vm from "node:vm"
import { assert, describe, it } from "vitest"
import { Guest } from "./Guest.ts"

const logged = async (code: string) => {
  const guest = await Guest.start()
  guest.evaluate(code)
  return guest.logs.map(({ level, message }) => `${level}: ${message}`)
}

/** Values with the same text as from Node's `inspect`. */
const asInNode = {
  numbers: "[1, -0, NaN, 2n, 0.1]",
  strings: `["plain", "it's", 'both " and \\'', "tab\\t nl\\n \\\\ \\x01"]`,
  "plain objects": `({ a: 1, "b-c": "x", 3: null, [Symbol("s")]: undefined, é: true })`,
  "nested objects": "({ a: { b: {} }, d: [[], [1]] })",
  "empty ones": "[[], {}, new Map(), new Set(), new Uint8Array()]",
  maps: `new Map([["a", 1], [{ k: 1 }, new Set([1, "x"])]])`,
  dates: "[new Date(0), new Date(NaN)]",
  expressions: "[/a\\/b/gi]",
  functions:
    "[function named() {}, () => {}, class A {}, class B extends Map {}, async () => {}, function* gen() {}, Object.assign(() => {}, { p: 1 })]",
  symbols: `[Symbol("a"), Symbol.iterator]`,
  boxes: `[Object(1), Object("s"), Object(true), Object(1n)]`,
  holes: `[1, , 3, , , ]`,
  "arrays with properties": `Object.assign([1], { p: 2 })`,
  "typed arrays": "[new Uint8Array([1, 2]), new Float64Array([0.5])]",
  buffers: "new Uint8Array([1, 255]).buffer",
  accessors: "({ get a() { throw 1 }, set b(v) {}, get c() { return 1 }, set c(v) {} })",
  "class instances": "(class Point { constructor() { this.x = 1 } }, new (class Point { x = 1 })())",
  "no prototype": "Object.assign(Object.create(null), { a: 1 })",
  tags: `({ [Symbol.toStringTag]: "Tagged" })`,
  cycles: "(() => { const a = { n: 1 }; a.self = a; a.list = [a]; return a })()",
  "two cycles": "(() => { const a = {}, b = { a }; a.b = b; b.b = b; return { a } })()",
  "errors without a stack": `Object.assign(new Error("m"), { stack: undefined })`,
  "weak maps": "new WeakMap()"
}

describe("console", () => {
  for (const [what, code] of Object.entries(asInNode)) {
    it(`shows ${what} as Node does`, async () => {
      const expected = inspect(vm.runInThisContext(code), { depth: 4, breakLength: 80 })
      assert.deepStrictEqual(await logged(`console.log(${code})`), [`info: ${expected}`])
    })
  }

  it("has levels", async () => {
    const lines = await logged(
      `console.log("a", 1, { b: 2 }); console.info("i"); console.debug("d"); console.warn("w"); console.error("e"); console.log()`
    )
    assert.deepStrictEqual(lines, ["info: a 1 { b: 2 }", "info: i", "debug: d", "warn: w", "error: e", "info: "])
  })

  it("inserts arguments into the first one", async () => {
    const lines = await logged(`
      console.log("%s is %d years and %i, %f%%", "Ann", 42.5, "7.9", "1.5x", "rest")
      console.log("%o %O %j %c|", { a: [1] }, [2], { b: 1 }, "color: red")
      console.log("%s %d", Symbol("x"))
      console.log("100%")
      console.log("%j", (() => { const a = {}; a.a = a; return a })())
      console.log("%x %s", 1)`)
    assert.deepStrictEqual(lines, [
      "info: Ann is 42.5 years and 7, 1.5% rest",
      'info: { a: [ 1 ] } [ 2 ] {"b":1} |',
      "info: Symbol(x) %d",
      "info: 100%",
      "info: [Circular]",
      "info: %x 1"
    ])
  })

  it("shows errors with their stack, properties and causes", async () => {
    const [line = ""] = await logged(
      `console.log(Object.assign(new TypeError("outer", { cause: new RangeError("inner") }), { code: "E1" }))`
    )
    assert.match(line, /^info: TypeError: outer\n {4}at .*/)
    assert.match(line, /\[cause\]: RangeError: inner\n/)
    assert.match(line, /code: 'E1'/)
  })

  it("shows objects of the platform", async () => {
    const lines = await logged(`
      console.log(new URL("http://a/?b"))
      console.log(new URLSearchParams("a=1&a=2"))
      console.log(new Headers({ b: "2", a: "1" }))
      console.log(new Response("x", { status: 404 }))
      console.log(new Request("http://a", { method: "POST" }))
      console.log(new Blob(["abc"], { type: "t/u" }))
      console.log(AbortSignal.abort())
      console.log([new URL("http://a")])`)
    assert.deepStrictEqual(lines, [
      'info: URL { href: "http://a/?b" }',
      'info: URLSearchParams { "a=1&a=2" }',
      "info: Headers { a: '1', b: '2' }",
      "info: Response {\n  status: 404,\n  statusText: '',\n  headers: Headers { 'content-type': 'text/plain;charset=UTF-8' }\n}",
      "info: Request { method: 'POST', url: 'http://a/', headers: Headers {} }",
      "info: Blob { size: 3, type: 't/u' }",
      "info: AbortSignal { aborted: true }",
      'info: [ URL { href: "http://a/" } ]'
    ])
  })

  it("breaks values that do not fit on a line, and fills lines with short items", async () => {
    const [object = "", list = ""] = await logged(`
      console.log({ first: "x".repeat(40), second: { third: "y".repeat(40) }, list: new Map([["k".repeat(40), "v".repeat(40)]]) })
      console.log(Array.from({ length: 120 }, (_, index) => index))`)
    assert.deepStrictEqual(object.split("\n"), [
      "info: {",
      `  first: '${"x".repeat(40)}',`,
      `  second: { third: '${"y".repeat(40)}' },`,
      "  list: Map(1) {",
      `    '${"k".repeat(40)}' => '${"v".repeat(40)}'`,
      "  }",
      "}"
    ])
    assert.match(list, /^info: \[\n {2}0, 1, 2, 3,/)
    assert.match(list, /99,\s+\.\.\. 20 more items\n\]$/)
    assert.isBelow(list.split("\n").length, 12)
  })

  it("stops at a maximum depth, which dir can set", async () => {
    const lines = await logged(`
      const deep = { a: { b: { c: { d: { e: { f: 1 } } } } } }
      console.log(deep)
      console.dir(deep, { depth: 0 })
      console.dir(deep, { depth: null })`)
    assert.deepStrictEqual(
      lines.map((line) => line.replace(/\s+/g, " ")),
      [
        "info: { a: { b: { c: { d: { e: [Object] } } } } }",
        "info: { a: [Object] }",
        "info: { a: { b: { c: { d: { e: { f: 1 } } } } } }"
      ]
    )
  })

  it("uses the custom format of objects", async () => {
    const lines = await logged(`
      const custom = Symbol.for("nodejs.util.inspect.custom")
      console.log({ [custom]: () => "as I like" }, { [custom]: (depth, options, inspect) => ({ inner: inspect({ a: 1 }) }) })`)
    assert.deepStrictEqual(lines, ["info: as I like { inner: '{ a: 1 }' }"])
  })

  it("asserts, counts and traces", async () => {
    const lines = await logged(`
      console.assert(true, "no"); console.assert(false); console.assert(0, "value %d", 5)
      console.count(); console.count("x"); console.count(); console.countReset(); console.count()
      ;(function here() { console.trace("at %s", "it") })()`)
    assert.deepStrictEqual(lines.slice(0, -1), [
      "error: Assertion failed",
      "error: Assertion failed: value 5",
      "info: default: 1",
      "info: x: 1",
      "info: default: 2",
      "info: default: 1"
    ])
    assert.match(lines.at(-1) ?? "", /^debug: Trace: at it\n {4}at here /)
  })

  it("measures time", async () => {
    const guest = await Guest.start()
    guest.evaluate(`console.time("t")`)
    await guest.advance(25)
    guest.evaluate(`console.timeLog("t", { a: 1 }); console.time("t"); console.timeEnd("t"); console.timeEnd("t")`)
    assert.deepStrictEqual(
      guest.logs.map(({ message }) => message),
      ["t: 25ms { a: 1 }", "Timer 't' already exists", "t: 25ms", "Timer 't' does not exist"]
    )
  })

  it("indents groups", async () => {
    const lines = await logged(
      `console.group("outer"); console.log("a\\nb"); console.group(); console.log("c"); console.groupEnd(); console.groupEnd(); console.groupEnd(); console.log("d")`
    )
    assert.deepStrictEqual(lines, ["info: outer", "info:   a\n  b", "info:     c", "info: d"])
  })

  it("formats tables as plain text", async () => {
    const lines = await logged(`
      console.table([{ a: 1, b: "x" }, { a: 20 }, 5])
      console.table(new Map([["k", { v: true }]]))
      console.table([{ a: 1, b: 2 }], ["b"])
      console.table("no table")`)
    assert.deepStrictEqual(lines, [
      "info: (index) | a  | b   | Values\n--------+----+-----+-------\n0       | 1  | 'x' |\n1       | 20 |     |\n2       |    |     | 5",
      "info: (index) | v\n--------+-----\nk       | true",
      "info: (index) | b\n--------+--\n0       | 2",
      "info: no table"
    ])
  })
})
