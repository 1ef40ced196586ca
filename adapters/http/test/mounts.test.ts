import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, describe, it } from "@effect/vitest"
import { serve } from "@hono/node-server"
import type { WeftInstance } from "@weft/core"
import { NodeMetrics } from "@weft/core/adapter"
import * as Http from "@weft/http"
import { Effect, Layer, Redacted } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import express from "express"
import Fastify from "fastify"
import { Hono } from "hono"
import { afterAll, beforeAll } from "vitest"
import { eventually } from "./server/FileClient.ts"
import { checkEnvelope, type Reply, replyOf, startWeft, uploadForm } from "./server/TestServer.ts"
import { SseClient } from "./streams/SseClient.ts"

let weft: WeftInstance
let token: string

beforeAll(async () => {
  weft = await startWeft()
  await weft.orgs.create({ slug: "acme" })
  const env = await weft.envs.create("acme", { name: "prod" })
  token = Redacted.value((await weft.apiKeys.create(env.env_id, {})).token)
  const listening = await Http.listen(weft, { port: 0 })
  const call = (path: string, init: RequestInit) =>
    fetch(`${listening.url}${path}`, { method: "POST", ...init, headers: { ...auth(), ...init.headers } }).then(replyOf)
  await call("/v1/projects", { body: '{"name":"shop"}', headers: { "content-type": "application/json" } })
  const { build_id } = (await call("/v1/projects/shop/builds", { body: uploadForm("shop") })).json.data
  await call(`/v1/projects/shop/builds/${build_id}/deploy`, {})
  await listening.close()
})
afterAll(() => weft.close())

const auth = () => ({ authorization: `Bearer ${token}` })

const opened = (server: Server): Promise<string> =>
  new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo
      resolve(`http://127.0.0.1:${port}`)
    })
  })

const closed = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })

const ask = async (url: string, init: RequestInit = {}): Promise<Reply> =>
  replyOf(await fetch(url, { ...init, headers: { ...auth(), ...init.headers } }))

/** Tests for every mount. */
const checkSurface = async (base: string): Promise<void> => {
  assert.strictEqual(checkEnvelope(await ask(`${base}/v1/projects`)).json.data[0].name, "shop")
  assert.strictEqual(checkEnvelope(await ask(`${base}/v1/nothing`)).status, 404)
  assert.strictEqual(checkEnvelope(await ask(`${base}/healthz`)).status, 200)
  const body = JSON.stringify({ event_type: "plain", event_data: 1 })
  const headers = { "content-type": "application/json" }
  assert.strictEqual((await ask(`${base}/v1/events`, { method: "POST", body, headers })).status, 201)
  const upload = await ask(`${base}/v1/projects/shop/builds`, { method: "POST", body: uploadForm("shop") })
  assert.strictEqual(checkEnvelope(upload).status, 201)
  const hook = await ask(`${base}/webhook/acme/prod/shop/echo?q=1`, { method: "POST", body: '{"a":1}', headers })
  assert.strictEqual(hook.status, 200, hook.text)
  assert.include(hook.json, { url: "/webhook/acme/prod/shop/echo" })
  assert.deepStrictEqual(hook.json.body, { a: 1 })
  assert.strictEqual(checkEnvelope(await ask(`${base}/webhook/acme/prod/shop/none`)).status, 404)
  const bytes = await fetch(`${base}/webhook/acme/prod/shop/bytes`)
  assert.strictEqual((await bytes.arrayBuffer()).byteLength, 3)
  assert.strictEqual(checkEnvelope(await ask(`${base}/mcp/acme/prod/shop`, { method: "POST" })).status, 404)
  const empty = await ask(`${base}/webhook/acme/prod/shop/empty`, { method: "DELETE" })
  assert.strictEqual(empty.status, 204)
  await checkFiles(base)
  await checkStreams(base)
}

/** Receives an event and its consequences, disconnects, and is released. */
const checkStreams = async (base: string): Promise<void> => {
  const json = { event_type: "order:created", event_data: { total: 1 } }
  const client = await SseClient.at(base, token, "/v1/streams/subscribe-with-event", { json })
  await client.until((messages) => messages.some(({ event }) => event === "run:stop"))
  assert.deepStrictEqual(client.names(), ["event:published", "run:start", "run:stop"])
  const refused = await ask(`${base}/v1/streams/none/subscribe`)
  assert.strictEqual(checkEnvelope(refused).status, 404)
  client.close()
  await eventually(async () => {
    const series = await weft.runtime.runPromise(NodeMetrics.use(({ read }) => read))
    return series.some((one) => one.name === "weft_subscriptions" && "value" in one && one.value === 0)
  })
}

const checkFiles = async (base: string): Promise<void> => {
  const body = new Uint8Array(5_000_000).map((_, index) => index % 251)
  const upload = checkEnvelope(await ask(`${base}/v1/files/upload/a%20b/c`, { method: "PUT", body }))
  assert.strictEqual(upload.json.data.path, "a b/c")
  const url = `${base}/v1/files/${upload.json.data.file_id}/download`
  const whole = await fetch(url, { headers: auth() })
  assert.deepStrictEqual(new Uint8Array(await whole.arrayBuffer()), body)
  const range = await fetch(url, { headers: { ...auth(), range: "bytes=4999990-" } })
  assert.strictEqual(range.status, 206)
  assert.deepStrictEqual(new Uint8Array(await range.arrayBuffer()), body.subarray(-10))
  assert.strictEqual(
    checkEnvelope(await ask(`${base}/v1/files/upload/a%5Cb`, { method: "PUT", body: "x" })).status,
    400
  )
}

describe("Http.node", () => {
  it("is a request listener, even before it is ready", async () => {
    const mount = Http.node(weft)
    const server = createServer(mount)
    await checkSurface(await opened(server))
    await mount.close()
    await closed(server)
  })
})

describe("Http.express", () => {
  it("handles Weft's routes and passes the others on", async () => {
    const mount = Http.express(weft)
    const app = express()
    app.use(mount)
    app.get("/own", (_request, response) => void response.json({ own: true }))
    app.get("/v1x", (_request, response) => void response.json({ own: true }))
    const server = createServer(app)
    const base = await opened(server)
    await checkSurface(base)
    assert.deepStrictEqual((await ask(`${base}/own`)).json, { own: true })
    assert.deepStrictEqual((await ask(`${base}/v1x`)).json, { own: true })
    await mount.close()
    await closed(server)
  })

  it("supports a prefix, its own or Express's", async () => {
    const mount = Http.express(weft, { prefix: "/automation" })
    const other = Http.express(weft)
    const app = express()
    app.use(mount)
    app.use("/other", other)
    const server = createServer(app)
    const base = await opened(server)
    await checkSurface(`${base}/automation`)
    await checkSurface(`${base}/other`)
    assert.strictEqual((await fetch(`${base}/v1/status`)).status, 404)
    await Promise.all([mount.close(), other.close()])
    await closed(server)
  })

  it("reports a body parser that ran first, instead of waiting for a consumed body", async () => {
    const mount = Http.express(weft)
    const app = express()
    app.use(express.json(), mount)
    const server = createServer(app)
    const base = await opened(server)
    for (const path of ["/webhook/acme/prod/shop/echo", "/v1/events"]) {
      const reply = await ask(`${base}${path}`, {
        method: "POST",
        body: '{"a":1}',
        headers: { "content-type": "application/json" }
      })
      assert.strictEqual(checkEnvelope(reply).status, 400)
      assert.include(reply.json.error.message, "mount Weft before body parsers")
    }
    assert.strictEqual((await ask(`${base}/v1/projects`)).status, 200)
    await mount.close()
    await closed(server)
  })
})

describe("Http.fastify", () => {
  const withHost = async (
    options: Parameters<typeof Http.fastify>[1],
    use: (base: string) => Promise<void>
  ): Promise<void> => {
    const mount = Http.fastify(weft, options)
    const app = Fastify({ serverFactory: mount.serverFactory })
    app.addHook("preClose", () => mount.close())
    app.post("/own", async (request) => ({ own: request.body }))
    const base = await app.listen({ port: 0, host: "127.0.0.1" })
    await use(base)
    await app.close()
  }
  const own = { method: "POST", body: '{"a":1}', headers: { "content-type": "application/json" } }

  it("handles Weft's routes before the host, whose own bodies are parsed as usual", () =>
    withHost({}, async (base) => {
      await checkSurface(base)
      assert.deepStrictEqual((await ask(`${base}/own`, own)).json, { own: { a: 1 } })
      assert.strictEqual((await ask(`${base}/nothing`)).json.message, "Route GET:/nothing not found")
      // Fastify's router would reject this URL as malformed.
      assert.strictEqual(checkEnvelope(await ask(`${base}/webhook/acme/prod/shop/%zz`)).status, 404)
    }))

  it("supports a prefix", () =>
    withHost({ prefix: "/automation" }, async (base) => {
      await checkSurface(`${base}/automation`)
      assert.strictEqual((await ask(`${base}/v1/status`)).status, 404)
    }))

  it("keeps Fastify's timeouts, and refuses to terminate TLS", async () => {
    const { serverFactory, close } = Http.fastify(weft)
    const server = Fastify({ serverFactory, keepAliveTimeout: 1234, requestTimeout: 5678 }).server
    assert.deepInclude(server, { keepAliveTimeout: 1234, requestTimeout: 5678 })
    const options = { https: { key: "", cert: "" } }
    assert.throws(() => serverFactory(() => undefined, options), /plain HTTP/)
    assert.throws(() => serverFactory(() => undefined, { http2: true }), /plain HTTP/)
    await close()
  })
})

describe("/metrics", () => {
  it("belongs to the host without a metrics token, and to Weft with one", async () => {
    const open = Http.express(weft)
    const guarded = Http.express(weft, { metricsToken: Redacted.make("metrics-token-of-the-test") })
    const app = express()
    app.use("/open", open)
    app.use("/guarded", guarded)
    app.get("/open/metrics", (_request, response) => void response.send("the host's"))
    const server = createServer(app)
    const base = await opened(server)
    assert.strictEqual((await ask(`${base}/open/metrics`)).text, "the host's")
    assert.strictEqual(checkEnvelope(await ask(`${base}/guarded/metrics`)).status, 401)
    const headers = { authorization: "Bearer metrics-token-of-the-test" }
    assert.include((await ask(`${base}/guarded/metrics`, { headers })).text, "weft_")
    await Promise.all([open.close(), guarded.close()])
    await closed(server)
  })
})

describe("Http.fetch", () => {
  it("is a function from Request to Response, as for Hono", async () => {
    const mount = Http.fetch(weft)
    const app = new Hono()
    app.get("/own", (context) => context.json({ own: true }))
    app.all("*", (context) => mount(context.req.raw))
    const base = await new Promise<readonly [string, Server]>((resolve) => {
      const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, (info) =>
        resolve([`http://127.0.0.1:${info.port}`, server as Server])
      )
    })
    await checkSurface(base[0])
    assert.deepStrictEqual((await ask(`${base[0]}/own`)).json, { own: true })
    await mount.close()
    await closed(base[1])
  })

  it("works without any server", async () => {
    const mount = Http.fetch(weft, { version: "9" })
    const reply = await replyOf(await mount(new Request("http://weft/v1/status")))
    assert.strictEqual(checkEnvelope(reply).json.version, "9")
    const hook = await mount(new Request("http://weft/webhook/acme/prod/shop/echo", { method: "POST", body: "text" }))
    assert.strictEqual((await replyOf(hook)).json["body-raw"], "text")
    await mount.close()
  })
})

describe("Http.fetch, closing", () => {
  it("waits until a streamed response was read or cancelled", async () => {
    const mount = Http.fetch(weft)
    const url = "http://weft/v1/files"
    const body = new Uint8Array(1_000_000)
    const upload = await replyOf(await mount(new Request(`${url}/upload/z`, { method: "PUT", body, headers: auth() })))
    const download = () => mount(new Request(`${url}/${upload.json.data.file_id}/download`, { headers: auth() }))
    const taken = await download()
    const givenUp = await download()
    let isClosed = false
    const closing = mount.close().then(() => {
      isClosed = true
    })
    assert.strictEqual((await taken.arrayBuffer()).byteLength, body.length)
    assert.isFalse(isClosed)
    await givenUp.body?.cancel()
    await closing
  })
})

describe("Http.layer", () => {
  it("adds Weft's routes to a router and keeps the host's", async () => {
    const server = createServer()
    const services = Layer.effectContext(weft.runtime.contextEffect)
    const own = HttpRouter.add("GET", "/own", HttpServerResponse.jsonUnsafe({ own: true }))
    const app = HttpRouter.serve(Layer.mergeAll(own, Http.layer()), {
      disableLogger: true,
      disableListenLog: true
    }).pipe(Layer.provide(NodeHttpServer.layer(() => server, { port: 0, host: "127.0.0.1" })), Layer.provide(services))
    await Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          yield* Layer.build(app)
          const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
          yield* Effect.promise(() => checkSurface(base))
          assert.deepStrictEqual((yield* Effect.promise(() => ask(`${base}/own`))).json, { own: true })
          assert.strictEqual((yield* Effect.promise(() => ask(`${base}/nothing`))).text, "")
          server.closeAllConnections()
        })
      )
    )
  })
})

describe("closing", () => {
  it("waits for requests and accepts no new ones", async () => {
    const listening = await Http.listen(weft, { port: 0 })
    const slow = ask(`${listening.url}/webhook/acme/prod/shop/slow`)
    await new Promise((resolve) => setTimeout(resolve, 100))
    const closing = listening.close()
    const late = await fetch(`${listening.url}/v1/status`).then(
      () => "answered",
      () => "refused"
    )
    assert.strictEqual(late, "refused")
    assert.strictEqual((await slow).text, '"slow"')
    await closing
  })

  it("interrupts requests after the grace period, with a response", async () => {
    const listening = await Http.listen(weft, { port: 0 })
    const stuck = ask(`${listening.url}/webhook/acme/prod/shop/stuck`)
    await new Promise((resolve) => setTimeout(resolve, 100))
    const began = Date.now()
    await listening.close({ graceMs: 100 })
    assert.isBelow(Date.now() - began, 10_000)
    const reply = checkEnvelope(await stuck)
    assert.strictEqual(reply.status, 500)
    assert.strictEqual(reply.headers.get("retry-after"), "1")
  })

  it("rejects an address that is taken", async () => {
    const listening = await Http.listen(weft, { port: 0 })
    const failed = await Http.listen(weft, { port: listening.port }).then(
      () => null,
      (error) => error.code
    )
    assert.strictEqual(failed, "EADDRINUSE")
    await listening.close()
  })
})
