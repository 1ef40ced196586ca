/** How a node leaves: it sends its clients elsewhere and finishes what it has begun. */
import { request } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { trustedSandbox } from "@weft/core"
import { checkEnvelope, startWeft, TestServer } from "./server/TestServer.ts"
import { modules } from "./streams/functions.ts"
import { SseClient } from "./streams/SseClient.ts"

const started = async () => {
  const gates: Array<() => void> = []
  const patient = () => new Promise<string>((resolve) => gates.push(() => resolve("done")))
  const slow = Object.assign(patient, { meta: { webhook: { service: "slow", path: "/", method: "POST" } } })
  const sandbox = trustedSandbox({ ...modules, slow: { main: { slow } } })
  const server = await TestServer.start({}, undefined, startWeft({ sandbox }))
  await server.deploy("slow", "slow")
  const open = () => {
    for (const gate of gates.splice(0)) gate()
  }
  return { server, open, waiting: () => gates.length }
}

const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5))
}

const hook = "/webhook/acme/prod/slow/"

/** Whether the connection of a request is kept for the next one. */
const keepsConnection = (url: string): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const asked = request(url, { headers: { connection: "keep-alive" } }, (response) => {
      response.resume()
      resolve(response.headers.connection !== "close")
    })
    asked.once("error", reject)
    asked.end()
  })

describe("a node that leaves", () => {
  it("says so, is alive, and finishes what it has begun", async () => {
    const { server, open, waiting } = await started()
    const { url } = server.listening
    const begun = server.call("POST", hook, { token: null })
    await until(() => waiting() === 1)
    assert.isTrue(await keepsConnection(`${url}/healthz`))

    const draining = server.listening.drain({ lingerMs: 60_000, graceMs: 60_000 })
    const ready = await fetch(`${url}/readyz`)
    assert.strictEqual(ready.status, 503)
    assert.strictEqual(ready.headers.get("retry-after"), "1")
    assert.strictEqual((await fetch(`${url}/healthz`)).status, 200)
    assert.isFalse(await keepsConnection(`${url}/healthz`))
    // It still lingers.
    const late = server.call("POST", hook, { token: null })
    await until(() => waiting() === 2)
    open()
    assert.deepStrictEqual([(await begun).status, (await late).status], [200, 200])
    await server.close()
    void draining
  })

  it("refuses what comes later, with the envelope, and resolves when the rest has finished", async () => {
    const { server, open, waiting } = await started()
    const { url } = server.listening
    const begun = server.call("POST", hook, { token: null })
    await until(() => waiting() === 1)
    let isDrained = false
    const draining = server.listening.drain().then(() => {
      isDrained = true
    })
    const refused = checkEnvelope(await server.call("GET", "/v1/events"))
    assert.deepStrictEqual([refused.status, refused.headers.get("retry-after")], [503, "1"])
    assert.strictEqual(checkEnvelope(await server.call("POST", hook, { token: null })).status, 503)
    assert.deepStrictEqual(
      [(await fetch(`${url}/healthz`)).status, (await fetch(`${url}/metrics`)).status, isDrained],
      [200, 200, false]
    )
    open()
    assert.strictEqual((await begun).status, 200)
    await draining
    assert.strictEqual((await fetch(`${url}/readyz`)).status, 503)
    await server.close()
  })

  it("sends those who subscribed to the others", async () => {
    const { server } = await started()
    const response = await fetch(`${server.listening.url}/v1/env/subscribe`, {
      headers: { authorization: `Bearer ${server.token}` }
    })
    const text = response.text()
    await server.listening.drain()
    assert.match(await text, /^: connected\nid: .*\n\n: leaving\nretry: 1000\n\n$/)
    const late = await SseClient.open(server, "/v1/env/subscribe").catch((error: unknown) => error)
    assert.instanceOf(late, Error)
    await server.close()
  })
})
