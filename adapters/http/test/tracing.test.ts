/** Spans of requests. */
import { randomBytes } from "node:crypto"
import { createServer, request as nodeRequest } from "node:http"
import type { AddressInfo } from "node:net"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, describe, it } from "@effect/vitest"
import { trustedSandbox } from "@weft/core/testing"
import * as Http from "@weft/http"
import { endOf, parentOf, SpanRecorder } from "@weft/tooling/tracing"
import { Context, Effect, Layer, References } from "effect"
import { HttpRouter } from "effect/http"
import { afterAll, beforeAll } from "vitest"
import { eventually } from "./server/FileClient.ts"
import { modules } from "./server/functions.ts"
import { startWeft, TestServer } from "./server/TestServer.ts"

const recorder = new SpanRecorder()

const lookup = Object.assign(() => "found", {
  meta: { tool: { service: "crm", name: "lookup", description: "Looks up", input: {} } }
})

let server: TestServer

beforeAll(async () => {
  const sandbox = trustedSandbox({ ...modules, crm: { main: { lookup } } })
  server = await TestServer.start({}, undefined, startWeft({ tracing: recorder.layer, sandbox }))
  await server.deploy("shop", "shop")
  await server.deploy("crm", "crm")
})
afterAll(() => server.close())

const secret = "4111111111111111"

/** The trace context of a client. */
const brought = (flags = "01") => {
  const traceId = randomBytes(16).toString("hex")
  const spanId = randomBytes(8).toString("hex")
  return { traceId, spanId, headers: { traceparent: `00-${traceId}-${spanId}-${flags}` } }
}

/** Returns the names of a trace's spans after its server span has ended. */
const namesOf = async (traceId: string, count: number): Promise<ReadonlyArray<string>> => {
  await eventually(() => {
    const spans = recorder.of(traceId)
    return Promise.resolve(spans.length >= count && spans.every((span) => endOf(span) !== "open"))
  })
  return recorder.of(traceId).map((span) => span.name)
}

describe("a request with a traceparent", () => {
  it("that publishes is the root of the trace of all consequences", async () => {
    const { traceId, spanId, headers } = brought()
    const json = { event_type: "order:created", event_data: { total: 4, card: secret } }
    const reply = await server.call("POST", `/v1/events?card=${secret}`, { json, headers })
    assert.strictEqual(reply.status, 201)
    assert.deepStrictEqual(await namesOf(traceId, 3), ["POST /v1/events", "publish order:created", "run main/onOrder"])
    const [request, published, run] = recorder.of(traceId)
    assert.isDefined(request)
    assert.strictEqual(request.kind, "server")
    assert.strictEqual(parentOf(request), spanId)
    assert.deepStrictEqual(Object.fromEntries(request.attributes), {
      "http.request.method": "POST",
      "http.route": "/v1/events",
      "http.response.status_code": 201,
      "weft.request_id": reply.headers.get("x-request-id") ?? ""
    })
    assert.isDefined(published)
    assert.strictEqual(parentOf(published), request.spanId)
    assert.isDefined(run)
    assert.strictEqual(parentOf(run), published.spanId)
  })

  it("to a webhook is the parent of its run", async () => {
    const { traceId, spanId, headers } = brought()
    const path = `/webhook/acme/prod/shop/echo?card=${secret}`
    const reply = await server.call("POST", path, { json: { card: secret }, headers: { ...headers, cookie: secret } })
    assert.strictEqual(reply.status, 200)
    assert.deepStrictEqual(await namesOf(traceId, 2), ["POST /webhook", "run main/echo"])
    const [request, run] = recorder.of(traceId)
    assert.isDefined(request)
    assert.strictEqual(parentOf(request), spanId)
    assert.strictEqual(request.attributes.get("http.response.status_code"), 200)
    assert.strictEqual(request.attributes.get("weft.request_id"), reply.headers.get("x-request-id") ?? "")
    assert.isDefined(run)
    assert.strictEqual(parentOf(run), request.spanId)
  })

  it("behaves the same if its body arrives in chunks", async () => {
    const { traceId, headers } = brought()
    await new Promise<void>((resolve, reject) => {
      const url = `${server.listening.url}/webhook/acme/prod/shop/echo`
      const sent = nodeRequest(url, { method: "POST", headers: { ...headers, "transfer-encoding": "chunked" } })
      sent.on("response", (response) => response.on("end", resolve).resume())
      sent.on("error", reject)
      sent.write("a")
      sent.end("b")
    })
    assert.deepStrictEqual(await namesOf(traceId, 2), ["POST /webhook", "run main/echo"])
  })

  it("that calls a tool is the parent of its run", async () => {
    const { traceId, headers } = brought()
    const json = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "lookup", arguments: {} } }
    const accept = { accept: "application/json, text/event-stream", ...headers }
    const reply = await server.call("POST", "/mcp/acme/prod/crm", { json, headers: accept })
    assert.include(reply.text, "found")
    assert.deepStrictEqual(await namesOf(traceId, 2), ["POST /mcp", "run main/lookup"])
    const [request, run] = recorder.of(traceId)
    assert.strictEqual(run && parentOf(run), request?.spanId)
  })

  it("is not sampled if its parent is not", async () => {
    const { traceId, headers } = brought("00")
    await server.call("POST", "/webhook/acme/prod/shop/echo", { headers })
    await namesOf(traceId, 2)
    assert.deepStrictEqual(
      recorder.of(traceId).map((span) => span.sampled),
      [false, false]
    )
  })

  it("starts a new trace if it is invalid", async () => {
    const before = recorder.all.length
    await server.call("GET", "/v1/projects", { headers: { traceparent: "00-none" } })
    const [request] = recorder.all.slice(before)
    assert.isDefined(request)
    assert.isNull(parentOf(request))
  })
})

describe("the span of a request", () => {
  const spansOf = async (method: string, path: string) => {
    const { traceId, headers } = brought()
    const reply = await server.call(method, path, { headers })
    await namesOf(traceId, 1)
    const [request] = recorder.of(traceId)
    assert.isDefined(request)
    return { reply, request }
  }

  it("has the pattern of its route, and not its path", async () => {
    const { request } = await spansOf("GET", `/v1/projects/${secret}`)
    assert.strictEqual(request.name, "GET /v1/projects/{project_id_or_slug}")
    assert.strictEqual(endOf(request), "ok")
    assert.strictEqual(request.attributes.get("http.response.status_code"), 404)
  })

  it("has no route for unknown paths", async () => {
    const { request } = await spansOf("GET", `/${secret}`)
    assert.strictEqual(request.name, "GET")
    assert.notProperty(Object.fromEntries(request.attributes), "http.route")
  })

  it("has no invented method names", async () => {
    const { request } = await spansOf("PROPFIND", "/v1/projects")
    assert.strictEqual(request.attributes.get("http.request.method"), "_OTHER")
  })

  it("fails with 500, with the status as the only detail", async () => {
    const { request } = await spansOf("GET", "/webhook/acme/prod/shop/fails")
    assert.strictEqual(endOf(request), "500")
    assert.strictEqual(request.attributes.get("error.type"), "500")
  })

  it("ends as interrupted when the client disconnects", async () => {
    const { traceId, headers } = brought()
    const abort = new AbortController()
    const gone = fetch(`${server.listening.url}/webhook/acme/prod/shop/stuck`, { headers, signal: abort.signal })
    gone.catch(() => undefined)
    await eventually(() => Promise.resolve(recorder.of(traceId).length === 2))
    abort.abort()
    await namesOf(traceId, 2)
    assert.deepStrictEqual(recorder.of(traceId).map(endOf), ["interrupted", "interrupted"])
  })

  it("is the host's if the host created one", async () => {
    const http = createServer()
    const { traceId, headers } = brought()
    // Like a host built with Effect, whose own requests Effect traces.
    const context = Effect.map(server.weft.runtime.contextEffect, Context.add(References.TracerEnabled, true))
    const app = HttpRouter.serve(Http.layer(), { disableLogger: true, disableListenLog: true }).pipe(
      Layer.provide(NodeHttpServer.layer(() => http, { port: 0, host: "127.0.0.1" })),
      Layer.provide(Layer.effectContext(context))
    )
    await Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          yield* Layer.build(app)
          const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/webhook/acme/prod/shop/echo`
          yield* Effect.promise(() => fetch(url, { method: "POST", headers }).then((response) => response.text()))
          http.closeAllConnections()
        })
      )
    )
    const [request, run, ...others] = recorder.of(traceId)
    assert.strictEqual(request?.attributes.get("http.route"), "/webhook")
    assert.strictEqual(run?.name, "run main/echo")
    assert.strictEqual(run && parentOf(run), request?.spanId)
    assert.deepStrictEqual(others, [])
  })
})

describe("all spans", () => {
  it("are Weft's own, and contain nothing of the requests", () => {
    const ours = recorder.all.filter((span) => !span.name.startsWith("http.server"))
    const names = /^((GET|POST|PUT|PATCH|DELETE)( \/[a-z_/{}0-9]+)?|HTTP( \/.*)?|publish .*|run .*|svc\..*)$/
    assert.deepStrictEqual(
      ours.filter((span) => !names.test(span.name)).map((span) => span.name),
      []
    )
    const recorded = JSON.stringify(ours.map((span) => [span.name, ...span.attributes]))
    assert.notInclude(recorded, secret)
    assert.notInclude(recorded, "a secret of the tenant")
  })
})
