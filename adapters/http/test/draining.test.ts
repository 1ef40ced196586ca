/** Draining of a node: clients move to other nodes, and requests in flight complete. */
import { request } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { trustedSandbox } from "@weft/core/testing"
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

/** True if the connection of a request is kept alive. */
const keepsConnection = (url: string): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const sent = request(url, { headers: { connection: "keep-alive" } }, (response) => {
      response.resume()
      resolve(response.headers.connection !== "close")
    })
    sent.once("error", reject)
    sent.end()
  })

describe("a draining node", () => {
  it("reports not ready but healthy, and completes requests in flight", async () => {
    const { server, open, waiting } = await started()
    const { url } = server.listening
    const inFlight = server.call("POST", hook, { token: null })
    await until(() => waiting() === 1)
    assert.isTrue(await keepsConnection(`${url}/healthz`))

    const draining = server.listening.drain({ lingerMs: 60_000, graceMs: 60_000 })
    const ready = await fetch(`${url}/readyz`)
    assert.strictEqual(ready.status, 503)
    assert.strictEqual(ready.headers.get("retry-after"), "1")
    assert.strictEqual((await fetch(`${url}/healthz`)).status, 200)
    assert.isFalse(await keepsConnection(`${url}/healthz`))
    // Within `lingerMs`, new requests are accepted.
    const late = server.call("POST", hook, { token: null })
    await until(() => waiting() === 2)
    open()
    assert.deepStrictEqual([(await inFlight).status, (await late).status], [200, 200])
    await server.close()
    void draining
  })

  it("rejects later requests in the envelope, and resolves when the others have finished", async () => {
    const { server, open, waiting } = await started()
    const { url } = server.listening
    const inFlight = server.call("POST", hook, { token: null })
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
    assert.strictEqual((await inFlight).status, 200)
    await draining
    assert.strictEqual((await fetch(`${url}/readyz`)).status, 503)
    await server.close()
  })

  it("ends subscriptions with a hint to reconnect", async () => {
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
