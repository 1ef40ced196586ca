/** `/metrics` in Prometheus' format, and its optional token. */
import { assert, describe, it } from "@effect/vitest"
import { collectGarbage } from "@weft/tooling/garbage"
import { Redacted } from "effect"
import { afterEach, vi } from "vitest"
import { checkEnvelope, replyOf, TestServer } from "./server/TestServer.ts"

let server: TestServer
afterEach(() => server.close())

const token = "metrics-token-of-the-tests"

const read = async (authorization?: string) => {
  const headers = authorization === undefined ? {} : { authorization }
  return checkEnvelope(await replyOf(await fetch(`${server.listening.url}/metrics`, { headers })))
}

/** Returns the value of a series, or undefined. */
const valueOf = (text: string, series: string): number | undefined => {
  const line = text.split("\n").find((one) => one.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length + 1))
}

const published = async (): Promise<void> => {
  await server.deploy("shop", "shop")
  await server.call("POST", "/v1/events", { json: { event_type: "order:created", event_data: { total: 1 } } })
  while ((await server.call("GET", "/v1/runs/stats")).json.data.succeeded === 0) await new Promise(setImmediate)
}

describe("/metrics", () => {
  it("is valid Prometheus text", async () => {
    server = await TestServer.start()
    await published()
    const reply = await read()
    assert.strictEqual(reply.status, 200)
    assert.strictEqual(reply.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8")
    const help = /^# HELP [a-zA-Z_:][a-zA-Z0-9_:]* \S.*$/
    const type = /^# TYPE [a-zA-Z_:][a-zA-Z0-9_:]* (counter|gauge|histogram)$/
    const sample = /^[a-zA-Z_:][a-zA-Z0-9_:]*(\{[a-zA-Z_]\w*="[^"\n]*"(,[a-zA-Z_]\w*="[^"\n]*")*\})? -?[0-9.e+-]+$/
    const lines = reply.text.trimEnd().split("\n")
    for (const line of lines)
      assert.isTrue(
        [help, type, sample].some((pattern) => pattern.test(line)),
        line
      )
    const types = lines.filter((line) => line.startsWith("# TYPE"))
    assert.strictEqual(new Set(types).size, types.length, "each family once")
  })

  it("counts requests by method, route and status, never by the contents of a URL", async () => {
    server = await TestServer.start()
    const { project_id } = await server.deploy("shop", "shop")
    for (let n = 0; n < 3; n++) await server.call("GET", `/v1/projects/${project_id}?secret=1`)
    await server.call("GET", "/v1/projects/none")
    await server.call("GET", "/v1/projects/none", { token: null })
    await server.call("GET", "/no/such/route")
    await server.call("BREW", "/no/such/route")
    await server.call("GET", "/webhook/acme/prod/shop/read?q=1", { token: null })
    await server.call("GET", "/webhook/acme/prod/shop/fails", { token: null })
    const { text } = await read()
    const requests = (method: string, route: string, status: number) =>
      valueOf(text, `weft_http_requests_total{method="${method}",route="${route}",status="${status}"}`)
    assert.strictEqual(requests("GET", "/v1/projects/{project_id_or_slug}", 200), 3)
    assert.strictEqual(requests("GET", "/v1/projects/{project_id_or_slug}", 404), 1)
    assert.strictEqual(requests("GET", "/v1/projects/{project_id_or_slug}", 401), 1)
    assert.strictEqual(requests("GET", "none", 404), 1)
    assert.strictEqual(requests("GET", "/webhook", 200), 1)
    assert.strictEqual(requests("GET", "/webhook", 500), 1)
    const duration = 'weft_http_request_duration_seconds_count{method="GET",route="/webhook"}'
    assert.strictEqual(valueOf(text, duration), 2)
    for (const secret of [project_id, "secret", "acme", "BREW", server.token.slice(-20)])
      assert.notInclude(text, secret)
  })

  it("counts webhooks of the general path in the same way", async () => {
    server = await TestServer.start()
    await server.deploy("shop", "shop")
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode("{}"))
        controller.close()
      }
    })
    // Without a length, which the fast path does not handle.
    const sent: RequestInit & { duplex: "half" } = { method: "POST", body, duplex: "half" }
    const reply = await fetch(`${server.listening.url}/webhook/acme/prod/shop/echo`, sent)
    assert.strictEqual(reply.status, 200)
    await reply.arrayBuffer()
    const { text } = await read()
    assert.strictEqual(valueOf(text, 'weft_http_requests_total{method="POST",route="/webhook",status="200"}'), 1)
  })

  it("counts runs, commits and deliveries, and has the version of the server", async () => {
    server = await TestServer.start()
    await published()
    await server.call("GET", "/webhook/acme/prod/shop/fails", { token: null })
    const { text } = await read()
    assert.strictEqual(valueOf(text, 'weft_runs_total{type="event",status="succeeded"}'), 1)
    assert.strictEqual(valueOf(text, 'weft_runs_total{type="call",status="failed"}'), 1)
    assert.strictEqual(valueOf(text, "weft_deliveries_waiting"), 0)
    assert.strictEqual(valueOf(text, "weft_deliveries_running"), 0)
    assert.strictEqual(valueOf(text, 'weft_build_info{version="1.2.3",git_sha="abc"}'), 1)
    const commits = valueOf(text, "weft_journal_commit_seconds_count") ?? 0
    assert.isAtLeast(commits, 2)
    assert.strictEqual(valueOf(text, 'weft_journal_commit_seconds_bucket{le="+Inf"}'), commits)
    assert.strictEqual(valueOf(text, "weft_journal_commit_entries_count"), commits)
    for (const name of [
      "process_resident_memory_bytes",
      "nodejs_heap_used_bytes",
      "nodejs_heap_live_bytes",
      "process_uptime_seconds"
    ]) {
      assert.isAbove(valueOf(text, name) ?? 0, 0, name)
    }
    assert.isAtLeast(valueOf(text, "nodejs_eventloop_lag_max_seconds") ?? -1, 0)
  })

  it("has the heap size after the last full garbage collection", async () => {
    server = await TestServer.start()
    const live = async (): Promise<number> => valueOf((await read()).text, "nodejs_heap_live_bytes") ?? 0
    const kept = new Array<number>(8_000_000).fill(0.5)
    collectGarbage()
    await vi.waitFor(async () => assert.isAbove(await live(), kept.length * 8))
    const before = await live()
    kept.length = 0
    assert.strictEqual(await live(), before)
    collectGarbage()
    await vi.waitFor(async () => assert.isBelow(await live(), before - 8_000_000 * 4))
  })

  it("is the same text for all readers within its lifetime", async () => {
    server = await TestServer.start({ metricsMs: 60_000 })
    const { text } = await read()
    for (let n = 0; n < 5; n++) await server.call("GET", "/v1/env")
    assert.strictEqual((await read()).text, text)
  })

  it("has cumulative buckets", async () => {
    server = await TestServer.start()
    for (let n = 0; n < 20; n++) await server.call("GET", "/v1/env")
    const { text } = await read()
    const prefix = 'weft_http_request_duration_seconds_bucket{method="GET",route="/v1/env",le="'
    const counts = text
      .split("\n")
      .filter((line) => line.startsWith(prefix))
      .map((line) => Number(line.slice(line.indexOf(" ") + 1)))
    assert.isAbove(counts.length, 5)
    assert.deepStrictEqual(
      counts,
      [...counts].sort((a, b) => a - b)
    )
    assert.strictEqual(counts.at(-1), 20)
  })
})

describe("the host's metrics token", () => {
  it("is required for /metrics and health checks, and for no other route", async () => {
    server = await TestServer.start({ metricsToken: Redacted.make(token) })
    for (const path of ["/metrics", "/healthz", "/readyz"]) {
      for (const wrong of [null, "", "wrong", `${token}x`, token.slice(1), server.token]) {
        const reply = await server.call("GET", path, { token: wrong })
        assert.strictEqual(reply.status, 401, `${path} ${wrong}`)
        assert.strictEqual(reply.json.error.code, "unauthorized")
      }
      assert.strictEqual((await server.call("GET", path, { token })).status, 200, path)
    }
    assert.strictEqual((await server.call("GET", "/v1/status", { token: null })).status, 200)
    assert.strictEqual((await server.call("GET", "/v1/env", { token })).status, 401)
    assert.strictEqual((await server.call("GET", "/admin/orgs", { token })).status, 401)
    assert.notInclude((await read(`Bearer ${token}`)).text, token)
  })

  it("is not required if the host configured none", async () => {
    server = await TestServer.start()
    for (const path of ["/metrics", "/healthz", "/readyz"]) {
      assert.strictEqual((await server.call("GET", path, { token: null })).status, 200, path)
    }
  })
})
