/** Runs the unchanged example hosts: applications that run code of their customers. */
import { describe, expect, it, onTestFinished } from "vitest"
import { type HostProcess, makeBuildForm, startHost } from "./HostProcess.ts"

const code = `
export const double = async (event, svc) => ({ total: event.event_data.total * 2, plan: await svc.host.shop.plan() })
double.meta = { event: "order:created" }
export const hello = (request) => ({ status: 200, body: { hello: request.body.name } })
hello.meta = { webhook: { service: "greeter", path: "/hello", method: "POST" } }
`

/** Exit codes after SIGTERM. Effect's runner reports the signal as 130. */
const hosts = [
  { example: "embed-express", code: 0 },
  { example: "embed-fastify", code: 0 },
  { example: "embed-hono", code: 0 },
  { example: "embed-effect", code: 130 }
]

describe.each(hosts)("$example", ({ example, code: exitCode }) => {
  it("runs customers' code for events and webhooks", async () => {
    const host = await startHost(example)
    let stopped: Promise<number | null> | null = null
    const stop = () => (stopped ??= host.stop())
    onTestFinished(() => void stop())
    const { request } = host

    expect((await request("GET", "/")).text).toBe("The application's own page")
    expect((await request("GET", "/v1/status")).json).toMatchObject({ status: "ok", service: "weft" })
    expect(await request("GET", "/v1/projects")).toMatchObject({
      status: 401,
      json: { error: { code: "unauthorized" } }
    })
    const hook = "/webhook/acme/production/greeter/hello"
    await expectProvisioning(request, hook)

    const { token } = (await request("POST", "/shops/acme/tokens")).json
    await deployCode(request, token)
    expect((await request("POST", hook, { name: "Ada" })).json).toEqual({ hello: "Ada" })

    const order = await request("POST", "/shops/acme/orders", { total: 21 })
    expect(order.status).toBe(201)
    const runs = `/v1/events/${order.json.event_id}/runs`
    // The plan of the shop limits the request rate. Responses beyond the limit have no data.
    const runOf = async () => (await request("GET", runs, undefined, token)).json.data?.[0]
    const result = { total: 42, plan: "Free" }
    await expect.poll(runOf, { timeout: 30_000, interval: 300 }).toMatchObject({ status: "succeeded", result })

    expect(await stop()).toBe(exitCode)
  })
})

/** Expects that a webhook creates the environment of a customer, and none for unknown organizations. */
const expectProvisioning = async (request: HostProcess["request"], hook: string): Promise<void> => {
  const missing = async (path: string) => (await request("POST", path, {})).json.error.message
  expect(await missing("/webhook/nobody/production/greeter/hello")).toBe("There is no such environment")
  expect((await request("POST", "/shops/nobody/tokens")).status).toBe(404)
  expect((await request("POST", "/shops/nobody/orders", {})).status).toBe(404)
  expect((await request("POST", "/shops/acme", { name: "Acme" })).status).toBe(201)
  expect(await missing(hook)).toBe("There is no such webhook endpoint")
  expect(await missing("/webhook/acme/another/greeter/hello")).toBe("There is no such environment")
}

/** Deploys code with the session of a browser, which may upload code but not publish events. */
const deployCode = async (request: HostProcess["request"], token: string): Promise<void> => {
  expect((await request("POST", "/v1/projects", { name: "shop" }, token)).status).toBe(201)
  const uploaded = await request("POST", "/v1/projects/shop/builds", makeBuildForm(code), token)
  expect(uploaded.status, uploaded.text).toBe(201)
  const deployed = await request(
    "POST",
    `/v1/projects/shop/builds/${uploaded.json.data.build_id}/deploy`,
    undefined,
    token
  )
  expect(deployed.status, deployed.text).toBe(200)
  expect((await request("POST", "/v1/events", { event_type: "x", event_data: 1 }, token)).status).toBe(403)
}
