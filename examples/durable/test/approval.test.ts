import { testDurable } from "@weft/sdk/testing"
import { expect, it } from "vitest"
import { approve } from "../src/approval.ts"

const expense = { event: { data: { id: "e-1", amount: 80, approver: "ada@example.test" } } } as const

it.each([
  [true, "approved"],
  [false, "rejected"]
])("ends with a decision (%s)", async (approved, status) => {
  const kit = testDurable(approve, expense)
  await kit.advance("20h")
  await kit.events.publish({ type: "expense:decided", data: { id: "e-2", approved: !approved } })
  expect(kit.waiting).toMatchObject({ for: "event", name: "decision", until: "2026-01-02T00:00:00.000Z" })
  await kit.events.publish({ type: "expense:decided", data: { id: "e-1", approved } })
  expect(kit).toMatchObject({ status: "succeeded", result: { status } })
  expect(kit.published).toHaveLength(1)
})

it("reminds after a day, and expires after three", async () => {
  const kit = testDurable(approve, expense)
  await kit.advance("71h")
  expect(kit.published.map(({ data }) => data)).toMatchObject([
    { text: "Please decide on expense e-1 of 80 €" },
    { text: "Expense e-1 still waits for you" }
  ])
  expect(await kit.advance("1h")).toMatchObject({ status: "succeeded", result: { status: "expired" } })
  await kit.crashEverywhere({ strict: true })
})
