/** Invalid requests on every route: their responses, all in the envelope. */
import { connect } from "node:net"
import { assert, it } from "@effect/vitest"
import { operations } from "../openapi/Operations.ts"
import { modules } from "../server/functions.ts"
import { unknownId } from "../server/GoodRequests.ts"
import { adminToken, type CallOptions } from "../server/TestServer.ts"
import { onBackendOfRun } from "./Backends.ts"
import { refused } from "./Fields.ts"

const paths = [...new Set(operations.map(([route]) => route.split(" ")[1] ?? ""))]
const filled = (path: string): string => path.replace(/\{\w+\}/g, "none")
const isOpen = (path: string): boolean => !path.startsWith("/v1/") || /^\/v1\/(status|openapi\.json)$/.test(path)
const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"]
const declared = new Set(operations.map(([route]) => filled(route)))

onBackendOfRun({ modules }, ({ server }) => {
  const call = (method: string, path: string, options: CallOptions = {}) =>
    server().call(method, path, { ...(path.startsWith("/admin") ? { token: adminToken } : {}), ...options })

  it("an undocumented method on a documented path is 404, including OPTIONS", async () => {
    // A path with a parameter also matches others. PUT /v1/projects/none/builds/deployed is no route, but GET is.
    // Webhook methods depend on tenants, and MCP methods on the protocol.
    for (const path of paths.map(filled).filter((one) => !/^\/(webhook|mcp)\//.test(one))) {
      for (const method of [...methods, "OPTIONS", "PROPFIND"]) {
        if (declared.has(`${method} ${path}`) || operations.some(([route]) => matches(route, method, path))) continue
        assert.strictEqual(
          refused(await call(method, path), 404, "not_found"),
          "There is no such route",
          `${method} ${path}`
        )
      }
    }
  })

  it("a path with additional, missing or different slashes is 404", async () => {
    for (const path of [
      "/v1/projects/",
      "/v1/sessions/",
      "/v1//projects",
      "//v1/projects",
      "/v1/projects//",
      "/v1/",
      "/v1",
      "/"
    ]) {
      for (const method of ["GET", "DELETE"]) refused(await call(method, path), 404, "not_found")
    }
  })

  it("HEAD returns the response of GET without the body", async () => {
    for (const path of ["/v1/status", "/v1/projects", "/v1/env", "/healthz"]) {
      const [head, get] = [await call("HEAD", path), await call("GET", path)]
      assert.strictEqual(head.status, get.status)
      assert.strictEqual(head.text, "")
      assert.strictEqual(head.headers.get("content-type"), get.headers.get("content-type"))
    }
  })

  it("a missing credential is 401 on every path that requires one, before any other check", async () => {
    const broken = { body: "{", headers: { "content-type": "application/json" }, token: null }
    for (const [route] of operations) {
      const [method = "", path = ""] = route.split(" ")
      if (path.startsWith("/webhook/") || (isOpen(path) && !path.startsWith("/admin"))) continue
      const sent = method === "GET" || method === "HEAD" ? { token: null } : broken
      const reply = await call(method, `${filled(path)}?limit=x`, sent)
      refused(reply, 401, "unauthorized")
      assert.strictEqual(reply.headers.get("www-authenticate"), "Bearer")
    }
  })

  it("a body that is not JSON is 400 on every path that accepts JSON", async () => {
    for (const [route, { requestBody }] of operations) {
      const [method = "", path = ""] = route.split(" ")
      // The existence of the tools is checked before the message is read.
      if (requestBody?.content["application/json"] === undefined || path.startsWith("/mcp/")) continue
      const isOptional = requestBody.required === false
      for (const body of ['{"a":', "[]", '"text"', ...(isOptional ? [] : ["", "null"])]) {
        const reply = await call(method, filled(path), { body, headers: { "content-type": "application/json" } })
        assert.include(refused(reply, 400, "bad_request"), "The body", route)
      }
      // A body of any type completes a token.
      if (path.startsWith("/tokens/")) continue
      const plain = await call(method, filled(path), { body: "{}", headers: { "content-type": "text/plain" } })
      refused(plain, 400, "bad_request")
    }
  })

  it("an unknown or malformed id is 404 on every path with one", async () => {
    for (const [route] of operations) {
      const [method = "", path = ""] = route.split(" ")
      if (!/^(GET|DELETE)$/.test(method) || !path.includes("{") || !/^\/(v1|admin)\//.test(path)) continue
      if (path.endsWith("/content")) continue
      for (const id of ["none", unknownId]) {
        refused(await call(method, path.replace(/\{\w+\}/g, id)), 404, "not_found")
      }
    }
  })

  it("limit and offset out of range are 400 on every list", async () => {
    for (const [route, { parameters = [] }] of operations) {
      const [method = "", path = ""] = route.split(" ")
      if (!parameters.some(({ name }) => name === "limit")) continue
      for (const query of ["limit=0", "limit=101", "limit=-1", "limit=x", "limit=1&limit=2", "offset=-1", "offset=x"]) {
        const message = refused(await call(method, `${filled(path)}?${query}`), 400, "bad_request")
        assert.match(message, /^(limit|offset): /, route)
      }
    }
  })

  /** Returns all bytes that the server sends on a new connection. */
  const exchange = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const { port, host } = server().listening
      const socket = connect(port, host, () => socket.write(text))
      let received = ""
      socket.on("data", (chunk) => {
        received += chunk.toString()
      })
      socket.on("error", reject)
      socket.on("close", () => resolve(received))
      socket.setTimeout(5000, () => socket.destroy(new Error("the server keeps silent")))
    })

  it("invalid HTTP and too many headers are 400 in the envelope on any path", async () => {
    for (const path of ["/v1/events", "/webhook/acme/prod/shop/echo", "/admin/orgs", "/nowhere", "*"]) {
      for (const head of [
        `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n`,
        `POST ${path} HTTP/1.1\r\nHost: a\r\nX-Much: ${"x".repeat(20_000)}\r\n\r\n`,
        `POST ${path} HTTP/9.9\r\nHost: a\r\n\r\n`,
        `POST ${path} HTTP/1.1\r\nContent-Length: 0\r\n\r\n`
      ]) {
        const [status = "", ...rest] = (await exchange(head)).split("\r\n")
        assert.match(status, /^HTTP\/1\.1 400 /, head.slice(0, 80))
        const { error } = JSON.parse(rest.at(-1) ?? "")
        assert.strictEqual(error.code, "bad_request")
        assert.include(rest, `x-request-id: ${error.request_id}`)
      }
    }
  })
})

/** True if a route of the document matches a request. */
const matches = (route: string, method: string, path: string): boolean => {
  const [own = "", template = ""] = route.split(" ")
  const pattern = template.replace(/\/v1\/files\/upload\/\{path\}/, "/v1/files/upload/.+").replace(/\{\w+\}/g, "[^/]+")
  return own === method && new RegExp(`^${pattern}$`).test(path)
}
