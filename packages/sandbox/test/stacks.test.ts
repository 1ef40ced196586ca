/** Stacks of functions that were written in TypeScript and bundled as by authors. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Sandbox } from "@weft/core/adapter"
import { Effect } from "effect"
import { build } from "esbuild"
import { sandbox } from "../src/index.ts"
import { createTenant } from "./Tenant.ts"
import { buildBundle } from "./zip.ts"

const sources = {
  "index.ts": `import { charge, later, wrapped, looped } from "./billing.ts"

interface Order { readonly total: number }

export const direct = (order: Order): number => charge(order.total)
export const inTimer = async (): Promise<void> => { await later() }
export const afterAwait = async (order: Order): Promise<number> => {
  await new Promise<void>((resolve) => setTimeout(resolve, 1))
  return charge(order.total)
}
export const inCallback = (): Promise<never> => new Promise(() => {
  setTimeout(() => { throw new RangeError("in a callback") }, 1)
})
export const caused = (): never => wrapped()
export const round = (): never => looped()
export const plain = (): never => { throw new Error("outer", { cause: "a word" }) }
`,
  "billing.ts": `/** A comment that takes
 * some lines. */
type Amount = number

export const charge = (total: Amount): number => {
  if (total < 0) throw new TypeError("no negative totals")
  return total
}

export const later = async (): Promise<void> => {
  await new Promise<void>((resolve) => setTimeout(resolve, 1))
  throw new Error("too late")
}

export const wrapped = (): never => {
  try {
    charge(-1)
  } catch (cause) {
    throw new Error("could not charge", { cause })
  }
  throw new Error("unreachable")
}

export const looped = (): never => {
  const error = new Error("round")
  error.cause = error
  throw error
}
`
}

const lineOf = (file: keyof typeof sources, text: string): number =>
  sources[file].split("\n").findIndex((line) => line.includes(text)) + 1

/** Bundles the sources with source maps into a zip. */
const bundle = async (minify: boolean): Promise<Uint8Array> => {
  const dir = mkdtempSync(join(tmpdir(), "weft-stacks-"))
  for (const [name, text] of Object.entries(sources)) writeFileSync(join(dir, name), text)
  const { outputFiles } = await build({
    absWorkingDir: dir,
    entryPoints: ["index.ts"],
    bundle: true,
    format: "esm",
    target: "es2024",
    sourcemap: "external",
    minify,
    write: false,
    outfile: "index.js"
  })
  rmSync(dir, { recursive: true })
  const text = (end: string): string => outputFiles.find((file) => file.path.endsWith(end))?.text ?? ""
  return buildBundle(text("index.js"), { "index.js.map": text("index.js.map") })
}

layer(sandbox({ runners: 1 }), { timeout: "60 seconds", excludeTestServices: true })("a stack", (it) => {
  for (const minify of [false, true]) {
    const how = minify ? "minified" : "plain"
    const tenant = Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { artifact } = yield* sandbox.prepare(yield* Effect.promise(() => bundle(minify)))
      return createTenant(sandbox, minify ? 61 : 60, artifact)
    })
    const thrown = (fn: string, arg: unknown = null) =>
      Effect.gen(function* () {
        const { outcome } = yield* (yield* tenant).call(fn, { trigger: "args", svc: { args: [arg] } })
        if (outcome._tag !== "Threw") return yield* Effect.die(new Error(`${fn} did not throw: ${outcome._tag}`))
        return outcome
      })
    const inBilling = (text: string) => `billing.ts:${lineOf("billing.ts", text)}:`
    const inIndex = (text: string) => `index.ts:${lineOf("index.ts", text)}:`

    it.effect(`contains the author's files and lines, ${how}`, () =>
      Effect.gen(function* () {
        const { stack } = yield* thrown("direct", { total: -1 })
        assert.include(stack, inBilling("no negative totals"))
        assert.include(stack, inIndex("export const direct"))
        assert.notInclude(stack, "weft:")
      })
    )

    it.effect(`contains them after an await, in a timer and in a callback, ${how}`, () =>
      Effect.gen(function* () {
        const awaited = yield* thrown("afterAwait", { total: -1 })
        assert.include(awaited.stack, inBilling("no negative totals"))
        assert.include(awaited.stack, inIndex("return charge(order.total)"))
        assert.include((yield* thrown("inTimer")).stack, inBilling("too late"))
        const callback = yield* thrown("inCallback")
        assert.strictEqual(callback.name, "RangeError")
        assert.include(callback.stack, inIndex("in a callback"))
      })
    )

    it.effect(`continues with the causes, ${how}`, () =>
      Effect.gen(function* () {
        const { message, stack } = yield* thrown("caused")
        assert.strictEqual(message, "could not charge")
        const [outer = "", inner = ""] = stack.split("Caused by: ")
        assert.include(outer, inBilling("could not charge"))
        assert.match(inner, /^TypeError: no negative totals/)
        assert.include(inner, inBilling("no negative totals"))
        assert.match((yield* thrown("plain")).stack, /Caused by: a word$/)
        assert.isBelow((yield* thrown("round")).stack.split("Caused by: ").length, 10)
      })
    )
  }
})
