/** Crashes at selected points; `npm run proof -- crash` covers every point. */
import { describe, expect, it } from "vitest"
import { type SweepOptions, sweep } from "../src/crash/Sweep.ts"

type Chosen = Pick<SweepOptions, "database" | "target"> & { readonly points: ReadonlyMap<string, string> }

/** Checks that a crash at these points loses nothing. Each point is mapped to an operation that passes it. */
const expectNoLoss = async ({ database, target, points }: Chosen): Promise<void> => {
  const swept = await sweep({
    database,
    target,
    isEveryOperation: false,
    operations: [...new Set(points.values())],
    isWanted: (point) => points.has(point),
    progress: () => undefined
  })
  expect(swept.violations).toEqual([])
  expect(swept.missed).toEqual([])
  expect(swept.crashed).toBe(points.size)
  expect(swept.acknowledged).toBeGreaterThan(points.size)
}

describe("SIGKILL", { timeout: 180_000 }, () => {
  it("of a server at writes of a durable function loses no result and repeats no recorded step", () =>
    expectNoLoss({
      database: "sqlite",
      target: "server",
      points: new Map(
        [0, 1, 2, 3, 7].flatMap((position) =>
          ["before", "after"].map((when): [string, string] => [
            `JournalStore.commit Advanced at result ${position}, ${when}`,
            "run a durable function"
          ])
        )
      )
    }))

  it("of a server on SQLite loses no acknowledged operation and leaves nothing behind", () =>
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
        // Only passed during a rotation of the master key.
        ["SealedStore.replace, after", "publish"]
      ])
    }))

  it("of the runners ends only the runs in them", () =>
    expectNoLoss({
      database: "sqlite",
      target: "runners",
      points: new Map([
        ["Sandbox.invoke, before", "publish for a handler with host calls"],
        ["host call files.put, after", "publish for a handler with host calls"],
        ["JournalStore.commit Ended, before", "webhook"]
      ])
    }))

  it("of PostgreSQL loses no acknowledged operation, and the server continues", () =>
    expectNoLoss({
      database: "postgres",
      target: "database",
      points: new Map([
        ["JournalStore.commit Appended, before", "publish"],
        ["JournalStore.commit Appended, after", "publish"]
      ])
    }))
})
