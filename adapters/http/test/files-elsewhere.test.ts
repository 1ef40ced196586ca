/** Downloads from a store with presigned URLs. */
import { assert, describe, it } from "@effect/vitest"
import { BlobStore } from "@weft/core/adapter"
import { Effect, Layer } from "effect"
import { afterAll, beforeAll } from "vitest"
import { backendOfRun, backends } from "./server/Backend.ts"
import { pattern, raw } from "./server/FileClient.ts"
import { startWeft, TestServer } from "./server/TestServer.ts"

const bytes = pattern(1000)
let server: TestServer
let file: { readonly file_id: string; readonly etag: string }

/** The backend of the run, with URLs that contain the requested headers. */
const blobs = Layer.effect(
  BlobStore,
  Effect.map(BlobStore, (store) =>
    BlobStore.of({
      ...store,
      address: (key, { contentType, contentDisposition }) =>
        Effect.succeed(`https://blobs.example/${key}?${new URLSearchParams({ contentType, contentDisposition })}`)
    })
  )
).pipe(Layer.provide(backends[backendOfRun].blobs))

beforeAll(async () => {
  server = await TestServer.start({}, undefined, startWeft({ blobs }))
  const headers = { "content-type": "text/plain" }
  const { body } = await raw(server, "PUT", "/v1/files/upload/docs/a%20b.txt", { body: bytes, headers })
  file = JSON.parse(body.toString()).data
})
afterAll(() => server.close())

const get = (headers: Record<string, string> = {}, method = "GET", id = file.file_id) =>
  raw(server, method, `/v1/files/${id}/download`, { headers })

describe("a download from a store with presigned URLs", () => {
  it("redirects to an uncached presigned URL with its type and name", async () => {
    const { status, headers, body } = await get()
    assert.strictEqual(status, 307)
    assert.strictEqual(body.length, 0)
    assert.strictEqual(headers["cache-control"], "no-store")
    const address = new URL(headers.location ?? "")
    assert.strictEqual(address.origin, "https://blobs.example")
    assert.match(address.pathname, new RegExp(`^/files/${server.env.env_id}/`))
    assert.strictEqual(address.searchParams.get("contentType"), "text/plain")
    assert.include(address.searchParams.get("contentDisposition") ?? "", "a b.txt")
  })

  it("is served directly for HEAD and range requests", async () => {
    const head = await get({}, "HEAD")
    assert.strictEqual(head.status, 200)
    assert.strictEqual(head.headers["content-length"], "1000")
    const range = await get({ range: "bytes=10-19" })
    assert.strictEqual(range.status, 206)
    assert.isTrue(range.body.equals(bytes.subarray(10, 20)))
    assert.strictEqual((await get({ range: "bytes=2000-" })).status, 416)
    assert.strictEqual((await get({ "if-none-match": file.etag })).status, 304)
    assert.strictEqual((await get({ "if-match": '"another"' })).status, 412)
  })

  it("still requires the permission and the file", async () => {
    assert.strictEqual((await get({ authorization: "Bearer wrong" })).status, 401)
    assert.strictEqual((await get({}, "GET", crypto.randomUUID())).status, 404)
  })
})
