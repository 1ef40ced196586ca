/** Death at chosen points, each with all that follows; `npm run proof -- crash` has every point. */
import { describe, expect, it } from "vitest"
import { type SweepOptions, sweep } from "../src/crash/Sweep.ts"

type Chosen = Pick<SweepOptions, "database" | "target"> & { readonly points: ReadonlyMap<string, string> }

/** Nothing is lost at these points, which the deeds pass that are named with them. */
const expectNoLoss = async ({ database, target, points }: Chosen): Promise<void> => {
  const swept = await sweep({
    database,
    target,
    isEveryDeed: false,
    deeds: [...new Set(points.values())],
    isWanted: (point) => points.has(point),
    progress: () => undefined
  })
  expect(swept.violations).toEqual([])
  expect(swept.missed).toEqual([])
  expect(swept.struck).toBe(points.size)
  expect(swept.acknowledged).toBeGreaterThan(points.size)
}

describe("SIGKILL", { timeout: 180_000 }, () => {
  it("of a server on SQLite loses nothing that was acknowledged, and leaves nothing behind", () =>
    expectNoLoss({
      database: "sqlite",
      target: "server",
      points: new Map([
        ["JournalStore.commit Appended, after", "publish"],
        ["JournalStore.commit Settled, before", "publish"],
        ["JournalStore.claim, after", "publish for later"],
        ["JournalStore.commit Ended, after", "webhook"],
        ["FileStore.store, before", "upload a file"],
        ["FileStore.completeUpload, after", "upload a file in parts"],
        ["BuildStore.insert, before", "deploy"],
        ["BuildStore.deploy, after", "deploy"],
        // Passed by none of them, but when the master key is changed.
        ["SealedStore.replace, after", "publish"]
      ])
    }))

  it("of the runners ends what runs in them, and nothing else", () =>
    expectNoLoss({
      database: "sqlite",
      target: "runners",
      points: new Map([
        ["Sandbox.invoke, before", "publish for one that asks its host"],
        ["host call files.put, after", "publish for one that asks its host"],
        ["JournalStore.commit Ended, before", "webhook"]
      ])
    }))

  it("of PostgreSQL loses nothing that was acknowledged, and the server goes on", () =>
    expectNoLoss({
      database: "postgres",
      target: "database",
      points: new Map([
        ["JournalStore.commit Appended, before", "publish"],
        ["JournalStore.commit Appended, after", "publish"]
      ])
    }))
})
