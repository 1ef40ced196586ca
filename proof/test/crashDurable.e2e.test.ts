/** Crashes of a server on SQLite at writes of durable functions; `npm run proof -- crash` covers every write. */
import { describe, it } from "vitest"
import { atCalls, expectNoLoss } from "./CrashPoints.ts"

const commit = "JournalStore.commit"

describe("SIGKILL of a server on SQLite", { timeout: 180_000 }, () => {
  it("at writes of a durable function loses no result, token, child run or undone step, and repeats none", () =>
    expectNoLoss({
      database: "sqlite",
      target: "server",
      points: atCalls("run a durable function", [
        `${commit} Appended of durable flow, after`,
        `${commit} Advanced with result of step second of durable flow, before`,
        "WorkflowTokenStore.complete, after",
        "RunControlStore.renew, before",
        `${commit} Advanced with result of step undo flight of durable trip, after`,
        `${commit} Settled of durable flow as succeeded, before`
      ])
    }))

  it("at writes of a cancelled durable function loses no cleanup", () =>
    expectNoLoss({
      database: "sqlite",
      target: "server",
      points: atCalls("cancel a durable function", [
        "RunControlStore.requestCleanup, after",
        `${commit} Advanced with result of cancel cancel of durable held, before`
      ])
    }))
})
