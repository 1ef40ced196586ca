/** What a plan allows, over HTTP: rates, quotas, and what an organization is told of both. */
import { assert, describe, it } from "@effect/vitest"
import { type PlanOverrides, RateStore } from "@weft/core"
import { Effect, Layer, Redacted } from "effect"
import { afterEach } from "vitest"
import { backendOfRun, backends } from "./server/Backend.ts"
import { adminToken, type Reply, startWeft, TestServer } from "./server/TestServer.ts"

let server: TestServer

const ownStores = backends[backendOfRun].stores

/** A server whose organization is on the plan. */
const onPlan = async (plan: string, plans: PlanOverrides = {}, stores = ownStores): Promise<void> => {
  server = await TestServer.start({}, adminToken, startWeft({ plans, stores }))
  await server.deploy("shop", "shop")
  await server.weft.orgs.update("acme", { plan })
}

/** A server that grants each organization so many requests, and then none for a second and a half. */
const granting = (count: number): Promise<void> => {
  const asked = new Map<string, number>()
  const rates = Layer.succeed(RateStore, {
    take: (org) =>
      Effect.sync(() => {
        asked.set(org, (asked.get(org) ?? 0) + 1)
        return (asked.get(org) ?? 0) > count ? 1500 : 0
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

describe("the rate of requests", () => {
  it("of the plan Starter is 20 at once, and 429 says when to come again", async () => {
    await onPlan("Starter")
    const replies = await Promise.all(Array.from({ length: 200 }, () => server.call("GET", "/v1/env")))
    const granted = codes(replies).filter((status) => status === 200).length
    // Some come back while the requests are under way.
    assert.isAtLeast(granted, 20)
    assert.isBelow(granted, 200)
    const refused = replies.filter(({ status }) => status !== 200)
    for (const reply of refused) isRefused(reply)
    const seconds = Number(refused[0]?.headers.get("retry-after"))
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
    assert.strictEqual((await server.call("GET", "/v1/env")).status, 200)
  })

  it("counts whatever a credential asks for, and webhooks", async () => {
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

  it("is judged after the credential and before the permission", async () => {
    await granting(1)
    const { token: powerless } = await server.key({})
    const replies = await repeated(2, () => server.call("GET", "/v1/env", { token: powerless }))
    assert.deepStrictEqual(codes(replies), [403, 429])
    const strangers = await repeated(3, () => server.call("GET", "/v1/env", { token: "svc_nobody" }))
    assert.deepStrictEqual(codes(strangers), [401, 401, 401])
  })

  it("is judged so for webhooks, too: who may not call takes nothing from those who may", async () => {
    await granting(2)
    const { token: powerless } = await server.key({})
    const strangers = await repeated(3, () => hook("/secret"))
    assert.deepStrictEqual(codes(strangers), [401, 401, 401])
    assert.deepStrictEqual(codes([await hook("/secret", powerless), await hook("/nowhere")]), [403, 404])
    const replies = [await hook("/secret", powerless), await hook("/nowhere"), await hook("/secret", "svc_nobody")]
    assert.deepStrictEqual(codes(replies), [429, 429, 401])
  })

  it("leaves the host's own routes, the status and health alone", async () => {
    await granting(0)
    assert.strictEqual((await server.call("GET", "/v1/env")).status, 429)
    for (const path of ["/v1/status", "/healthz", "/readyz", "/v1/openapi.json"]) {
      assert.strictEqual((await server.call("GET", path, { token: null })).status, 200, path)
    }
    assert.strictEqual((await asAdmin("GET", "/admin/orgs")).status, 200)
  })

  it("is one for all credentials and environments of an organization", async () => {
    await granting(2)
    const staging = await server.weft.envs.create("acme", { name: "staging" })
    const other = await server.weft.apiKeys.create(staging.env_id, {})
    const token = Redacted.value(other.token)
    const replies = [
      await server.call("GET", "/v1/env"),
      await server.call("GET", "/v1/env", { token }),
      await server.call("GET", "/v1/env", { token }),
      await server.call("GET", "/v1/env")
    ]
    assert.deepStrictEqual(codes(replies), [200, 200, 429, 429])
  })

  it("does not exist without a subscription", async () => {
    await onPlan("Self-Host")
    const replies = await Promise.all(Array.from({ length: 300 }, () => server.call("GET", "/v1/env")))
    assert.deepStrictEqual(new Set(codes(replies)), new Set([200]))
  })
})

describe("the quota of runs", () => {
  it("refuses events and webhooks with plan_required when it is used up", async () => {
    await onPlan("Free", { Free: { requests_per_second: -1, runs_per_month: 2 } })
    assert.deepStrictEqual(codes([await publish(), await hook("/read")]), [201, 200])
    for (const reply of [await publish(), await hook("/read"), await hook("/echo")]) {
      assert.strictEqual(reply.status, 403)
      assert.strictEqual(reply.json.error.code, "plan_required")
      assert.strictEqual(reply.json.error.message, "The plan's 2 runs of this month are used up")
    }
    // What starts nothing goes on.
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
