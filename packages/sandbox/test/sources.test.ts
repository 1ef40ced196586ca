import { assert, layer } from "@effect/vitest"
import { BuildId, Sandbox } from "@weft/core/adapter"
import { Effect, Fiber } from "effect"
import { sandbox } from "../src/index.ts"
import { runnerPids } from "./RunnerPids.ts"
import { type Call, createTenant, makeId, type Tenant } from "./Tenant.ts"
import { buildBundle } from "./zip.ts"

let tenants = 0

/** Compiles a source and runs it once with the arguments. Returns its outcome. */
const evaluate = Effect.fnUntraced(function* (
  text: string,
  args: ReadonlyArray<unknown> = [],
  { build = null, ...call }: Call & { readonly build?: Uint8Array | null } = {}
) {
  const service = yield* Sandbox
  const artifact = yield* service.compileSource({ text, build })
  const tenant = createTenant(service, ++tenants, artifact, { isSingleUse: true })
  return (yield* tenant.call("default", { trigger: "args", svc: { args, run: {} }, ...call })).outcome
})

const returned = (value: unknown) => ({ _tag: "Returned", output: JSON.stringify(value) }) as const

const rejected = (text: string) => Effect.map(Effect.flip(evaluate(text)), ({ message }) => message)

layer(sandbox({ runners: 1 }), { excludeTestServices: true, timeout: "60 seconds" })("source text", (it) => {
  it.effect("is an expression, the body of an async function, or a module", () =>
    Effect.gen(function* () {
      const cases = [
        ["1 + 2", [], 3],
        ["args[0] * args[1] // of both", [6, 7], 42],
        ["({ a: args.length })", [1], { a: 1 }],
        ["await Promise.resolve(5)", [], 5],
        ["[1, 2].map((x) => { return x * 2 })", [], [2, 4]],
        ["const [a] = args\nreturn a + 1", [1], 2],
        ["let sum = 0; for (const each of args) sum += each; return sum", [1, 2, 3], 6],
        ["export default (a, b) => a - b", [5, 3], 2],
        ["const twice = (x: number): number => x * 2\nexport default async (x: number) => twice(x)", [4], 8],
        [
          "interface P { readonly q: number }\nconst p: P = { q: args[0] as number }\nreturn p.q satisfies number",
          [9],
          9
        ]
      ] as const
      for (const [text, args, value] of cases) {
        assert.deepStrictEqual(yield* evaluate(text, args), returned(value), text)
      }
    })
  )

  it.effect("is rejected with the position of a syntax error, and without a default export", () =>
    Effect.gen(function* () {
      assert.match(yield* rejected("const a = 1\nreturn a +"), /^eval\.ts:2:11 Unexpected end of the source/)
      assert.match(yield* rejected("export default () => {\n  oops oops\n}"), /^eval\.ts:2:8 /)
      assert.match(yield* rejected("export const other = () => 1"), /must export a function as its default/)
      assert.match(yield* rejected('import fs from "node:fs"\nexport default () => fs'), /imports "node:fs"/)
      assert.match(yield* rejected('import { add } from "weft:build"\nexport default add'), /imports "weft:build"/)
    })
  )

  it.effect("is rejected if it would overflow the compiler", () =>
    Effect.gen(function* () {
      assert.match(yield* rejected("(".repeat(100_000)), /nested deeper than 1000 levels/)
      assert.deepStrictEqual(yield* evaluate("1"), returned(1))
    })
  )

  it.effect("has its own lines in stacks", () =>
    Effect.gen(function* () {
      const outcome = yield* evaluate("const fail = () => {\n  throw new RangeError('no')\n}\nfail()")
      assert.deepInclude(outcome, { _tag: "Threw", name: "RangeError", message: "no" })
      if (outcome._tag === "Threw") assert.match(outcome.stack, /eval\.ts:2:9[\s\S]*eval\.ts:4:1/)
    })
  )

  it.effect("uses the functions of the build of its context", () =>
    Effect.gen(function* () {
      const build = buildBundle("export const add = (a, b) => a + b\nexport const shop = { price: () => 7 }")
      assert.deepStrictEqual(yield* evaluate("build.add(1, 2)", [], { build }), returned(3))
      assert.deepStrictEqual(yield* evaluate("await svc.invoke('shop/price', [])", [], { build }), returned(7))
      const module = "import { add } from 'weft:build'\nexport default (a: number) => add(a, 1)"
      assert.deepStrictEqual(yield* evaluate(module, [4], { build }), returned(5))
    })
  )

  it.effect("shares no globals between runs in isolates for single use", () =>
    Effect.gen(function* () {
      const service = yield* Sandbox
      const text = "globalThis.count = (globalThis.count ?? 0) + 1; return globalThis.count"
      const artifact = yield* service.compileSource({ text, build: null })
      const count = (isSingleUse: boolean) =>
        Effect.map(
          createTenant(service, 77, artifact, { isSingleUse }).call("default", {
            trigger: "args",
            svc: { args: [], run: {} }
          }),
          ({ outcome }) => outcome
        )
      assert.deepStrictEqual([yield* count(true), yield* count(true)], [returned(1), returned(1)])
      assert.deepStrictEqual([yield* count(false), yield* count(false)], [returned(1), returned(2)])
    })
  )
})

layer(sandbox({ runners: 1, strikes: 1, limits: { cpuSliceMs: 10_000 } }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("a source whose runner dies while it computes", (it) => {
  it.effect("puts all sources of its environment under quarantine, and no build", () =>
    Effect.gen(function* () {
      const service = yield* Sandbox
      const strike_id = BuildId.make(makeId(900))
      const source = (number: number, text: string) =>
        Effect.map(service.compileSource({ text, build: null }), (artifact) =>
          createTenant(service, number, artifact, { isSingleUse: true, strike_id })
        )
      const tagOf = (tenant: Tenant) =>
        Effect.map(
          tenant.call("default", { trigger: "args", svc: { args: [], run: {} } }),
          ({ outcome }) => outcome._tag
        )
      const innocent = yield* source(901, "1")
      const build = createTenant(service, 902, innocent.artifact)
      assert.strictEqual(yield* tagOf(innocent), "Returned")
      const spinning = yield* Effect.forkChild(tagOf(yield* source(903, "for (;;) {}")))
      yield* Effect.sleep("500 millis")
      for (const pid of runnerPids()) process.kill(pid, "SIGKILL")
      yield* Fiber.join(spinning)
      assert.strictEqual((yield* service.nextQuarantine).build_id, strike_id)
      assert.deepStrictEqual([yield* tagOf(innocent), yield* tagOf(build)], ["Quarantined", "Returned"])
      yield* service.clearQuarantine(strike_id)
      assert.strictEqual(yield* tagOf(innocent), "Returned")
    })
  )
})
