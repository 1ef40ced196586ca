import { assert, it } from "@effect/vitest"
import { modules } from "../server/functions.ts"
import { onBackendOfRun } from "./Backends.ts"
import { eventually, single } from "./Fields.ts"

const keys = (record: object) => Object.keys(record)

onBackendOfRun({ modules }, ({ server }) => {
  const usage = async () => {
    const reply = await server().call("GET", "/v1/org/usage")
    return single(reply, 200, ["org_id", "usage", "limits", "usage_percent", "plan"])
  }

  it("GET /org/usage", async () => {
    const { org_id, ...report } = await usage()
    assert.strictEqual(org_id, server().env.org_id)
    assert.sameMembers(keys(report.usage), [
      "runs_this_period",
      "file_storage_bytes",
      "team_members",
      "call_storage_bytes",
      "call_count"
    ])
    assert.sameMembers(keys(report.limits), [
      "runs_per_month",
      "storage_bytes",
      "team_members",
      "call_retention_days",
      "call_storage_bytes"
    ])
    assert.sameMembers(keys(report.usage_percent), [
      "runs",
      "file_storage",
      "team_members",
      "call_storage",
      "has_warning"
    ])
    for (const record of [report.usage, report.limits]) {
      for (const value of Object.values(record)) assert.isTrue(Number.isSafeInteger(value))
    }
    const { name, period_start, period_end } = report.plan
    const now = new Date()
    assert.strictEqual(name, "Self-Host")
    assert.strictEqual(period_start, new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth())).toISOString())
    assert.strictEqual(period_end, new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)).toISOString())
  })

  it("usage includes runs, their results and logs", async () => {
    await server().deploy("shop", "shop")
    const before = (await usage()).usage
    const event_data = { total: 21 }
    await server().call("POST", "/v1/events", { json: { event_type: "order:created", event_data } })
    await server().call("GET", "/webhook/acme/prod/shop/read", { token: null })
    // The event's run ends asynchronously.
    await eventually(server(), "/v1/runs/stats", ({ json }) => json.data.running === 0)
    const after = (await usage()).usage
    assert.isAbove(after.call_storage_bytes, before.call_storage_bytes + '{"doubled":42}'.length)
    assert.strictEqual(after.runs_this_period, before.runs_this_period + 2)
    assert.strictEqual(after.call_count, before.call_count + 2)
  })
})
