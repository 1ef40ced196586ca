/** The two transports of webhooks: the fast path on `node:http`, and the route on `effect`. They share every decision. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, describe, it } from "@effect/vitest"
import { Dns } from "@weft/core/adapter"
import { type TrustedModule, trustedSandbox } from "@weft/core/testing"
import * as Http from "@weft/http"
import { Effect, Exit, Layer, Scope } from "effect"
import { HttpRouter } from "effect/http"
import { afterAll, beforeAll } from "vitest"
import { type Address, exchange } from "./server/RawExchange.ts"
import { startWeft, TestServer } from "./server/TestServer.ts"

const bodyBytes = 10_000
const domain = "hooks.example.com"

const cnames = new Map<string, string>()
const dns = Layer.succeed(Dns, {
  resolveCname: (name) => Effect.succeed([cnames.get(name)].filter((value) => value !== undefined)),
  resolveAddresses: () => Effect.succeed([])
})

type Guest = Readonly<Record<string, unknown>>

const endpoint = (path: string, fn: (request: Guest) => unknown, more: object = {}) =>
  Object.assign(fn, { meta: { webhook: { service: "s", path, ...more } } })

const response = { status: 200, headers: { "content-type": "text/plain" }, body: "text" }

const app: TrustedModule = {
  main: {
    echo: endpoint("/echo", (request) => request),
    read: endpoint("/read", () => "read", { method: "GET" }),
    put: endpoint("/put", () => ({ ...response, status: 201 }), { method: "PUT" }),
    patch: endpoint("/patch", () => null, { method: "PATCH" }),
    remove: endpoint("/remove", () => ({ ...response, status: 204 }), { method: "DELETE" }),
    secret: endpoint("/secret", (request) => request.auth, { auth: "required" }),
    fails: endpoint("/fails", () => {
      throw new Error("a secret of the tenant")
    }),
    bytes: endpoint("/bytes", () => ({ ...response, body: new Uint8Array([0, 255, 1]) })),
    status: endpoint("/status", ({ body }) => ({ ...response, status: Number(body) })),
    headers: endpoint("/headers", () => ({
      ...response,
      headers: {
        "X-Last": "2",
        Connection: "upgrade",
        "Content-Length": "999",
        "X-Request-Id": "mine",
        "Strict-Transport-Security": "max-age=86400",
        "Set-Cookie": "a=1; Secure",
        "X-List": ["a", "b"]
      }
    })),
    cookies: endpoint("/cookies", () => ({
      ...response,
      status: 302,
      headers: { "x-first": "1", "set-cookie": ["a=1; Path=/", "b=2; New=yes"], location: "/elsewhere" }
    }))
  }
}

const closing = Scope.makeUnsafe()
let server: TestServer
let powerless: string
/** Serves every request with the route on `effect`. */
let general: Address

beforeAll(async () => {
  const domains = { validationZone: "v.weft.example", routingZone: "r.weft.example", ownNames: ["weft.example"], dns }
  server = await TestServer.start({ bodyBytes }, null, startWeft({ domains, sandbox: trustedSandbox({ app }) }))
  await server.deploy("app", "app")
  powerless = (await server.key({})).token
  const { data } = (await server.call("POST", "/v1/domains", { json: { domain } })).json
  cnames.set(data.validation_cname_name, data.validation_cname_value)
  await server.call("POST", `/v1/domains/${data.domain_id}/verify`)
  const nodeServer = createServer()
  const layer = HttpRouter.serve(Http.layer({ bodyBytes }), { disableLogger: true, disableListenLog: true }).pipe(
    Layer.provide(NodeHttpServer.layer(() => nodeServer, { port: 0, host: "127.0.0.1" })),
    Layer.provide(Layer.effectContext(server.weft.runtime.contextEffect))
  )
  await Effect.runPromise(Scope.provide(Layer.build(layer), closing))
  const { port } = nodeServer.address() as AddressInfo
  general = { host: "127.0.0.1", port }
})
afterAll(async () => {
  await Effect.runPromise(Scope.close(closing, Exit.void))
  await server.close()
})

interface Shape {
  readonly host?: string
  readonly headers?: Readonly<Record<string, string>>
  /** A name of a bearer token. */
  readonly token?: "full" | "powerless" | "unknown"
  readonly body?: string
}

/** Requests with the expected status. */
const shapes: ReadonlyArray<readonly [status: number, method: string, path: string, shape?: Shape]> = [
  [200, "GET", "/webhook/acme/prod/s/read"],
  [201, "PUT", "/webhook/acme/prod/s/put", { body: "x" }],
  [200, "PATCH", "/webhook/acme/prod/s/patch"],
  [204, "DELETE", "/webhook/acme/prod/s/remove"],
  [200, "POST", "/webhook/acme/prod/s/echo?a=1&a=2&b=%C3%A6+x&c"],
  [200, "POST", "/webhook/acme/prod/s/echo", { body: '{"n":1}', headers: { "content-type": "application/json" } }],
  [200, "POST", "/webhook/acme/prod/s/echo", { body: "a=1&a=2", headers: { "content-type": "text/csv" } }],
  [200, "POST", "/webhook/acme/prod/s/echo", { body: "", headers: { "x-forwarded-for": "203.0.113.7, 10.0.0.1" } }],
  [200, "POST", "/webhook/acme/prod/s/echo", { body: "y".repeat(bodyBytes) }],
  [400, "POST", "/webhook/acme/prod/s/echo", { body: "y".repeat(bodyBytes + 1) }],
  [404, "POST", "/webhook/acme/prod/s/none", { body: "y".repeat(bodyBytes + 1) }],
  [401, "POST", "/webhook/acme/prod/s/secret", { body: "y".repeat(bodyBytes + 1) }],
  [403, "POST", "/webhook/acme/prod/s/secret", { body: "y".repeat(bodyBytes + 1), token: "powerless" }],
  [401, "POST", "/webhook/acme/prod/s/secret"],
  [401, "POST", "/webhook/acme/prod/s/secret", { token: "unknown" }],
  [401, "POST", "/webhook/acme/prod/s/secret", { headers: { authorization: "Basic YTpi" } }],
  [403, "POST", "/webhook/acme/prod/s/secret", { token: "powerless", body: "x" }],
  [200, "POST", "/webhook/acme/prod/s/secret", { token: "full" }],
  [500, "POST", "/webhook/acme/prod/s/fails"],
  [200, "POST", "/webhook/acme/prod/s/bytes"],
  [200, "POST", "/webhook/acme/prod/s/headers"],
  [302, "POST", "/webhook/acme/prod/s/cookies"],
  ...[202, 205, 304, 404, 503, 599].map(
    (status) => [status, "POST", "/webhook/acme/prod/s/status", { body: String(status) }] as const
  ),
  [500, "POST", "/webhook/acme/prod/s/status", { body: "199" }],
  [404, "GET", "/webhook/acme/prod/s/echo"],
  [404, "HEAD", "/webhook/acme/prod/s/read"],
  [404, "OPTIONS", "/webhook/acme/prod/s/read"],
  [404, "GET", "/webhook/acme/prod/s/%72ead"],
  [404, "GET", "/%77ebhook/acme/prod/s/read"],
  [404, "GET", "/webhook/acme/none/s/read"],
  [404, "GET", "/webhook/none/prod/s/read"],
  [404, "GET", "/webhook/acme/prod"],
  [404, "GET", "/webhook//prod/s/read"],
  [404, "GET", "/webhook/"],
  [404, "GET", "/webhook/acme/prod/s/read", { headers: { "service-worker": "script" } }],
  [200, "GET", "/webhook/s/read", { host: domain }],
  [200, "GET", "/webhook/s/read", { host: `${domain.toUpperCase()}:443` }],
  [200, "GET", "/webhook/s/read", { host: domain, headers: { "service-worker": "script" } }],
  [200, "POST", "/webhook/s/echo?q=1", { host: domain, body: "x" }],
  [200, "POST", "/webhook/s/headers", { host: domain }],
  [401, "POST", "/webhook/s/secret", { host: domain }],
  [400, "POST", "/webhook/s/echo", { host: domain, body: "y".repeat(bodyBytes + 1) }],
  [404, "GET", "/webhook/acme/prod/s/read", { host: domain }],
  [404, "OPTIONS", "/webhook/s/read", { host: domain }],
  [404, "GET", "/webhook/", { host: domain }],
  [404, "GET", "/webhook/s/read", { host: `x.${domain}` }],
  [404, "GET", "/webhook/s/read", { headers: { "x-forwarded-host": domain } }]
]

interface RawResponse {
  readonly head: ReadonlyArray<string>
  readonly body: string
}

/** Sends a request on a separate connection. Returns the response without its date and the ids of request and run. */
const send = async (
  to: Address,
  method: string,
  path: string,
  { host = "weft.example", headers = {}, token, body }: Shape
): Promise<RawResponse> => {
  const tokens = { full: server.token, powerless, unknown: "nonsense" }
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `Host: ${host}`,
    "Connection: close",
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(token === undefined ? [] : [`Authorization: Bearer ${tokens[token]}`]),
    ...(body === undefined ? [] : [`Content-Length: ${body.length}`])
  ]
  const received = await exchange(to, `${lines.join("\r\n")}\r\n\r\n${body ?? ""}`)
  const end = received.indexOf("\r\n\r\n")
  const head = received.slice(0, end).split("\r\n")
  const id = head.find((line) => line.startsWith("x-request-id: "))?.slice("x-request-id: ".length) ?? ""
  assert.match(id, /^[0-9a-f-]{36}$/, received)
  return {
    head: head.filter((line) => !line.startsWith("Date: ")).map((line) => line.replace(id, "id")),
    body: received
      .slice(end + 4)
      .replace(id, "id")
      .replace(/in run [0-9a-f-]{36}/, "in run id")
  }
}

describe("a webhook has the same status, headers and body on both transports", () => {
  for (const [index, [status, method, path, shape = {}]] of shapes.entries()) {
    it(`for request ${index + 1}, ${method} ${path} on ${shape.host ?? "the shared origin"}, with ${status}`, async () => {
      const fast = await send(server.listening, method, path, shape)
      assert.match(fast.head[0] ?? "", new RegExp(`^HTTP/1.1 ${status} `))
      assert.deepStrictEqual(await send(general, method, path, shape), fast)
    })
  }
})
