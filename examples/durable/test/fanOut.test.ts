import { setTimeout as sleep } from "node:timers/promises"
import { testDurable } from "@weft/sdk/testing"
import { expect, it } from "vitest"
import { resize } from "../src/fanOut.ts"

it("resizes 500 images, 20 at a time, and survives a crash in the middle", async () => {
  const images = Array.from({ length: 500 }, (_, n) => `${n}.png`)
  let active = 0
  let most = 0
  const kit = testDurable(resize, {
    event: { data: { images } },
    fetch: async () => {
      most = Math.max(most, ++active)
      await sleep(1)
      active--
      return new Response("10")
    }
  })
  kit.fail("resize 7.png", { times: 2 })
  kit.crashAt(250)
  expect(await kit.run()).toMatchObject({ status: "succeeded", result: { images: 500, bytes: 5_000 } })
  // The bodies of the crashed process end while those of the next one run.
  expect(most).toBeLessThanOrEqual(40)
  expect(kit.history()).toHaveLength(500)
  expect(await kit.crashEverywhere({ strict: true })).toEqual({ replays: 501, warnings: [] })
})
