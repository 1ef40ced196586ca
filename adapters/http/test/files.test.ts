import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import type { StartOptions } from "@weft/core"
import { blobs } from "@weft/filesystem"
import { afterAll, beforeAll } from "vitest"
import { backendOfRun, backends } from "./server/Backend.ts"
import { pattern, raw } from "./server/FileClient.ts"
import { startWeft, TestServer } from "./server/TestServer.ts"

const dir = mkdtempSync(join(tmpdir(), "weft-http-files-"))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

/** Backends by their names in the API. */
const blobStores = {
  memory: { memory: backends.memory.blobs },
  "SQLite and files": { filesystem: blobs({ dir }) },
  "PostgreSQL and S3": { s3: backends["PostgreSQL and S3"].blobs }
}

for (const [backend, blobStore] of Object.entries<StartOptions["blobs"]>(blobStores[backendOfRun])) {
  describe(`files over HTTP, ${backend}`, () => {
    let server: TestServer
    beforeAll(async () => {
      server = await TestServer.start({}, null, startWeft({ blobs: blobStore }))
    })
    afterAll(() => server.close())

    const put = (path: string, body: Uint8Array | string, headers = {}) =>
      raw(server, "PUT", `/v1/files/upload/${path}`, { body, headers })
    const stored = async (path: string, body: Uint8Array | string, headers = {}) => {
      const reply = await put(path, body, headers)
      assert.strictEqual(reply.status, 200, reply.body.toString())
      return JSON.parse(reply.body.toString()).data
    }

    it("an upload returns its bytes and its record", async () => {
      const bytes = pattern(3_000_001)
      const uploaded = await stored("docs/a.bin", bytes, { "content-type": "image/x-test; v=1" })
      assert.hasAllKeys(uploaded, [
        "file_id",
        "path",
        "size",
        "etag",
        "content_type",
        "storage_backend",
        "created_at",
        "updated_at"
      ])
      assert.include(uploaded, {
        path: "docs/a.bin",
        size: bytes.length,
        content_type: "image/x-test; v=1",
        storage_backend: backend
      })
      assert.match(uploaded.etag, /^"[A-Za-z0-9]+"$/)

      const got = await server.call("GET", `/v1/files/${uploaded.file_id}`)
      assert.deepStrictEqual(got.json.data, { ...uploaded, created_by_run_id: null, updated_by_run_id: null })

      const down = await raw(server, "GET", `/v1/files/${uploaded.file_id}/download`)
      assert.strictEqual(down.status, 200)
      assert.isTrue(down.body.equals(bytes))
      assert.deepInclude(down.headers, {
        "content-type": "image/x-test; v=1",
        "content-length": String(bytes.length),
        "content-disposition": 'attachment; filename="a.bin"',
        "accept-ranges": "bytes",
        "x-content-type-options": "nosniff",
        "content-security-policy": "default-src 'none'; sandbox",
        etag: uploaded.etag,
        "last-modified": new Date(uploaded.updated_at).toUTCString()
      })
      assert.notProperty(down.headers, "transfer-encoding")
    })

    it("an empty body is an empty file; the default Content-Type is application/octet-stream", async () => {
      const empty = await stored("empty", "")
      assert.include(empty, { size: 0, content_type: "application/octet-stream" })
      const down = await raw(server, "GET", `/v1/files/${empty.file_id}/download`)
      assert.deepInclude(down.headers, { "content-length": "0", "content-type": "application/octet-stream" })
      assert.strictEqual(down.body.length, 0)
    })

    it("a body of unknown length is accepted, in chunks", async () => {
      const bytes = pattern(500_000, 3)
      const file = await stored("chunked", bytes, { "transfer-encoding": "chunked" })
      assert.strictEqual(file.size, bytes.length)
      assert.isTrue((await raw(server, "GET", `/v1/files/${file.file_id}/download`)).body.equals(bytes))
    })

    it("a body above the limit of JSON is accepted, also with a JSON type", async () => {
      const json = JSON.stringify("x".repeat(5_000_000))
      const file = await stored("large.json", json, { "content-type": "application/json" })
      assert.strictEqual(file.size, json.length)
    })

    it("multipart: parts in any order form a file with the same record as an upload", async () => {
      const whole = pattern(5 * 1024 ** 2 * 2 + 77, 5)
      const initiated = await server.call("POST", "/v1/files/uploads", {
        json: { path: "big/b.bin", expected_size: whole.length, content_type: "video/mp4" }
      })
      assert.strictEqual(initiated.status, 201, initiated.text)
      const { upload_id, ...upload } = initiated.json.data
      assert.hasAllKeys(upload, ["path", "part_size", "parts_expected", "expires_at"])
      assert.strictEqual(upload.path, "big/b.bin")
      const cut = 5 * 1024 ** 2
      for (const number of [2, 1, 3]) {
        const body = whole.subarray((number - 1) * cut, number * cut)
        const headers = { "content-type": "application/octet-stream" }
        const reply = await raw(server, "PUT", `/v1/files/uploads/${upload_id}/${number}`, { body, headers })
        assert.strictEqual(reply.status, 200, reply.body.toString())
        const { data } = JSON.parse(reply.body.toString())
        assert.hasAllKeys(data, ["part_number", "size", "etag"])
        assert.include(data, { part_number: number, size: body.length })
      }
      const done = await server.call("POST", `/v1/files/uploads/${upload_id}/complete`)
      assert.strictEqual(done.status, 200, done.text)
      assert.include(done.json.data, { path: "big/b.bin", size: whole.length, content_type: "video/mp4" })
      assert.notProperty(done.json.data, "created_by_run_id")
      const { file_id } = done.json.data
      assert.isTrue((await raw(server, "GET", `/v1/files/${file_id}/download`)).body.equals(whole))
      const range = await raw(server, "GET", `/v1/files/${file_id}/download`, {
        headers: { range: `bytes=${cut - 5}-${cut + 4}` }
      })
      assert.strictEqual(range.status, 206)
      assert.isTrue(range.body.equals(whole.subarray(cut - 5, cut + 5)))
      assert.strictEqual((await server.call("POST", `/v1/files/uploads/${upload_id}/complete`)).status, 404)
    })

    it("an aborted upload accepts no more parts", async () => {
      const { upload_id } = (await server.call("POST", "/v1/files/uploads", { json: { path: "gone" } })).json.data
      await raw(server, "PUT", `/v1/files/uploads/${upload_id}/1`, { body: "part" })
      assert.strictEqual((await server.call("DELETE", `/v1/files/uploads/${upload_id}`)).status, 204)
      assert.strictEqual((await server.call("DELETE", `/v1/files/uploads/${upload_id}`)).status, 404)
      assert.strictEqual((await raw(server, "PUT", `/v1/files/uploads/${upload_id}/2`, { body: "x" })).status, 404)
      assert.strictEqual((await server.call("POST", `/v1/files/uploads/${upload_id}/complete`)).status, 404)
    })

    it("a list is sorted by path, with the page in meta", async () => {
      for (const path of ["list/b", "list/a", "list/c/d"]) await stored(path, path)
      const page = await server.call("GET", "/v1/files?prefix=list/&limit=2&offset=0")
      assert.hasAllKeys(page.json, ["data", "meta"])
      assert.deepStrictEqual(
        page.json.data.map((file: { path: string }) => file.path),
        ["list/a", "list/b"]
      )
      assert.hasAllKeys(page.json.meta, ["total", "limit", "offset", "request_id", "timestamp"])
      assert.include(page.json.meta, { total: 3, limit: 2, offset: 0 })
      assert.hasAllKeys(page.json.data[0], [
        "file_id",
        "path",
        "size",
        "etag",
        "content_type",
        "storage_backend",
        "created_by_run_id",
        "updated_by_run_id",
        "created_at",
        "updated_at"
      ])
      const rest = await server.call("GET", "/v1/files?prefix=list/&limit=2&offset=2")
      assert.deepStrictEqual(
        rest.json.data.map((file: { path: string }) => file.path),
        ["list/c/d"]
      )
      assert.strictEqual((await server.call("GET", "/v1/files?limit=0")).status, 400)
    })

    it("a deleted file is 404, also for a second deletion", async () => {
      const { file_id } = await stored("short-lived", "x")
      assert.strictEqual((await server.call("DELETE", `/v1/files/${file_id}`)).status, 204)
      for (const [method, path] of [
        ["DELETE", `/v1/files/${file_id}`],
        ["GET", `/v1/files/${file_id}`],
        ["GET", `/v1/files/${file_id}/download`],
        ["GET", "/v1/files/no-id"]
      ] as const) {
        assert.strictEqual((await server.call(method, path)).status, 404, `${method} ${path}`)
      }
    })

    if (backend === "filesystem") {
      it("no drafts remain", () => {
        assert.deepStrictEqual(readdirSync(join(dir, "drafts")), [])
        assert.deepStrictEqual(readdirSync(join(dir, "parts")), [])
      })
    }
  })
}
