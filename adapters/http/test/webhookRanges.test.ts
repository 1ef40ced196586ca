/** `Range` on files that functions return, on each path of a request. */
import type { TrustedModule } from "@weft/core/testing"
import { trustedSandbox } from "@weft/core/testing"
import * as Http from "@weft/http"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { adminToken, startWeft, TestServer } from "./server/TestServer.ts"

const endpoint = (path: string, answer: object, method: "GET" | "POST" = "GET") =>
  Object.assign(() => answer, { meta: { webhook: { service: "s", path, method } } })

const bytes = new TextEncoder().encode("0123456789")
const binary = { "content-type": "application/octet-stream" }

const modules: Readonly<Record<string, TrustedModule>> = {
  app: {
    main: {
      file: endpoint("/file", { status: 200, headers: { ...binary, etag: '"v1"' }, body: bytes }),
      posted: endpoint("/posted", { status: 200, headers: binary, body: bytes }, "POST"),
      text: endpoint("/text", {
        status: 200,
        headers: { "content-type": "text/plain", "accept-ranges": "bytes" },
        body: "é23456789"
      }),
      page: endpoint("/page", { status: 200, headers: { "content-type": "text/html" }, body: "<p>0123</p>" }),
      none: endpoint("/none", { status: 200, headers: { ...binary, "accept-ranges": "none" }, body: bytes }),
      created: endpoint("/created", { status: 201, headers: binary, body: bytes }),
      own: endpoint("/own", { status: 206, headers: { ...binary, "content-range": "bytes 0-9/20" }, body: bytes })
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

const ways: Record<string, (path: string, init: RequestInit) => Promise<Response>> = {
  "over HTTP": (path, init) => fetch(`${server.listening.url}${path}`, init),
  "as a web request": (path, init) => mounted(new Request(`http://weft.test${path}`, init))
}

describe.each(Object.keys(ways))("a range of a file that a function returns, %s", (way) => {
  const ask = async (path: string, headers: Record<string, string>, method = "GET") => {
    const answer = await ways[way]?.(`/webhook/acme/prod/s${path}`, { method, headers })
    return [answer?.status, answer?.headers.get("content-range"), await answer?.text()]
  }

  it("is answered with 206", async () => {
    assert.deepStrictEqual(await ask("/file", { range: "bytes=2-4" }), [206, "bytes 2-4/10", "234"])
    assert.deepStrictEqual(await ask("/file", { range: "bytes=-3" }), [206, "bytes 7-9/10", "789"])
    assert.deepStrictEqual(await ask("/file", { range: "bytes=8-" }), [206, "bytes 8-9/10", "89"])
    assert.deepStrictEqual(await ask("/file", { range: "bytes=5-99" }), [206, "bytes 5-9/10", "56789"])
    // The é takes two bytes.
    assert.deepStrictEqual(await ask("/text", { range: "bytes=0-2" }), [206, "bytes 0-2/10", "é2"])
  })

  it("is 416 outside of the file", async () => {
    assert.deepStrictEqual(await ask("/file", { range: "bytes=10-" }), [416, "bytes */10", ""])
    assert.deepStrictEqual(await ask("/file", { range: "bytes=-0" }), [416, "bytes */10", ""])
  })

  it("is the whole file for several ranges, other units and other methods", async () => {
    const whole = [200, null, "0123456789"]
    for (const range of ["bytes=0-1,3-4", "lines=1-2", "bytes=4-2", "bytes=", "bytes=a-b"]) {
      assert.deepStrictEqual(await ask("/file", { range }), whole, range)
    }
    assert.deepStrictEqual(await ask("/posted", { range: "bytes=0-1" }, "POST"), whole)
    assert.deepStrictEqual(await ask("/file", {}), whole)
  })

  it("depends on the entity tag of If-Range", async () => {
    const whole = [200, null, "0123456789"]
    const part = [206, "bytes 0-1/10", "01"]
    assert.deepStrictEqual(await ask("/file", { range: "bytes=0-1", "if-range": '"v1"' }), part)
    for (const condition of ['"v2"', 'W/"v1"', "Sat, 31 Jan 2026 12:00:00 GMT"]) {
      assert.deepStrictEqual(await ask("/file", { range: "bytes=0-1", "if-range": condition }), whole, condition)
    }
  })

  it("exists only for files, and not if the function decides itself", async () => {
    const headers = { range: "bytes=0-1" }
    assert.deepStrictEqual(await ask("/page", headers), [200, null, "<p>0123</p>"])
    assert.deepStrictEqual(await ask("/none", headers), [200, null, "0123456789"])
    assert.deepStrictEqual(await ask("/created", headers), [201, null, "0123456789"])
    assert.deepStrictEqual(await ask("/own", headers), [206, "bytes 0-9/20", "0123456789"])
  })
})
