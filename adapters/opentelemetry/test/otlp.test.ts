/** What a collector gets over HTTP. */
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { type OtlpOptions, otlp } from "@weft/opentelemetry"
import { Effect, Redacted, Tracer } from "effect"
import { afterEach, beforeEach } from "vitest"
import { startTenant } from "./Tenant.ts"

interface Received {
  readonly path: string
  readonly authorization: string | undefined
  readonly text: string
}

let server: Server
let endpoint: string
let received: Array<Received>
let status: number

beforeEach(async () => {
  received = []
  status = 200
  server = createServer(async (request, response) => {
    let text = ""
    for await (const chunk of request.setEncoding("utf8")) text += chunk
    received.push({ path: request.url ?? "", authorization: request.headers.authorization, text })
    response.writeHead(status).end("{}")
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterEach(
  () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
)

const traceId = "0af7651916cd43dd8448eb211c80319c"
const traceparent = `00-${traceId}-b7ad6b7169203331-01`

const main = { order: Object.assign(() => null, { meta: { event: "order" } }) }

/** What was received from a Weft in which that happened, after its end. */
const told = async (options: Partial<OtlpOptions>, act: "publishes" | "logs", ...of: ReadonlyArray<string>) => {
  const { weft, env } = await startTenant(main, { tracing: otlp({ endpoint, ...options }) })
  if (act === "publishes") {
    for (const each of of) await env.events.publish({ type: "order", data: null, traceparent: each })
  } else {
    const span = Tracer.externalSpan({ traceId, spanId: "b7ad6b7169203331" })
    await weft.runtime.runPromise(Effect.provideService(Effect.logWarning("of the runtime"), Tracer.ParentSpan, span))
  }
  await weft.close()
  return received
}

const paths = (all: ReadonlyArray<Received>) => new Set(all.map(({ path }) => path))

describe("otlp", () => {
  it("sends what is not sent yet when Weft is closed", async () => {
    const headers = { authorization: Redacted.make("Bearer secret") }
    const all = await told({ serviceName: "of-the-test", headers }, "publishes", traceparent)
    assert.deepStrictEqual(paths(all), new Set(["/v1/traces"]))
    assert.deepStrictEqual(new Set(all.map((each) => each.authorization)), new Set(["Bearer secret"]))
    const text = all.map((each) => each.text).join("")
    for (const part of ["publish order", "run main/order", traceId, "of-the-test"]) assert.include(text, part)
  })

  it("sends logs with their traces, unless it is not to", async () => {
    const [log, ...others] = await told({}, "logs")
    assert.deepStrictEqual(others, [])
    assert.strictEqual(log?.path, "/v1/logs")
    assert.include(log?.text, "of the runtime")
    assert.include(log?.text, traceId)
    received = []
    assert.deepStrictEqual(await told({ logs: false }, "logs"), [])
  })

  it("sends the part of the traces that it is to send, and those that are brought along", async () => {
    const all = await told({ ratio: 0 }, "publishes", "none", traceparent, `00-${"c".repeat(32)}-${"d".repeat(16)}-00`)
    const text = all.map((each) => each.text).join("")
    const traces = new Set([...text.matchAll(/"traceId":"(\w+)"/g)].map(([, id]) => id))
    assert.deepStrictEqual(traces, new Set([traceId]))
    const some = Array.from({ length: 200 }, () => "none")
    received = []
    const half = (await told({ ratio: 0.5 }, "publishes", ...some)).map((each) => each.text).join("")
    const sent = new Set([...half.matchAll(/"traceId":"(\w+)"/g)].map(([, id]) => id)).size
    assert.isAbove(sent, 50)
    assert.isBelow(sent, 150)
  })

  it("lets nobody wait for a collector that is silent", async () => {
    const silent = createServer(() => undefined)
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve))
    const { port } = silent.address() as AddressInfo
    await told({ endpoint: `http://127.0.0.1:${port}` }, "publishes", traceparent)
    silent.closeAllConnections()
    await new Promise((resolve) => silent.close(resolve))
  })

  it("that is refused holds nobody up", async () => {
    status = 400
    assert.deepStrictEqual(paths(await told({}, "publishes", traceparent)), new Set(["/v1/traces"]))
  })
})
