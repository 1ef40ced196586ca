import { constants, createContext, runInContext } from "node:vm"
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { rewrite } from "../src/guest/repl/rewrite.ts"

/** Evaluates inputs one after the other in a realm of their own, as a session does, and returns the last value. */
const evaluate = async (...sources: ReadonlyArray<string>): Promise<unknown> => {
  // Without interceptors, whose properties differ from those of a global object.
  const realm = createContext(constants.DONT_CONTEXTIFY)
  let value: unknown
  for (const source of sources) {
    const { script, functions, names, assigned } = rewrite(source)
    for (const name of [...names, ...assigned.filter((each) => !(each in realm))]) {
      const found = Object.getOwnPropertyDescriptor(realm, name)?.value
      Object.defineProperty(realm, name, { value: found, writable: true, enumerable: true, configurable: true })
    }
    for (const text of functions) runInContext(text, realm)
    const run: (helpers: object) => Promise<unknown> = runInContext(script, realm)
    value = await run({
      constant: (all: ReadonlyArray<string>) => {
        for (const name of all) Object.defineProperty(realm, name, { writable: false })
      },
      load: async () => ({ default: "d", other: "o" })
    })
  }
  return JSON.parse(JSON.stringify(value ?? null))
}

const same = async (value: unknown, ...sources: ReadonlyArray<string>) =>
  assert.deepStrictEqual(await evaluate(...sources), value, sources.join(" ¶ "))

const thrown = (...sources: ReadonlyArray<string>) =>
  evaluate(...sources).then(
    () => "nothing",
    (error: unknown) => (typeof error === "object" && error !== null && "message" in error ? error.message : error)
  )

describe("rewriting an input", () => {
  it("makes declarations of all kinds last", async () => {
    await same(3, "const a = 1, b = 2", "a + b")
    await same(
      [1, [2, 3], 4, 5],
      "const { a, b: [c, ...d], ...e } = { a: 1, b: [0, 2, 3], f: 4 }, [, g = 5] = []",
      "[a, d, e.f, g]"
    )
    await same([null, 1], "var v", "let l = 1", "[v, l]")
    await same(120, "function f(n) { return n < 2 ? 1 : n * f(n - 1) }", "f(5)")
    await same("Af", "class A { static x = 1 }; const f = () => A.x", "A.name + f.name")
    await same(
      [1, 2],
      "async function* count() { yield 1; yield 2 }",
      "const out = []; for await (const n of count()) out.push(n); out"
    )
    await same([3, 9], "for (var i = 0, k = 9; i < 3; i++);", "[i, k]")
    await same(["b", 2], "for (var key in { a: 1, b: 2 }) { var inner = key.length + 1 }", "[key, inner]")
    await same(2, "if (true) var one = 1; else var two = 1", "one + 1")
  })

  it("allows a name to be declared again, and rejects an assignment to a constant", async () => {
    await same(2, "const a = 1", "const a = 2", "a")
    await same(2, "function f() { return g() } function g() { return 1 }", "function g() { return 2 }", "f()")
    assert.match(String(await thrown("const a = 1", "a = 2")), /read only/)
    assert.match(String(await thrown("const a = 1; a = 2")), /read only/)
    await same(2, "let a = 1", "let a = a + 1", "a")
    await same(7, "x = y = 7", "x")
  })

  it("returns the value of the last expression, awaited", async () => {
    await same(1, "1")
    await same(3, "const a = 1; (a, a + 2) // both")
    await same(3, "((1 + 2) /* ) */ ) ;")
    await same(5, "await Promise.resolve(5)")
    await same(null, "1; const a = 2")
    await same(null, "")
    await same("a", "'a'")
    await same(4, "return 4")
  })

  it("keeps statements apart that need no semicolon", async () => {
    await same(1, "let n = 0\nconst g = () => n++\ng\nconst a = 1\ng\nlet b\n(1)")
    await same(2, "const f = () => 2\nfunction g() {}\n(f())")
    await same([1], "class A {}\n[1]")
    await same(1, "var a = 1\nfunction f(){}class B {}function h(){}\na")
  })

  it("loads modules, and drops exports", async () => {
    await same(["d", "o", "d"], "import d, { other as o } from 'm'; import * as all from 'm'\n", "[d, o, all.default]")
    await same("o", "(await import('m')).other")
    await same("o", "const load = () => import('m')", "(await load()).other")
    await same([1, 2], "export const a = 1; export function b() { return 2 }; export { a as c }", "[a, b()]")
    await same(3, "export default 3")
    await same(4, "export default class Four { x = 4 }", "new Four().x")
  })

  it("keeps lines, one lower", async () => {
    const stackOf = async (source: string) => {
      const { script, functions } = rewrite(source)
      const realm = createContext({ f: undefined, a: undefined, Error })
      for (const text of functions) runInContext(text, realm, { filename: "input" })
      const run: (helpers: object) => Promise<unknown> = runInContext(script, realm, { filename: "input" })
      return run({ constant: () => undefined }).then(
        () => "",
        (error: unknown) => (error instanceof Error ? String(error.stack) : "")
      )
    }
    assert.include(await stackOf("const a = {\n}\n\nthrow new Error()"), "input:5:7")
    assert.include(await stackOf("1\n\n  function f() {\n  throw new Error()\n}\nf()"), "input:5:9")
    assert.include(await stackOf("1\n\n  function f() {\n  throw new Error()\n}\nf()"), "input:7:")
  })

  it("gives the same values for statements in one input and in one each", async () => {
    const name = fc.constantFrom("a", "b", "c")
    const value = fc.oneof(
      fc.integer({ min: 0, max: 9 }).map(String),
      name.map((each) => `(typeof ${each} === "function" ? ${each}() : ${each})`)
    )
    const statement = fc.oneof(
      fc.tuple(fc.constantFrom("var", "let", "const"), name, value).map(([kind, id, to]) => [kind, id, to] as const),
      fc.tuple(name, value).map(([id, to]) => ["function", id, to] as const)
    )
    const textOf = ([kind, id, to]: readonly [string, string, string]) =>
      kind === "function" ? `function ${id}() { return ${to.includes(id) ? 1 : 2} }` : `${kind} ${id} = ${to}`
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(statement, { selector: ([, id]) => id, maxLength: 3 }), async (all) => {
        const start = "var a = 0, b = 0, c = 0"
        const end = "[a, b, c].map((each) => typeof each === 'function' ? 'f' + each() : each)"
        const hoisted = [...all].sort((x, y) => Number(y[0] === "function") - Number(x[0] === "function")).map(textOf)
        assert.deepStrictEqual(
          await evaluate(start, ...hoisted, end),
          await evaluate(start, [...all.map(textOf), end].join(";\n"))
        )
      }),
      { numRuns: 60 }
    )
  })
})
