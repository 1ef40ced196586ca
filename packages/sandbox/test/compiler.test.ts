/** Bundles that keep the compiler busy or crash it, and the effect on other bundles. */
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { Sandbox } from "@weft/core/adapter"
import { Effect, Fiber } from "effect"
import { sandbox } from "../src/index.ts"
import { compilerPids } from "./CompilerPids.ts"
import { buildBundle, zipEntries } from "./zip.ts"

const MiB = 1024 * 1024
const good = buildBundle("export const a = () => 1")
/** Takes seconds to compile. */
const slow = buildBundle("a=[b];".repeat((16 * MiB) / 6))
/** Crashes the compiler: its stack overflows with nested brackets. */
const deadly = buildBundle("[".repeat(3 * MiB))

const within = <A, E>(compileMs: number, body: Effect.Effect<A, E, Sandbox>) =>
  Effect.provide(body, sandbox({ runners: 1, limits: { compileMs } }))

const prepare = (zip: Uint8Array) => Effect.flatMap(Sandbox, (sandbox) => sandbox.prepare(zip))

const refusal = (zip: Uint8Array) => Effect.map(Effect.flip(prepare(zip)), ({ _tag, message }) => `${_tag}: ${message}`)

/** Waits for the end of processes. */
const gone = Effect.fnUntraced(function* (pids: ReadonlyArray<number>) {
  while (compilerPids().some((pid) => pids.includes(pid))) yield* Effect.sleep("20 millis")
})

/** Returns a bundle with nested blocks. */
const nested = (depth: number) => buildBundle(`export const a = () => { ${"{".repeat(depth)}${"}".repeat(depth)} }`)

describe("a bundle", () => {
  it.live("compiles to about its own length, even with deeply nested blocks", () =>
    within(
      10_000,
      Effect.gen(function* () {
        const { artifact } = yield* prepare(nested(1000))
        assert.isBelow(artifact.length, 100_000)
      })
    )
  )

  it.live("whose script is too large is not unpacked further", () =>
    within(
      10_000,
      Effect.gen(function* () {
        // The second entry is damaged: only who reads beyond the limit finds that out.
        const large = zipEntries([
          { name: "index.js", content: new Uint8Array(17 * MiB) },
          { name: "later", content: "x", claimedSize: 10 }
        ])
        assert.include(yield* refusal(large), `index.js is over ${16 * MiB} bytes`)
      })
    )
  )

  it.live("that takes too long to compile is rejected, and its compilation stops", () =>
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

  it.live("is not compiled further after an interruption", () =>
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

  it.live("that crashes the compiler is rejected, while other bundles compile", () =>
    within(
      20_000,
      Effect.gen(function* () {
        const attack = yield* Effect.forkChild(refusal(deadly))
        const neighbours: Array<number> = []
        while (attack.pollUnsafe() === undefined) neighbours.push((yield* prepare(good)).functions.length)
        assert.strictEqual(yield* Fiber.join(attack), "BundleRejected: index.js crashed the compiler")
        assert.isAbove(neighbours.length, 0)
        assert.deepStrictEqual([...new Set(neighbours)], [1])
      })
    )
  )
})

describe("the compiler without free descriptors", () => {
  it("neither ends the host nor rejects the bundle, and starts later", async () => {
    const program = fileURLToPath(new URL("./compilerWithoutDescriptors.ts", import.meta.url))
    for (const free of [0, 1, 4, 6]) {
      const flags = ["--nofile=60", process.execPath, "--conditions=weft-source", program, String(free)]
      const { stdout } = await promisify(execFile)("prlimit", flags)
      assert.deepStrictEqual(
        JSON.parse(stdout),
        { scarce: "SandboxUnavailable", plentiful: "Compiled" },
        `${free} free`
      )
    }
  })
})
