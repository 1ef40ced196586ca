import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import * as Http from "@weft/http"
import { afterAll, beforeAll } from "vitest"
import { adminToken, replyOf, TestServer } from "./server/TestServer.ts"

const own = { "x-weft-console": "1" }

let server: TestServer
beforeAll(async () => {
  server = await TestServer.start({ console: true })
  await server.deploy("shop", "shop")
})
afterAll(() => server.close())

const send = async (
  method: string,
  path: string,
  headers: Record<string, string> = {},
  json?: unknown,
  url = server.listening.url
) =>
  replyOf(
    await fetch(`${url}${path}`, {
      method,
      headers: { ...own, ...headers },
      ...(json === undefined ? {} : { body: JSON.stringify(json) })
    })
  )

/** Returns the cookie of a response as a request sends it. */
const cookieOf = (headers: Headers): string => (headers.get("set-cookie") ?? "").split(";")[0] ?? ""

const signIn = async (token = server.token): Promise<string> => {
  const reply = await send("POST", "/console/session", {}, { token })
  assert.strictEqual(reply.status, 201, reply.text)
  return cookieOf(reply.headers)
}

describe("the session of the console", () => {
  it("exchanges an API key for a cookie that scripts and other sites cannot use", async () => {
    const reply = await send("POST", "/console/session", {}, { token: server.token })
    assert.strictEqual(reply.status, 201)
    const cookie = reply.headers.get("set-cookie") ?? ""
    assert.match(cookie, /^weft_console=s_/)
    for (const attribute of ["Path=/console", "HttpOnly", "SameSite=Strict"]) assert.include(cookie, `; ${attribute}`)
    assert.notInclude(cookie, "Secure")
    assert.notInclude(reply.text, cookieOf(reply.headers).slice("weft_console=".length, 60))
  })

  it("marks the cookie as Secure for a page that was served over HTTPS, and sets its path behind a prefix", async () => {
    const headers = { origin: "https://weft.example.net", "x-weft-prefix": "/automation" }
    const reply = await send("POST", "/console/session", headers, { token: server.token })
    assert.match(reply.headers.get("set-cookie") ?? "", /; Path=\/automation\/console; .*; Secure$/)
  })

  it("authenticates requests of the page to the API, and no others", async () => {
    const cookie = await signIn()
    assert.strictEqual((await send("GET", "/console/api/v1/env", { cookie })).status, 200)
    assert.strictEqual((await send("GET", "/v1/env", { cookie })).status, 401)
    assert.strictEqual((await send("GET", "/console/api/v1/env", { cookie, "x-weft-console": "" })).status, 400)
    assert.strictEqual(
      (await send("GET", "/console/api/v1/env", { cookie, "sec-fetch-site": "same-site" })).status,
      400
    )
    assert.strictEqual((await send("GET", "/console/api/v1/env")).status, 401)
    assert.strictEqual((await send("GET", "/console/api/admin/orgs", { cookie })).status, 200, "is a path of the page")
  })

  it("lists and revokes its sessions, as the API key", async () => {
    const cookie = await signIn()
    const { session_id } = (await send("GET", "/console/session", { cookie })).json.data
    const listed = (await send("GET", "/console/api/v1/sessions?limit=100", { cookie })).json.data
    const session = listed.find((one: { session_id: string }) => one.session_id === session_id)
    assert.isString(session.metadata.console.signed_in_at)
    const other = await signIn()
    assert.strictEqual((await send("DELETE", `/console/api/v1/sessions/${session_id}`, { cookie: other })).status, 204)
    assert.strictEqual((await send("GET", "/console/api/v1/env", { cookie })).status, 401)
  })

  it("rejects a session that was not created by a sign-in", async () => {
    const created = await server.call("POST", "/v1/sessions", { json: { permissions: { "*:*": ["*"] } } })
    const { token } = created.json.data
    const forged = `${token}.${Date.now()}.c2lnbmF0dXJl`
    for (const value of [token, forged]) {
      assert.strictEqual((await send("GET", "/console/api/v1/env", { cookie: `weft_console=${value}` })).status, 401)
    }
  })

  it("rejects sign-ins with sessions and service keys, which could outlive what created them", async () => {
    const key = await server.call("POST", "/v1/service-keys", { json: { permissions: { "run:*": ["read"] } } })
    const session = await server.call("POST", "/v1/sessions", { json: { permissions: { "run:*": ["read"] } } })
    for (const { token } of [key.json.data, session.json.data]) {
      const reply = await send("POST", "/console/session", {}, { token })
      assert.strictEqual(reply.json.error.code, "bad_request")
    }
  })

  it("has the permissions of a restricted key, which needs none for its sign-in", async () => {
    const { token } = await server.key({ "run:*": ["read"] })
    const cookie = await signIn(token)
    assert.strictEqual((await send("GET", "/console/api/v1/runs", { cookie })).status, 200)
    assert.strictEqual((await send("GET", "/console/api/v1/events", { cookie })).status, 403)
    assert.strictEqual((await send("GET", "/console/api/v1/sessions", { cookie })).status, 403)
    assert.strictEqual((await send("DELETE", "/console/session", { cookie })).status, 204)
    assert.strictEqual((await send("GET", "/console/api/v1/runs", { cookie })).status, 401)
  })

  it("replaces its session when it is renewed", async () => {
    const cookie = await signIn()
    const renewed = await send("PUT", "/console/session", { cookie })
    assert.strictEqual(renewed.status, 200)
    assert.strictEqual((await send("GET", "/console/session", { cookie })).status, 401)
    assert.strictEqual((await send("GET", "/console/session", { cookie: cookieOf(renewed.headers) })).status, 200)
  })
})

describe("the rate of sign-ins", () => {
  it("is limited for each address, also with valid tokens", async () => {
    const limited = await TestServer.start({ console: true })
    try {
      const { url } = limited.listening
      const attempt = (token: string) => send("POST", "/console/session", {}, { token }, url)
      for (let count = 0; count < 30; count++) assert.strictEqual((await attempt("svc_wrong")).status, 401)
      const reply = await attempt(limited.token)
      assert.strictEqual(reply.status, 429)
      assert.isAtLeast(Number(reply.headers.get("retry-after")), 1)
    } finally {
      await limited.close()
    }
  })
})

describe("the sign-in by admin token", () => {
  it("lists environments, and opens one as its API key with the name console", async () => {
    const listed = await send("POST", "/console/session", {}, { token: adminToken })
    assert.deepStrictEqual(listed.json.data.environments, [
      { env_id: server.env.env_id, name: "prod", org_slug: "acme" }
    ])
    assert.isNull(listed.headers.get("set-cookie"))
    for (let round = 0; round < 2; round++) {
      const opened = await send("POST", "/console/session", {}, { token: adminToken, env_id: server.env.env_id })
      assert.strictEqual(opened.status, 201, opened.text)
      const runs = await send("GET", "/console/api/v1/runs", { cookie: cookieOf(opened.headers) })
      assert.strictEqual(runs.status, 200)
    }
    const { data } = (await server.call("GET", `/admin/envs/${server.env.env_id}/api-keys`, { token: adminToken })).json
    assert.strictEqual(data.filter(({ name }: { name: string }) => name === "console").length, 1)
  })
})

describe("the page of the console", () => {
  it("has a policy without inline scripts and styles, an ETag, and links that are relative to its depth", async () => {
    const page = await send("GET", "/console")
    const policy = page.headers.get("content-security-policy") ?? ""
    assert.include(policy, "script-src 'self'")
    assert.notInclude(policy, "unsafe")
    const etag = page.headers.get("etag") ?? ""
    assert.strictEqual((await send("GET", "/console", { "if-none-match": etag })).status, 304)
    for (const [path, base] of [
      ["/console", "console/"],
      ["/console/", "./"],
      ["/console/runs", "./"],
      ["/console/runs/1?a=b/c", "../"]
    ] as const) {
      assert.include((await send("GET", path)).text, `<base href="${base}"`)
    }
  })

  it("has files that browsers may cache forever, compressed if they accept it", async () => {
    const { text } = await send("GET", "/console")
    const file = text.match(/src="\.\/(assets\/[^"]+\.js)"/)?.[1] ?? ""
    const plain = await send("GET", `/console/${file}`, { "accept-encoding": "identity" })
    assert.include(plain.headers.get("cache-control") ?? "", "immutable")
    const small = await send("GET", `/console/${file}`, { "accept-encoding": "br" })
    assert.strictEqual(small.headers.get("content-encoding"), "br")
    assert.strictEqual(small.text, plain.text)
    for (const name of ["missing-123.js", "..%2Findex.html", "../index.html.br"]) {
      assert.notStrictEqual(
        (await send("GET", `/console/assets/${name}`)).headers.get("cache-control"),
        plain.headers.get("cache-control")
      )
    }
  })

  it("works behind the prefix of an Express host, and does not exist without the option", async () => {
    const withConsole = Http.express(server.weft, { console: true })
    const without = Http.express(server.weft)
    const host = createServer((request, response) => {
      const mount = request.url?.startsWith("/automation/") ? withConsole : without
      request.url = (request.url ?? "").replace(/^\/automation/, "")
      mount(request, response, () => response.writeHead(404).end("the host's 404"))
    })
    await new Promise<void>((resolve) => host.listen(0, "127.0.0.1", resolve))
    const url = `http://127.0.0.1:${(host.address() as AddressInfo).port}`
    try {
      assert.include((await send("GET", "/automation/console/runs", {}, undefined, url)).text, "<base")
      assert.strictEqual((await send("GET", "/console", {}, undefined, url)).text, "the host's 404")
    } finally {
      host.close()
      await Promise.all([withConsole.close(), without.close()])
    }
  })
})

describe("webhooks next to the console", () => {
  it("run their pages in a sandbox, and leave JSON as it is", async () => {
    const policyOf = async (path: string) =>
      (await fetch(`${server.listening.url}/webhook/acme/prod${path}`)).headers.get("content-security-policy")
    assert.include((await policyOf("/shop/page")) ?? "", "sandbox")
    assert.isNull(await policyOf("/shop/read"))
  })
})
