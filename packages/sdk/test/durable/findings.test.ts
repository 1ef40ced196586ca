/** Findings of the test kit in code that a replay repeats, and versions. */
import { expect, it } from "vitest"
import { durable } from "../../src/index.ts"
import { testDurable } from "../../src/testing/index.ts"

const start = { event: { data: null } } as const

it("names the calls that a replay does not wait for, and what to do, when it fails in a run", async () => {
  const fn = durable("order", async (_, svc) => {
    await fetch("https://rates.example.test")
    await svc.step("use", () => 1)
    await svc.sleep("pause", "1h")
  })
  const { error } = await testDurable(fn, { ...start, fetch: () => Response.json(1) }).run()
  expect(error?.name).toBe("NonDeterminism")
  expect(error?.message).toMatch(
    /^main\/fn: request 0 was step "use" when it was recorded and is not made now \(a replay does not wait for calls outside of steps, so put them into svc\.step: fetch at packages\/sdk\/test\/durable\/findings\.test\.ts:\d+\)$/
  )
})

it("accepts code that asks for the versions of its record or not", async () => {
  const fn = durable("order", async (_, svc) => {
    const form = await svc.version("form", 2)
    await svc.step("a", () => form)
    return svc.version("form", 2)
  })
  const kit = testDurable(fn, start)
  expect((await kit.run()).result).toBe(2)
  expect(kit.history().map(({ kind, seq, result }) => [kind, seq, result])).toEqual([
    ["version", -3, 2],
    ["step", 0, 2]
  ])
  expect(await kit.crashEverywhere({ strict: true })).toEqual({ replays: 3, warnings: [] })
})
