/** Bundles that keep the compiler busy, or end it, and what their neighbours notice of that. */
import { assert, describe, it } from "@effect/vitest"
import { Sandbox } from "@weft/core"
import { Effect, Fiber } from "effect"
import { isolated } from "../src/index.ts"
import { compilerPids } from "./CompilerPids.ts"
import { bundleOf } from "./zip.ts"

const MiB = 1024 * 1024
const good = bundleOf("export const a = () => 1")
/** Compiles for some seconds. */
const slow = bundleOf("a=[b];".repeat((16 * MiB) / 6))
/** Ends the compiler: its stack is as deep as the brackets, and has an end. */
const deadly = bundleOf("[".repeat(3 * MiB))

const within = <A, E>(compileMs: number, body: Effect.Effect<A, E, Sandbox>) =>
  Effect.provide(body, isolated({ runners: 1, limits: { compileMs } }))

const prepare = (zip: Uint8Array) => Effect.flatMap(Sandbox, (sandbox) => sandbox.prepare(zip))

const refusal = (zip: Uint8Array) => Effect.map(Effect.flip(prepare(zip)), ({ _tag, message }) => `${_tag}: ${message}`)

/** The system takes a moment to end what was told to. */
const gone = Effect.fnUntraced(function* (pids: ReadonlyArray<number>) {
  while (compilerPids().some((pid) => pids.includes(pid))) yield* Effect.sleep("20 millis")
})

/** Blocks in blocks. */
const nested = (depth: number) => bundleOf(`export const a = () => { ${"{".repeat(depth)}${"}".repeat(depth)} }`)

describe("a bundle", () => {
  it.live("is about as long when it is compiled, however deep its blocks are nested", () =>
    within(
      10_000,
      Effect.gen(function* () {
        const { artifact } = yield* prepare(nested(1000))
        assert.isBelow(artifact.length, 100_000)
      })
    )
  )

  it.live("that takes long to compile is refused, and nothing goes on compiling it", () =>
    within(
      1000,
      Effect.gen(function* () {
        yield* prepare(good)
        const compilers = compilerPids()
        assert.isAbove(compilers.length, 0)
        assert.strictEqual(yield* refusal(slow), "BundleRejected: index.js did not compile within 1000 ms")
        yield* gone(compilers)
        assert.strictEqual((yield* prepare(good)).functions.length, 1)
      })
    )
  )

  it.live("that nobody waits for any more is not compiled to its end", () =>
    within(
      60_000,
      Effect.gen(function* () {
        yield* prepare(good)
        const compilers = compilerPids()
        const left = yield* Effect.forkChild(prepare(slow))
        yield* Effect.sleep("500 millis")
        yield* Fiber.interrupt(left)
        yield* gone(compilers)
        assert.strictEqual((yield* prepare(good)).functions.length, 1)
      })
    )
  )

  it.live("that ends the compiler is refused, and its neighbours are compiled meanwhile", () =>
    within(
      20_000,
      Effect.gen(function* () {
        const attack = yield* Effect.forkChild(refusal(deadly))
        const neighbours: Array<number> = []
        while (attack.pollUnsafe() === undefined) neighbours.push((yield* prepare(good)).functions.length)
        assert.strictEqual(yield* Fiber.join(attack), "BundleRejected: index.js ended the compiler's process")
        assert.isAbove(neighbours.length, 0)
        assert.deepStrictEqual([...new Set(neighbours)], [1])
      })
    )
  )
})
