import { assert, it } from "@effect/vitest"
import { modules } from "../server/functions.ts"
import { onBackendOfRun } from "./Backends.ts"
import { eventually, refused, single } from "./Fields.ts"

const keys = (record: object) => Object.keys(record)

onBackendOfRun({ modules }, ({ server }) => {
  const usage = async () => {
    const reply = await server().call("GET", "/v1/org/usage")
    return single(reply, 200, ["org_id", "usage", "limits", "usage_percent", "plan"])
  }

  const changeTo = (plan: string, members = 1) => server().weft.orgs.update("acme", { plan, members })

  it("GET /org/usage", async () => {
    const { org_id, ...told } = await usage()
    assert.strictEqual(org_id, server().env.org_id)
    assert.sameMembers(keys(told.usage), [
      "runs_this_period",
      "file_storage_bytes",
      "team_members",
      "call_storage_bytes",
      "call_count"
    ])
    assert.sameMembers(keys(told.limits), [
      "runs_per_month",
      "storage_bytes",
      "team_members",
      "call_retention_days",
      "call_storage_bytes"
    ])
    assert.sameMembers(keys(told.usage_percent), [
      "runs",
      "file_storage",
      "team_members",
      "call_storage",
      "has_warning"
    ])
    for (const record of [told.usage, told.limits]) {
      for (const value of Object.values(record)) assert.isTrue(Number.isSafeInteger(value))
    }
    const { name, period_start, period_end } = told.plan
    const now = new Date()
    assert.strictEqual(name, "Self-Host")
    assert.strictEqual(period_start, new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth())).toISOString())
    assert.strictEqual(period_end, new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)).toISOString())
  })

  it("every limit is -1 without a subscription", async () => {
    const { limits, usage_percent } = await usage()
    assert.deepStrictEqual(new Set(Object.values(limits)), new Set([-1]))
    assert.deepStrictEqual(usage_percent, {
      runs: 0,
      file_storage: 0,
      team_members: 0,
      call_storage: 0,
      has_warning: false
    })
  })

  it("usage follows runs, their results and logs", async () => {
    await server().deploy("shop", "shop")
    const before = (await usage()).usage
    const event_data = { total: 21 }
    await server().call("POST", "/v1/events", { json: { event_type: "order:created", event_data } })
    await server().call("GET", "/webhook/acme/prod/shop/read", { token: null })
    // The event's run ends in its own time.
    await eventually(server(), "/v1/runs/stats", ({ json }) => json.data.running === 0)
    const after = (await usage()).usage
    assert.isAbove(after.call_storage_bytes, before.call_storage_bytes + '{"doubled":42}'.length)
    assert.strictEqual(after.runs_this_period, before.runs_this_period + 2)
    assert.strictEqual(after.call_count, before.call_count + 2)
  })

  it("percentages are of the plan's limits, and more than 90 is a warning", async () => {
    await changeTo("Free", 2)
    const { limits, usage_percent, usage: used } = await usage()
    assert.deepStrictEqual(limits, {
      runs_per_month: 10_000,
      storage_bytes: 1024 ** 3,
      team_members: 1,
      call_retention_days: 7,
      call_storage_bytes: 1024 ** 3
    })
    assert.strictEqual(usage_percent.team_members, 200)
    assert.strictEqual(usage_percent.has_warning, true)
    assert.strictEqual(usage_percent.runs, Math.round((used.runs_this_period / 10_000) * 10_000) / 100)
    await changeTo("Self-Host")
  })

  it("error rate_limit_exceeded", async () => {
    await changeTo("Starter")
    const replies = await Promise.all(Array.from({ length: 60 }, () => server().call("GET", "/v1/env")))
    const [first] = replies.filter(({ status }) => status !== 200)
    assert.isDefined(first)
    refused(first, 429, "rate_limit_exceeded")
    assert.match(first.headers.get("retry-after") ?? "", /^[1-9]\d*$/)
    await server().weft.orgs.update("acme", { plan: "Self-Host" })
  })
})
