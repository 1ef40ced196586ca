/** The examples of hosts, run as they are: an application with customers, whose code runs in it. */
import { describe, expect, it, onTestFinished } from "vitest"
import { buildOf, type HostProcess, startHost } from "./HostProcess.ts"

const code = `
export const double = async (event, svc) => ({ total: event.event_data.total * 2, plan: await svc.host.shop.plan() })
double.meta = { event: "order:created" }
export const hello = (request) => ({ status: 200, body: { hello: request.body.name } })
hello.meta = { webhook: { service: "greeter", path: "/hello", method: "POST" } }
`

/** Whoever ends a process with a signal hears from Effect's runner that it was one. */
const hosts = [
  { example: "embed-express", code: 0 },
  { example: "embed-fastify", code: 0 },
  { example: "embed-hono", code: 0 },
  { example: "embed-effect", code: 130 }
]

describe.each(hosts)("$example", ({ example, code: exitCode }) => {
  it("runs the code of its customers, on their events and webhooks", async () => {
    const host = await startHost(example)
    let stopped: Promise<number | null> | null = null
    const stop = () => (stopped ??= host.stop())
    onTestFinished(() => void stop())
    const { ask } = host

    expect((await ask("GET", "/")).text).toBe("The application's own page")
    expect((await ask("GET", "/v1/status")).json).toMatchObject({ status: "ok", service: "weft" })
    expect(await ask("GET", "/v1/projects")).toMatchObject({ status: 401, json: { error: { code: "unauthorized" } } })
    const hook = "/webhook/acme/production/greeter/hello"
    await provisions(ask, hook)

    const { token } = (await ask("POST", "/shops/acme/tokens")).json
    await deploys(ask, token)
    expect((await ask("POST", hook, { name: "Ada" })).json).toEqual({ hello: "Ada" })

    const order = await ask("POST", "/shops/acme/orders", { total: 21 })
    expect(order.status).toBe(201)
    const runs = `/v1/events/${order.json.event_id}/runs`
    // The plan of the shop allows few requests a second: those beyond it are answered without data.
    const runOf = async () => (await ask("GET", runs, undefined, token)).json.data?.[0]
    const result = { total: 42, plan: "Free" }
    await expect.poll(runOf, { timeout: 30_000, interval: 300 }).toMatchObject({ status: "succeeded", result })

    expect(await stop()).toBe(exitCode)
  })
})

/** A customer has an environment as soon as a webhook asks for it; whoever is no customer never has. */
const provisions = async (ask: HostProcess["ask"], hook: string): Promise<void> => {
  const missing = async (path: string) => (await ask("POST", path, {})).json.error.message
  expect(await missing("/webhook/nobody/production/greeter/hello")).toBe("There is no such environment")
  expect((await ask("POST", "/shops/nobody/tokens")).status).toBe(404)
  expect((await ask("POST", "/shops/nobody/orders", {})).status).toBe(404)
  expect((await ask("POST", "/shops/acme", { name: "Acme" })).status).toBe(201)
  expect(await missing(hook)).toBe("There is no such webhook endpoint")
  expect(await missing("/webhook/acme/another/greeter/hello")).toBe("There is no such environment")
}

/** What the browser of somebody does who signed in: it may bring code, and may not publish. */
const deploys = async (ask: HostProcess["ask"], token: string): Promise<void> => {
  expect((await ask("POST", "/v1/projects", { name: "shop" }, token)).status).toBe(201)
  const uploaded = await ask("POST", "/v1/projects/shop/builds", buildOf(code), token)
  expect(uploaded.status, uploaded.text).toBe(201)
  const deployed = await ask("POST", `/v1/projects/shop/builds/${uploaded.json.data.build_id}/deploy`, undefined, token)
  expect(deployed.status, deployed.text).toBe(200)
  expect((await ask("POST", "/v1/events", { event_type: "x", event_data: 1 }, token)).status).toBe(403)
}
