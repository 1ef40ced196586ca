/** One trace of a request and its runs, across a retry and a crash, as a collector receives it. */
import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { attribute, type Collector, type SentSpan, startCollector } from "./Collector.ts"
import { type ServerProcess, startServer } from "./ServerProcess.ts"

const secret = "4111111111111111"

const source = (target: string) => `
export const hook = Object.assign(async (request, svc) => {
  await svc.events.publish({ type: "order", data: { card: "${secret}" } })
  return { card: "${secret}" }
}, { meta: { webhook: { service: "shop", path: "/hook", method: "POST" } } })

export const order = Object.assign(async (event, svc) => {
  const response = await fetch("${target}/${secret}?card=${secret}")
  await response.text()
  if (svc.run.attempt < 3) throw new TypeError("${secret}")
  return "${secret}"
}, { meta: { event: "order", retry: { attempts: 3, delay: "1s", backoff: 3, jitter: false } } })
`

/** Starts a target of functions' requests, which records their traceparents. */
const startTarget = async () => {
  const traceparents: Array<string | undefined> = []
  const server = createServer((request, response) => {
    traceparents.push(request.headersDistinct.traceparent?.join())
    response.end("ok")
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return { server, port, traceparents }
}

let collector: Collector
let target: Awaited<ReturnType<typeof startTarget>>
let server: ServerProcess
let dataDir: string
let variables: Readonly<Record<string, string>>

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "weft-tracing-"))
  collector = await startCollector()
  target = await startTarget()
  variables = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
    OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20of-the-collector",
    OTEL_SERVICE_NAME: "shop",
    OTEL_BSP_SCHEDULE_DELAY: "50",
    WEFT_EGRESS_ALLOW: "127.0.0.1",
    WEFT_EGRESS_TRACEPARENT: `127.0.0.1:${target.port}`
  }
  server = await startServer(dataDir, variables)
  await server.upload("shop", source(`http://127.0.0.1:${target.port}`))
})

afterAll(async () => {
  // The server may have ended already.
  await server?.kill().catch(() => undefined)
  await collector?.close()
  await new Promise((resolve) => target.server.close(resolve))
  rmSync(dataDir, { recursive: true, force: true })
})

const eventually = async <A>(read: () => A | undefined | Promise<A | undefined>): Promise<A> => {
  for (const end = Date.now() + 60_000; ; ) {
    const found = await read()
    if (found !== undefined) return found
    if (Date.now() > end) throw new Error(`No value within 1 minute: ${collector.text()}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

it("a trace continues across a retry and a crash", async () => {
  const traceId = randomBytes(16).toString("hex")
  const client = randomBytes(8).toString("hex")
  const spans = () => collector.spansOf(traceId)
  const named = (name: string) => spans().filter((span) => span.name === name)
  const of = (name: string, count = 1) => eventually(() => (named(name).length === count ? named(name) : undefined))

  const response = await fetch(`${server.url}/webhook/default/production/shop/hook?card=${secret}`, {
    method: "POST",
    headers: { traceparent: `00-${traceId}-${client}-01`, cookie: secret }
  })
  expect(response.status).toBe(200)
  await response.text()

  const [request] = await of("POST /webhook")
  expect(request?.parentSpanId).toBe(client)
  expect(request?.kind).toBe(2)
  const [hook] = await of("run main/hook")
  expect(hook?.parentSpanId).toBe(request?.spanId)
  const [call] = await of("svc.events.publish")
  expect(call?.parentSpanId).toBe(hook?.spanId)
  const [published] = await of("publish order")
  expect(published?.parentSpanId).toBe(call?.spanId)
  expect(published?.kind).toBe(4)

  // The first retry is due after 1 s, the second 3 s later: after the restart of the server.
  await of("run main/order", 2)
  await eventually(async () => {
    const text = JSON.stringify(await server.call("GET", "/v1/runs"))
    return text.split('"status":"failed"').length === 3 ? true : undefined
  })
  await server.kill()
  server = await startServer(dataDir, variables)
  const attempts = await of("run main/order", 3)
  const values = (key: string) => attempts.map(({ attributes }) => attribute(attributes, key))
  expect(values("weft.attempt").map(Number)).toEqual([1, 2, 3])
  expect(values("error.type")).toEqual(["TypeError", "TypeError", undefined])
  expect(attempts.map(({ status }) => status.code)).toEqual([2, 2, 1])
  expect(new Set(attempts.map(({ parentSpanId }) => parentSpanId))).toEqual(new Set([published?.spanId]))
  expect(attempts.map(({ kind }) => kind)).toEqual([5, 5, 5])

  const requests = await of("svc.fetch.send", 3)
  expect(requests.map(({ parentSpanId }) => parentSpanId)).toEqual(attempts.map(({ spanId }) => spanId))
  expect(requests.map(({ attributes }) => attribute(attributes, "server.address"))).toEqual(
    Array.from({ length: 3 }, () => "127.0.0.1")
  )
  expect(target.traceparents).toEqual(requests.map((span: SentSpan) => `00-${traceId}-${span.spanId}-01`))

  await server.stop()
  expect(collector.headers("authorization")).toEqual(new Set(["Bearer of-the-collector"]))
  expect(collector.services()).toEqual(new Set(["shop"]))
  expect(collector.text()).not.toContain(secret)
}, 120_000)
