import { testDurable } from "@weft/sdk/testing"
import { expect, it } from "vitest"
import { poll } from "../src/polling.ts"

const args = ["x-1", 10] as const

it("polls every minute until the export is ready", async () => {
  let polls = 0
  const kit = testDurable(poll, {
    args: [...args],
    fetch: () => Response.json(++polls < 3 ? { ready: false } : { ready: true, url: "https://files.example.test/x-1" })
  })
  const { result } = await kit.run()
  expect(result).toEqual({ url: "https://files.example.test/x-1", polls: 13 })
  expect(kit.now.toISOString()).toBe("2026-01-01T00:02:00.000Z")
  await kit.crashEverywhere({ strict: true })
})

it("continues as a new run after ten polls", async () => {
  const kit = testDurable(poll, { args: [...args], fetch: () => Response.json({ ready: false }) })
  expect(await kit.run()).toMatchObject({ status: "succeeded", continuedWith: ["x-1", 20] })
  expect(kit.history()).toHaveLength(20)
})
