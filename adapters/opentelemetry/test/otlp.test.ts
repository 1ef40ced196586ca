/** Requests that a collector receives over HTTP. */
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { type TracingOptions, tracing } from "@weft/opentelemetry"
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

/** Starts an instance, publishes events or logs, closes it, and returns the requests that the collector received. */
const collect = async (options: Partial<TracingOptions>, act: "publishes" | "logs", ...of: ReadonlyArray<string>) => {
  const { weft, env } = await startTenant(main, { tracing: tracing({ endpoint, ...options }) })
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
  it("flushes pending spans when the instance is closed", async () => {
    const headers = { authorization: Redacted.make("Bearer secret") }
    const all = await collect({ serviceName: "of-the-test", headers }, "publishes", traceparent)
    assert.deepStrictEqual(paths(all), new Set(["/v1/traces"]))
    assert.deepStrictEqual(new Set(all.map((each) => each.authorization)), new Set(["Bearer secret"]))
    const text = all.map((each) => each.text).join("")
    for (const part of ["publish order", "run main/order", traceId, "of-the-test"]) assert.include(text, part)
  })

  it("sends logs with their traces, unless logs are disabled", async () => {
    const [log, ...others] = await collect({}, "logs")
    assert.deepStrictEqual(others, [])
    assert.strictEqual(log?.path, "/v1/logs")
    assert.include(log?.text, "of the runtime")
    assert.include(log?.text, traceId)
    received = []
    assert.deepStrictEqual(await collect({ logs: false }, "logs"), [])
  })

  it("samples traces by ratio, and keeps the decision of incoming traces", async () => {
    const all = await collect(
      { ratio: 0 },
      "publishes",
      "none",
      traceparent,
      `00-${"c".repeat(32)}-${"d".repeat(16)}-00`
    )
    const text = all.map((each) => each.text).join("")
    const traces = new Set([...text.matchAll(/"traceId":"(\w+)"/g)].map(([, id]) => id))
    assert.deepStrictEqual(traces, new Set([traceId]))
    const some = Array.from({ length: 200 }, () => "none")
    received = []
    const half = (await collect({ ratio: 0.5 }, "publishes", ...some)).map((each) => each.text).join("")
    const sent = new Set([...half.matchAll(/"traceId":"(\w+)"/g)].map(([, id]) => id)).size
    assert.isAbove(sent, 50)
    assert.isBelow(sent, 150)
  })

  it("does not block on a collector that does not answer", async () => {
    const silent = createServer(() => undefined)
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve))
    const { port } = silent.address() as AddressInfo
    await collect({ endpoint: `http://127.0.0.1:${port}` }, "publishes", traceparent)
    silent.closeAllConnections()
    await new Promise((resolve) => silent.close(resolve))
  })

  it("does not block on a collector that rejects requests", async () => {
    status = 400
    assert.deepStrictEqual(paths(await collect({}, "publishes", traceparent)), new Set(["/v1/traces"]))
  })
})
