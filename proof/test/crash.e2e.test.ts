/** Crashes at selected points; `npm run proof -- crash` covers every point. */
import { describe, it } from "vitest"
import { expectNoLoss } from "./CrashPoints.ts"

describe("SIGKILL", { timeout: 180_000 }, () => {
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
