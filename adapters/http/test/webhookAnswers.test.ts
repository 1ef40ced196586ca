/** The rules of webhooks (decisions section 9), on each path of a request. */
import { type OutgoingHttpHeaders, request } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import type { TrustedModule } from "@weft/core/testing"
import { trustedSandbox } from "@weft/core/testing"
import * as Http from "@weft/http"
import { afterAll, beforeAll } from "vitest"
import { adminToken, startWeft, TestServer } from "./server/TestServer.ts"

interface Request {
  readonly body: { readonly answer?: unknown; readonly name?: string }
  readonly [name: string]: unknown
}

type Guest = (request: Request, svc: { readonly request: Request }) => unknown

const endpoint = (path: string, fn: Guest, more: object = {}) =>
  Object.assign((...args: Parameters<Guest>) => fn(...args), { meta: { webhook: { service: "s", path, ...more } } })

/** Responses that JSON cannot express. */
const special: Record<string, () => unknown> = {
  undefined: () => undefined,
  null: () => null,
  bytes: () => ({ status: 200, headers: { "content-type": "image/png" }, body: new Uint8Array([0, 255, 128]) }),
  bytesAsJson: () => ({ status: 200, body: new Uint8Array([1, 2]) }),
  promised: async () => ({ status: 202, body: "later" })
}

const modules: Readonly<Record<string, TrustedModule>> = {
  app: {
    main: {
      answer: endpoint("/answer", ({ body }) => body.answer),
      special: endpoint("/special", ({ body }) => special[body.name ?? ""]?.()),
      echo: endpoint("/echo", (request) => request),
      context: endpoint("/context", (request, svc) => [svc.request === request, svc.request.url]),
      encoded: endpoint("/a%20b/%C3%A6", () => "encoded"),
      slash: endpoint("/slash/", () => "with"),
      bare: endpoint("/slash", () => "without"),
      root: endpoint("/", () => "root"),
      read: endpoint("/read", () => "read", { method: "GET" })
    }
  }
}

let server: TestServer
let mounted: Http.FetchMount
beforeAll(async () => {
  server = await TestServer.start({}, adminToken, startWeft({ sandbox: trustedSandbox(modules) }))
  await server.deploy("app", "app")
  mounted = Http.fetch(server.weft)
})
afterAll(async () => {
  await mounted.close()
  await server.close()
})

const json = { "content-type": "application/json" }

/** A body with a length, a chunked body, and a fetch host. */
const ways: Record<string, (path: string, init: RequestInit) => Promise<Response>> = {
  "with a length": (path, init) => fetch(`${server.listening.url}${path}`, init),
  "in chunks": (path, init) => {
    const body =
      init.body === undefined || init.body === null
        ? {}
        : { body: new Response(init.body).body, duplex: "half" as const }
    return fetch(`${server.listening.url}${path}`, { ...init, ...body })
  },
  "as a web request": (path, init) => mounted(new Request(`http://weft.test${path}`, init))
}

const jsonOf = async (response: Response): Promise<ReturnType<typeof JSON.parse>> => JSON.parse(await response.text())

const hook = (path: string) => `/webhook/acme/prod/s${path}`

/** Returns the header names of a response in their order, without those that Node adds. */
const sentNames = (given: unknown, headers: OutgoingHttpHeaders): Promise<ReadonlyArray<string>> =>
  new Promise((resolve, reject) => {
    const url = `${server.listening.url}${hook("/answer")}`
    const sent = request(url, { method: "POST", headers: { ...json, ...headers } }, (answer) => {
      answer.resume()
      const names = answer.rawHeaders.filter((_, index) => index % 2 === 0)
      answer.on("end", () => resolve(names.filter((name) => name === name.toLowerCase())))
    })
    sent.on("error", reject)
    sent.end(JSON.stringify({ answer: given }))
  })

it("sends the headers of a response in one order on every path", async () => {
  const given = { status: 200, headers: { "x-first": "1", "set-cookie": ["a=1", "b=2"], "x-last": "2" }, body: "text" }
  const names = await sentNames(given, {})
  assert.deepStrictEqual(
    names.filter((name) => name.startsWith("x-") || name === "set-cookie"),
    ["x-request-id", "x-first", "x-last", "set-cookie", "set-cookie"]
  )
  assert.deepStrictEqual(await sentNames(given, { "transfer-encoding": "chunked" }), names)
})

for (const [way, send] of Object.entries(ways)) {
  describe(`a webhook called ${way}`, () => {
    const post = (path: string, body: unknown) =>
      send(hook(path), { method: "POST", headers: json, body: JSON.stringify(body) })
    const answer = (given: unknown) => post("/answer", { answer: given })

    /** Returns the error message of the latest run. */
    const lastFailure = async (): Promise<string> => {
      const [run] = (await server.call("GET", "/v1/runs?limit=1")).json.data
      assert.strictEqual(run.status, "failed")
      return run.result.error.message
    }

    it("sends every cookie as a separate header, and joins other repeated headers", async () => {
      const cookies = ["a=1; Path=/; HttpOnly", "a=2; Path=/deep; Partitioned; X-New=yes", "b=x, y"]
      const several = await answer({ status: 200, headers: { "Set-Cookie": cookies, "X-List": ["a", "b"] }, body: 1 })
      assert.deepStrictEqual(several.headers.getSetCookie(), cookies)
      assert.strictEqual(several.headers.get("x-list"), "a, b")
      assert.deepStrictEqual([several.status, await jsonOf(several)], [200, 1])
      assert.isNotNull(several.headers.get("x-request-id"))
      const one = await answer({ status: 200, headers: { "set-cookie": "a=1; Secure" } })
      assert.deepStrictEqual(one.headers.getSetCookie(), ["a=1; Secure"])
      const none = await answer({ status: 200, headers: { "set-cookie": [] } })
      assert.deepStrictEqual(none.headers.getSetCookie(), [])
      const empty = await answer({ status: 204, headers: { "set-cookie": ["a=1", "b=2"] } })
      assert.deepStrictEqual([empty.status, empty.headers.getSetCookie()], [204, ["a=1", "b=2"]])
    })

    it("returns any status from 200 to 599, without a body where HTTP forbids one", async () => {
      for (const status of [200, 201, 299, 302, 404, 418, 500, 503, 599]) {
        const response = await send(hook("/answer"), {
          method: "POST",
          headers: json,
          body: JSON.stringify({ answer: { status, body: { status } } }),
          redirect: "manual"
        })
        assert.deepStrictEqual([response.status, await jsonOf(response)], [status, { status }])
      }
      for (const status of [204, 205, 304]) {
        const response = await answer({ status, body: { not: "sent" } })
        assert.deepStrictEqual([response.status, await response.text()], [status, ""])
      }
    })

    it("sends error responses of the function unchanged, with any type", async () => {
      for (const [status, type, body] of [
        [404, "text/plain", "gone"],
        [410, "text/html; charset=utf-8", "<p>gone</p>"],
        [415, "application/problem+json", { title: "not that" }],
        [503, "text/csv", "later"]
      ] as const) {
        const response = await answer({ status, headers: { "content-type": type }, body })
        const text = typeof body === "string" ? body : JSON.stringify(body)
        assert.deepStrictEqual(
          [response.status, response.headers.get("content-type"), await response.text()],
          [status, type, text]
        )
      }
      const several = await answer({ status: 401, headers: { "set-cookie": ["a=1", "b=2"] }, body: "who?" })
      assert.deepStrictEqual(
        [several.status, several.headers.getSetCookie(), await jsonOf(several)],
        [401, ["a=1", "b=2"], "who?"]
      )
      for (const status of [404, 500]) {
        const [bare, ok] = [await answer({ status }), await answer({ status: 200 })]
        assert.deepStrictEqual([bare.status, await bare.text()], [status, await ok.text()])
      }
    })

    it("fails the run with a reason for any other status", async () => {
      for (const status of [-1, 0, 99, 100, 103, 199, 600, 99_999]) {
        const response = await answer({ status })
        assert.strictEqual(response.status, 500, String(status))
        assert.strictEqual((await jsonOf(response)).error.code, "internal_server_error")
        assert.include(await lastFailure(), `status ${status} `)
      }
    })

    it("treats an object without an integer status as a plain value", async () => {
      for (const value of [{ status: "200" }, { status: 200.5 }, { status: null }, [200], "text", 0, false, null]) {
        const response = await answer(value)
        assert.deepStrictEqual([response.status, await jsonOf(response)], [200, value])
        assert.strictEqual(response.headers.get("content-type"), "application/json")
      }
      const nothing = await post("/special", { name: "undefined" })
      assert.deepStrictEqual([nothing.status, await nothing.text()], [200, "null"])
      const promised = await post("/special", { name: "promised" })
      assert.deepStrictEqual([promised.status, await jsonOf(promised)], [202, "later"])
    })

    it("fails the run with a reason for invalid headers", async () => {
      for (const headers of [
        { "x a": "1" },
        { "": "1" },
        { "x:": "1" },
        { "x-a": "1\r\nx-b: 2" },
        { "x-a": "\u0000" },
        { "x-a": "€" },
        { "set-cookie": ["a=1", "b=2\n"] },
        "x-a: 1"
      ]) {
        assert.strictEqual((await answer({ status: 200, headers })).status, 500, JSON.stringify(headers))
        assert.include(await lastFailure(), "header")
      }
    })

    it("drops headers of the connection and those that the server sets", async () => {
      const headers = {
        connection: "close",
        "content-length": "1",
        "transfer-encoding": "chunked",
        "x-request-id": "mine",
        "keep-alive": "timeout=1",
        "x-kept": "yes"
      }
      const response = await answer({ status: 200, headers, body: "whole" })
      assert.strictEqual(await jsonOf(response), "whole")
      assert.strictEqual(response.headers.get("x-kept"), "yes")
      assert.notStrictEqual(response.headers.get("x-request-id"), "mine")
      assert.isNull(response.headers.get("transfer-encoding"))
    })

    it("drops headers that browsers apply to the whole origin", async () => {
      const ofOrigin = {
        "Accept-CH": "Sec-CH-UA-Model",
        "Alt-Svc": 'h3="elsewhere.test:443"',
        "Clear-Site-Data": '"*"',
        "Critical-CH": "Sec-CH-UA-Model",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Expect-CT": "max-age=86400, enforce",
        NEL: '{"report_to":"a","max_age":86400}',
        "Origin-Agent-Cluster": "?1",
        "Public-Key-Pins": 'pin-sha256="x"; max-age=86400',
        "Public-Key-Pins-Report-Only": 'pin-sha256="x"; max-age=86400',
        "Report-To": '{"group":"a","max_age":86400,"endpoints":[]}',
        "Reporting-Endpoints": 'a="https://elsewhere.test"',
        "Sec-Session-Registration": '(ES256);path="/"',
        "Secure-Session-Registration": '(ES256);path="/"',
        "Service-Worker-Allowed": "/",
        "Set-Login": "logged-in",
        "Strict-Transport-Security": "max-age=86400",
        "Use-As-Dictionary": 'match="/*"'
      }
      const ofPage = { "content-security-policy": "default-src 'none'", "referrer-policy": "no-referrer" }
      const response = await answer({ status: 200, headers: { ...ofOrigin, ...ofPage }, body: 1 })
      assert.strictEqual(response.status, 200)
      for (const name of Object.keys(ofOrigin)) assert.isNull(response.headers.get(name), name)
      for (const [name, value] of Object.entries(ofPage)) assert.strictEqual(response.headers.get(name), value)
    })

    it("is never the script of a service worker", async () => {
      const ask = (headers: Record<string, string>) => send(hook("/read"), { method: "GET", headers })
      assert.strictEqual((await ask({ "service-worker": "script" })).status, 404)
      assert.strictEqual((await ask({})).status, 200)
    })

    it("sends text and bytes with a non-JSON type unchanged, and all else as JSON", async () => {
      for (const [type, body, sent] of [
        ["text/html", "<p>å</p>", "<p>å</p>"],
        ["text/plain", "", ""],
        ["text/html", { a: 1 }, '{"a":1}'],
        ["text/plain", null, "null"],
        ["application/json", "a", '"a"'],
        ["application/problem+json; charset=utf-8", "a", '"a"'],
        [undefined, "a", '"a"']
      ] as const) {
        const headers = type === undefined ? {} : { "content-type": type }
        const response = await answer({ status: 200, headers, body })
        assert.strictEqual(await response.text(), sent, type)
        assert.strictEqual(response.headers.get("content-type"), type ?? "application/json")
      }
      const bytes = await post("/special", { name: "bytes" })
      assert.deepStrictEqual(new Uint8Array(await bytes.arrayBuffer()), new Uint8Array([0, 255, 128]))
      assert.strictEqual(bytes.headers.get("content-type"), "image/png")
      const asJson = await post("/special", { name: "bytesAsJson" })
      assert.deepStrictEqual(await jsonOf(asJson), { 0: 1, 1: 2 })
      const none = await answer({ status: 200 })
      assert.deepStrictEqual([none.status, await none.text()], [200, ""])
      assert.notInclude(none.headers.get("content-type") ?? "", "json")
    })

    it("passes multipart forms and other bytes to the function as base64", async () => {
      const form = new FormData()
      form.set("name", "å")
      form.set("file", new Blob([new Uint8Array([0, 255])]), "a.bin")
      const multipart = new Response(form)
      const type = multipart.headers.get("content-type") ?? ""
      const sent = new Uint8Array(await multipart.arrayBuffer())
      for (const [body, contentType] of [
        [sent, type],
        [new Uint8Array([0, 255, 128]), "application/octet-stream"],
        [new Uint8Array([0xff, 0xfe]), "text/plain"],
        [new Uint8Array([0xff]), "application/json"],
        [new TextEncoder().encode("<a/>"), "application/xml"]
      ] as const) {
        const response = await send(hook("/echo"), { method: "POST", headers: { "content-type": contentType }, body })
        const request = await jsonOf(response)
        assert.isNull(request.body, contentType)
        assert.strictEqual(request["body-raw"], Buffer.from(body).toString("base64"), contentType)
      }
    })

    it("passes the same request as svc.request", async () => {
      assert.deepStrictEqual(await jsonOf(await post("/context", {})), [true, hook("/context")])
    })

    it("has the whole path unchanged, and the last value of each query name", async () => {
      const response = await send(`${hook("/echo")}?a=1&b=%C3%A6+x&a=2&c&=d`, { method: "POST" })
      const { url, query, method } = await jsonOf(response)
      assert.deepStrictEqual(
        { url, query, method },
        {
          url: hook("/echo"),
          query: { a: "2", b: "æ x", c: "", "": "d" },
          method: "POST"
        }
      )
    })

    it("matches its exact path only", async () => {
      for (const [path, found] of [
        ["/a%20b/%C3%A6", "encoded"],
        ["/slash/", "with"],
        ["/slash", "without"],
        ["/", "root"],
        ["", "root"],
        ["?q", "root"]
      ] as const) {
        const response = await send(hook(path), { method: "POST" })
        assert.deepStrictEqual([response.status, await jsonOf(response)], [200, found], path)
      }
      for (const path of ["/a+b/%C3%A6", "/a%20b/%c3%a6", "/a%20b/", "/slash//", "//", "/%73lash"]) {
        const response = await send(hook(path), { method: "POST" })
        assert.strictEqual(response.status, 404, path)
        assert.strictEqual((await jsonOf(response)).error.code, "not_found")
      }
    })

    it("supports neither HEAD nor OPTIONS", async () => {
      for (const method of ["HEAD", "OPTIONS"]) {
        assert.strictEqual((await send(hook("/read"), { method })).status, 404, method)
      }
      assert.strictEqual(await jsonOf(await send(hook("/read"), { method: "GET" })), "read")
    })
  })
}
