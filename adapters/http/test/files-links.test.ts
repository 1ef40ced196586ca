import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll, vi } from "vitest"
import { TestServer } from "./server/TestServer.ts"

let server: TestServer
beforeAll(async () => {
  server = await TestServer.start()
})
afterAll(() => server.close())

const put = async (path: string, body: string): Promise<string> => {
  const headers = { "content-type": "text/plain" }
  return (await server.call("PUT", `/v1/files/upload/${path}`, { body, headers })).json.data.file_id
}

const link = (file: string, json: unknown) => server.call("POST", `/v1/files/${file}/links`, { json })

describe("POST /v1/files/{file_id}/links", () => {
  it("creates a link that needs no credential, valid for the requested time", async () => {
    const file = await put("reports/today.txt", "hello")
    const made = await link(file, { expires_in: 60 })
    assert.strictEqual(made.status, 201)
    const { origin, pathname, search, searchParams } = new URL(made.json.data.url)
    assert.strictEqual(origin, "https://weft.example.net")
    const left = Number(searchParams.get("expires")) - Date.parse(made.json.meta.timestamp) / 1000
    assert.isTrue(left > 55 && left <= 60, String(left))
    assert.strictEqual((await server.call("GET", `${pathname}${search}`, { token: null })).text, "hello")
    const forged = `${pathname}${search.replace(/expires=\d+/, "expires=99999999999")}`
    assert.strictEqual((await server.call("GET", forged, { token: null })).status, 401)
  })

  it("creates a link that expires", async () => {
    const { url } = (await link(await put("reports/brief.txt", "x"), { expires_in: 3 })).json.data
    const { pathname, search } = new URL(url)
    const statusOf = async () => (await server.call("GET", `${pathname}${search}`, { token: null })).status
    assert.strictEqual(await statusOf(), 200)
    await vi.waitUntil(async () => (await statusOf()) === 401, { timeout: 10_000 })
  })

  it("defaults to an hour, allows a week at most, and requires an existing file", async () => {
    const file = await put("reports/other.txt", "x")
    const { json } = await link(file, {})
    const expires = Number(new URL(json.data.url).searchParams.get("expires"))
    assert.closeTo(expires - Date.parse(json.meta.timestamp) / 1000, 3600, 5)
    for (const expires_in of [0, -1, 1.5, 604_801, "60"]) {
      assert.strictEqual((await link(file, { expires_in })).status, 400, String(expires_in))
    }
    assert.strictEqual((await link("01890000-0000-7000-8000-000000000000", {})).status, 404)
  })
})
