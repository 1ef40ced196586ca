/** Ranges, preconditions and names of downloads, over HTTP. */
import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import { pattern, type RawReply, raw } from "./server/FileClient.ts"
import { TestServer } from "./server/TestServer.ts"

const bytes = pattern(1000)
let server: TestServer
let file: { readonly file_id: string; readonly etag: string; readonly updated_at: string }

beforeAll(async () => {
  server = await TestServer.start()
  file = await upload("docs/report.txt", bytes)
})
afterAll(() => server.close())

const upload = async (path: string, body: Uint8Array) =>
  JSON.parse((await raw(server, "PUT", `/v1/files/upload/${path}`, { body })).body.toString()).data

const get = (headers: Record<string, string>, { method = "GET", id = file.file_id } = {}): Promise<RawReply> =>
  raw(server, method, `/v1/files/${id}/download`, { headers })

const failure = ({ body }: RawReply) => JSON.parse(body.toString()).error

describe("a range request", () => {
  it("returns the bytes and their position", async () => {
    for (const [range, start, end] of [
      ["bytes=0-0", 0, 1],
      ["bytes=0-999", 0, 1000],
      ["bytes=10-19", 10, 20],
      ["bytes=990-", 990, 1000],
      ["bytes=990-5000", 990, 1000],
      ["bytes=-10", 990, 1000],
      ["bytes=-5000", 0, 1000],
      ["Bytes= 5-6 ", 5, 7]
    ] as const) {
      const reply = await get({ range })
      assert.strictEqual(reply.status, 206, range)
      assert.isTrue(reply.body.equals(bytes.subarray(start, end)), range)
      assert.deepInclude(reply.headers, {
        "content-range": `bytes ${start}-${end - 1}/1000`,
        "content-length": String(end - start),
        etag: file.etag
      })
    }
  })

  it("returns 416 with the size if the range is outside the file", async () => {
    const { file_id } = await upload("nothing", new Uint8Array())
    for (const [id, range, size] of [
      [file.file_id, "bytes=1000-", 1000],
      [file.file_id, "bytes=5000-6000", 1000],
      [file.file_id, "bytes=-0", 1000],
      [file_id, "bytes=0-", 0]
    ] as const) {
      const reply = await get({ range }, { id })
      assert.strictEqual(reply.status, 416, range)
      assert.strictEqual(reply.headers["content-range"], `bytes */${size}`)
      assert.strictEqual(failure(reply).code, "bad_request")
      assert.strictEqual(failure(reply).request_id, reply.headers["x-request-id"])
    }
  })

  it("ignores malformed ranges, unknown units and several ranges", async () => {
    const ranges = ["bytes=", "bytes=-", "bytes=5-4", "bytes=a-b", "lines=0-1", "bytes=0-1,5-6", "0-1", "bytes=0--1"]
    for (const range of ranges) {
      const reply = await get({ range })
      assert.strictEqual(reply.status, 200, range)
      assert.strictEqual(reply.body.length, 1000, range)
    }
    assert.strictEqual((await get({ range: "bytes=0-1" }, { method: "HEAD" })).status, 200)
  })

  it("applies If-Range only while the file is unchanged", async () => {
    const range = "bytes=0-9"
    assert.strictEqual((await get({ range, "if-range": file.etag })).status, 206)
    for (const condition of ['"other"', `W/${file.etag}`, "Sat, 31 Jan 2026 12:00:00 GMT", "nonsense"]) {
      assert.strictEqual((await get({ range, "if-range": condition })).status, 200, condition)
    }
  })
})

describe("a precondition", () => {
  it("on the entity tag returns 304 for a current copy", async () => {
    for (const tag of [file.etag, `W/${file.etag}`, "*", `"a", ${file.etag}`]) {
      const reply = await get({ "if-none-match": tag })
      assert.strictEqual(reply.status, 304, tag)
      assert.strictEqual(reply.body.length, 0)
      assert.strictEqual(reply.headers.etag, file.etag)
    }
    for (const tag of ['"other"', file.etag.slice(1, -1)]) {
      assert.strictEqual((await get({ "if-none-match": tag })).status, 200, tag)
    }
  })

  it("on the date returns 304 as well, unless there is one on the entity tag", async () => {
    const at = new Date(file.updated_at)
    const earlier = new Date(at.getTime() - 10_000).toUTCString()
    assert.strictEqual((await get({ "if-modified-since": at.toUTCString() })).status, 304)
    assert.strictEqual((await get({ "if-modified-since": earlier })).status, 200)
    assert.strictEqual((await get({ "if-modified-since": "nonsense" })).status, 200)
    assert.strictEqual((await get({ "if-modified-since": at.toUTCString(), "if-none-match": '"x"' })).status, 200)
  })

  it("returns 412 if the file has changed", async () => {
    assert.strictEqual((await get({ "if-match": file.etag })).status, 200)
    assert.strictEqual((await get({ "if-match": "*" })).status, 200)
    for (const headers of [
      { "if-match": '"other"' },
      { "if-match": `W/${file.etag}` },
      { "if-unmodified-since": "Sat, 31 Jan 2015 12:00:00 GMT" }
    ]) {
      const reply = await get(headers)
      assert.strictEqual(reply.status, 412)
      assert.strictEqual(failure(reply).code, "bad_request")
    }
  })

  it("is evaluated after permission and existence", async () => {
    const { token } = await server.key({ "file:other": ["read"] })
    const headers = { "if-none-match": file.etag }
    const reply = await raw(server, "GET", `/v1/files/${file.file_id}/download`, { headers, token })
    assert.strictEqual(reply.status, 404)
  })
})

describe("a download", () => {
  it("is named after the last segment of the path, with any characters", async () => {
    for (const [path, disposition] of [
      ["a/b/plain.txt", 'attachment; filename="plain.txt"'],
      ["a/%22q%22%3B%20x", "attachment; filename=\"_q_; x\"; filename*=UTF-8''%22q%22%3B%20x"],
      [
        "%C3%A6%C3%B8%C3%A5%20(1).pdf",
        "attachment; filename=\"___ (1).pdf\"; filename*=UTF-8''%C3%A6%C3%B8%C3%A5%20%281%29.pdf"
      ],
      ["%F0%9F%98%80'*", "attachment; filename=\"_'*\"; filename*=UTF-8''%F0%9F%98%80%27%2A"],
      ["100%25", "attachment; filename=\"100_\"; filename*=UTF-8''100%25"]
    ] as const) {
      const { file_id } = await upload(path, new Uint8Array([1]))
      assert.strictEqual((await get({}, { id: file_id })).headers["content-disposition"], disposition)
    }
  })

  it("with HEAD returns the same headers without the bytes", async () => {
    const reply = await get({}, { method: "HEAD" })
    assert.strictEqual(reply.status, 200)
    assert.strictEqual(reply.headers["content-length"], "1000")
    assert.strictEqual(reply.body.length, 0)
  })
})

describe("the zip of a build", () => {
  it("supports ranges and preconditions", async () => {
    const { build_id } = await server.deploy("shop", "shop")
    const path = `/v1/projects/shop/builds/${build_id}/download`
    const whole = await raw(server, "GET", path)
    assert.deepInclude(whole.headers, {
      "content-type": "application/zip",
      "content-disposition": `attachment; filename="build-${build_id}.zip"`,
      "content-length": String(whole.body.length)
    })
    const part = await raw(server, "GET", path, { headers: { range: "bytes=1-3" } })
    assert.strictEqual(part.status, 206)
    assert.isTrue(part.body.equals(whole.body.subarray(1, 4)))
    const again = await raw(server, "GET", path, { headers: { "if-none-match": whole.headers.etag ?? "" } })
    assert.strictEqual(again.status, 304)
  })
})
