import { assert, describe, it } from "@effect/vitest"
import type { Alert } from "@weft/client"
import { createCommand, emptyDraft, toChange, toDraft, toInput } from "../src/alerts/AlertDraft.ts"

const conditions: ReadonlyArray<Alert["condition"]> = [
  { type: "failure_share", share: 0.07, min_runs: 20, window_minutes: 5 },
  { type: "latency", of: "wait", percentile: 99, over_ms: 1500, min_runs: 3, window_minutes: 60 },
  { type: "backlog", deliveries: 0 },
  { type: "backlog", deliveries: 100, oldest_seconds: 30 },
  { type: "silence", minutes: 1440 }
]

const actions: Alert["actions"] = [
  { type: "webhook", url: "https://a.example.com/hook" },
  { type: "webhook", url: "https://b.example.com/hook" },
  { type: "hook" }
]

describe("the form of alert rules", () => {
  it("keeps every condition and action of a rule that is edited", () => {
    for (const condition of conditions) {
      const rule = { name: "orders fail", condition, for_minutes: 2, actions }
      assert.deepStrictEqual(toChange(toDraft(rule)), rule)
    }
  })

  it("sends the scope that is chosen only", () => {
    const draft = { ...emptyDraft, name: "n", project: "shop", fn: "orders/pay" }
    assert.include(toInput(draft), { project: "shop", fn: "orders/pay" })
    assert.notProperty(toInput({ ...draft, scope: "project" }), "fn")
    assert.notProperty(toInput({ ...draft, scope: "environment" }), "project")
  })

  it("shows the command that creates the same rule", () => {
    const draft = { ...emptyDraft, name: "orders fail", project: "shop", fn: "orders/pay", heldMinutes: "2" }
    assert.strictEqual(
      createCommand(draft),
      "weft alerts create 'orders fail' shop:orders/pay --failures 10% --min-runs 20 --window 5m --for 2m --event"
    )
    assert.strictEqual(
      createCommand({
        ...draft,
        scope: "environment",
        kind: "silence",
        heldMinutes: "0",
        webhooks: "https://x.example"
      }),
      "weft alerts create 'orders fail' --silence 1440m --webhook https://x.example --event"
    )
    assert.match(
      createCommand({ ...draft, webhooks: "https://a.example\nhttps://b.example" }),
      /^curl -X POST .*alerts/
    )
  })
})
