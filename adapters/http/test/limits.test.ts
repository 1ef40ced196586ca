/** Limits of plans over HTTP: rates, quotas, and the usage report. */
import { assert, describe, it } from "@effect/vitest"
import type { PlanOverrides } from "@weft/core"
import { RateStore } from "@weft/core/adapter"
import { Effect, Layer } from "effect"
import { afterEach } from "vitest"
import { backendOfRun, backends } from "./server/Backend.ts"
import { adminToken, type Reply, startWeft, TestServer } from "./server/TestServer.ts"

let server: TestServer

const ownStores = backends[backendOfRun].database

/** Starts a server whose organization is on the plan. */
const onPlan = async (plan: string, plans: PlanOverrides = {}, stores = ownStores): Promise<void> => {
  server = await TestServer.start({}, adminToken, startWeft({ plans, database: stores }))
  await server.deploy("shop", "shop")
  await server.weft.orgs.update("acme", { plan })
}

/** Starts a server that grants each organization a number of requests, and then none for 1.5 s. */
const granting = (count: number): Promise<void> => {
  const requests = new Map<string, number>()
  const rates = Layer.succeed(RateStore, {
    take: (org) =>
      Effect.sync(() => {
        requests.set(org, (requests.get(org) ?? 0) + 1)
        return (requests.get(org) ?? 0) > count ? 1500 : 0
      })
  })
  return onPlan("Starter", {}, Layer.merge(ownStores, rates))
}

afterEach(() => server.close())

const asAdmin = (method: string, path: string) => server.call(method, path, { token: adminToken })
const hook = (path: string, token: string | null = null) =>
  server.call(path === "/read" ? "GET" : "POST", `/webhook/acme/prod/shop${path}`, { token })
const publish = () =>
  server.call("POST", "/v1/events", { json: { event_type: "order:created", event_data: { total: 1 } } })

const codes = (replies: ReadonlyArray<Reply>) => replies.map(({ status }) => status)

const repeated = async (count: number, request: () => Promise<Reply>): Promise<ReadonlyArray<Reply>> => {
  const replies: Array<Reply> = []
  for (let n = 0; n < count; n++) replies.push(await request())
  return replies
}

const isRefused = (reply: Reply): void => {
  assert.strictEqual(reply.status, 429, reply.text)
  assert.strictEqual(reply.json.error.code, "rate_limit_exceeded")
  assert.match(reply.headers.get("retry-after") ?? "", /^[1-9]\d*$/)
}

describe("the request rate", () => {
  it("counts all requests with a credential, and webhooks", async () => {
    await granting(4)
    const granted = [
      await server.call("GET", "/v1/projects"),
      await server.call("GET", "/v1/projects/none"),
      await server.call("GET", "/v1/runs?limit=x"),
      await hook("/read")
    ]
    assert.deepStrictEqual(codes(granted), [200, 404, 400, 200])
    const refused = [
      await server.call("GET", "/v1/projects/none"),
      await server.call("POST", "/v1/events", { body: "{" }),
      await server.upload("shop", "shop"),
      await hook("/read"),
      await hook("/secret", server.token),
      await hook("/nowhere"),
      await server.call("POST", "/webhook/acme/prod/shop/echo", { token: null, body: "x".repeat(4 * 1024 * 1024 + 1) })
    ]
    for (const reply of refused) {
      isRefused(reply)
      assert.strictEqual(reply.headers.get("retry-after"), "2")
    }
  })

  it("is checked after the credential and before the permission", async () => {
    await granting(1)
    const { token: unauthorized } = await server.key({})
    const replies = await repeated(2, () => server.call("GET", "/v1/env", { token: unauthorized }))
    assert.deepStrictEqual(codes(replies), [403, 429])
    const unauthenticated = await repeated(3, () => server.call("GET", "/v1/env", { token: "svc_nobody" }))
    assert.deepStrictEqual(codes(unauthenticated), [401, 401, 401])
  })

  it("of webhooks is not used up by callers without permission", async () => {
    await granting(2)
    const { token: unauthorized } = await server.key({})
    const unauthenticated = await repeated(3, () => hook("/secret"))
    assert.deepStrictEqual(codes(unauthenticated), [401, 401, 401])
    assert.deepStrictEqual(codes([await hook("/secret", unauthorized), await hook("/nowhere")]), [403, 404])
    const replies = [await hook("/secret", unauthorized), await hook("/nowhere"), await hook("/secret", "svc_nobody")]
    assert.deepStrictEqual(codes(replies), [429, 429, 401])
  })

  it("does not apply to admin routes, status and health checks", async () => {
    await granting(0)
    assert.strictEqual((await server.call("GET", "/v1/env")).status, 429)
    for (const path of ["/v1/status", "/healthz", "/readyz", "/v1/openapi.json"]) {
      assert.strictEqual((await server.call("GET", path, { token: null })).status, 200, path)
    }
    assert.strictEqual((await asAdmin("GET", "/admin/orgs")).status, 200)
  })
})

describe("the run quota", () => {
  it("rejects events and webhooks with plan_required when it is used up", async () => {
    await onPlan("Free", { Free: { requests_per_second: -1, runs_per_month: 2 } })
    assert.deepStrictEqual(codes([await publish(), await hook("/read")]), [201, 200])
    for (const reply of [await publish(), await hook("/read"), await hook("/echo")]) {
      assert.strictEqual(reply.status, 403)
      assert.strictEqual(reply.json.error.code, "plan_required")
      assert.strictEqual(reply.json.error.message, "The plan's 2 runs of this month are used up")
    }
    // Requests that start no run still work.
    assert.deepStrictEqual(
      codes([await server.call("GET", "/v1/events"), await server.call("GET", "/v1/runs")]),
      [200, 200]
    )
    for (const json of [
      { event_type: "svc:schedule:new", event_data: { fn: "main/read", schedule: "P1D" } },
      { event_type: "svc:schedule:cancel", event_data: { fn: "main/read" } }
    ]) {
      assert.strictEqual((await server.call("POST", "/v1/events", { json })).status, 201)
    }
    assert.strictEqual((await hook("/secret")).status, 401)
    await server.weft.orgs.update("acme", { plan: "Self-Host" })
    assert.deepStrictEqual(codes([await publish(), await hook("/read")]), [201, 200])
  })
})
