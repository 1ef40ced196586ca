/** Crashes at writes of durable functions on PostgreSQL; `npm run proof -- crash` covers every write. */
import { describe, it } from "vitest"
import { atCalls, expectNoLoss } from "./CrashPoints.ts"

const operation = "run a durable function"
const commit = "JournalStore.commit"

describe("SIGKILL", { timeout: 180_000 }, () => {
  it("of a server on PostgreSQL at writes of a durable function loses no result and repeats no recorded step", () =>
    expectNoLoss({
      database: "postgres",
      target: "server",
      points: atCalls(operation, [
        `${commit} Advanced with result of step second of durable flow, after`,
        "WorkflowTokenStore.create, after",
        `${commit} Advanced with result of step undo car of durable trip, before`
      ])
    }))

  it("of PostgreSQL at writes of a durable function loses no result and repeats no recorded step", () =>
    expectNoLoss({
      database: "postgres",
      target: "database",
      points: atCalls(operation, [
        `${commit} Advanced with result of step ask of durable flow, before`,
        `${commit} Settled of durable flow as succeeded, after`
      ])
    }))
})
