/** The path of an upload is judged as it was sent, and who may upload where. */
import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import { raw } from "./server/FileClient.ts"
import { TestServer } from "./server/TestServer.ts"

let server: TestServer

beforeAll(async () => {
  server = await TestServer.start()
})
afterAll(() => server.close())

const put = (sent: string, { token = server.token, headers = {} } = {}) =>
  raw(server, "PUT", `/v1/files/upload/${sent}`, { token, headers, body: "x" })

const storedAs = async (sent: string): Promise<unknown> => {
  const reply = await put(sent)
  return reply.status === 200 ? JSON.parse(reply.body.toString()).data.path : reply.status
}

describe("the path of an upload", () => {
  it("is decoded once, and nothing else is done to it", async () => {
    for (const [sent, path] of [
      ["a", "a"],
      ["a/b/c", "a/b/c"],
      ["a%2Fb%2Fc2", "a/b/c2"],
      ["with%20space+plus", "with space+plus"],
      ["%25", "%"],
      ["%252e%252e/x", "%2e%2e/x"],
      ["a/...", "a/..."],
      ["a/..b", "a/..b"],
      ["%C3%A6", "æ"],
      ["UPPER", "UPPER"],
      ["a?prefix=b/../c", "a"],
      ["complete", "complete"],
      ["a;b=c&d", "a;b=c&d"],
      ["x".repeat(1024), "x".repeat(1024)],
      ["%61".repeat(1024), "a".repeat(1024)]
    ] as const) {
      assert.strictEqual(await storedAs(sent), path, sent)
    }
  })

  it("with a .. in any writing, or what no path may have, is 400", async () => {
    for (const sent of [
      "..",
      "../x",
      "a/../b",
      "a/..",
      "%2e%2e/x",
      "a/%2E%2e/b",
      "a/.%2e/b",
      "a%2F..%2Fb",
      ".",
      "a/./b",
      "a/%2e",
      "",
      "?x",
      "/a",
      "a//b",
      "a/",
      "%2Fa",
      "a%5Cb",
      "a\\b",
      "a%00b",
      "a%0Ab",
      "a%7F",
      "%",
      "%zz",
      "%C3",
      "%ff",
      "%ED%A0%80",
      "x".repeat(1025),
      "%C3%A6".repeat(513)
    ]) {
      const reply = await put(sent)
      assert.strictEqual(reply.status, 400, sent)
      assert.strictEqual(JSON.parse(reply.body.toString()).error.code, "bad_request", sent)
    }
  })

  it("matters only to who may upload: 401 and 403 come first", async () => {
    const reader = await server.key({ "file:*": ["read", "delete"] })
    for (const sent of ["a/../b", "%zz", "a"]) {
      assert.strictEqual((await put(sent, { token: "nonsense" })).status, 401, sent)
      assert.strictEqual((await put(sent, { token: reader.token })).status, 403, sent)
    }
  })

  it("is another thing for another method", async () => {
    for (const method of ["GET", "POST", "DELETE", "PATCH"]) {
      assert.strictEqual((await raw(server, method, "/v1/files/upload/a/b")).status, 404, method)
    }
  })
})

describe("the content type of an upload", () => {
  it("is stored as it was sent, or refused", async () => {
    const typeOf = async (type: string) => {
      const reply = await put("typed", { headers: { "content-type": type } })
      return reply.status === 200 ? JSON.parse(reply.body.toString()).data.content_type : reply.status
    }
    for (const type of ['text/plain; charset="UTF-8"', "x", "Text/HTML", `a/${"b".repeat(253)}`]) {
      assert.strictEqual(await typeOf(type), type)
    }
    for (const type of [`a/${"b".repeat(254)}`, "text/\u00e6", "a\tb"]) {
      assert.strictEqual(await typeOf(type), 400, type)
    }
  })
})

describe("permissions on files", () => {
  it("create is for new paths, update for those that exist", async () => {
    await put("rights/there")
    const creator = (await server.key({ "file:rights/*": ["create"] })).token
    const updater = (await server.key({ "file:rights/*": ["update"] })).token
    assert.strictEqual((await put("rights/there", { token: creator })).status, 403)
    assert.strictEqual((await put("rights/there", { token: updater })).status, 200)
    assert.strictEqual((await put("rights/new", { token: updater })).status, 403)
    assert.strictEqual((await put("rights/new", { token: creator })).status, 200)
    assert.strictEqual((await put("elsewhere", { token: creator })).status, 403)
    const initiate = (path: string, token: string) =>
      server.call("POST", "/v1/files/uploads", { json: { path }, token })
    assert.strictEqual((await initiate("rights/there", creator)).status, 403)
    assert.strictEqual((await initiate("rights/there", updater)).status, 201)
    assert.strictEqual((await initiate("rights/newer", creator)).status, 201)
  })

  it("reading and deleting are for the paths that were granted; the rest is not there", async () => {
    const { file_id } = JSON.parse((await put("shared/a")).body.toString()).data
    const other = JSON.parse((await put("secret/a")).body.toString()).data
    const { token } = await server.key({ "file:shared/*": ["read"] })
    assert.strictEqual((await server.call("GET", `/v1/files/${file_id}`, { token })).status, 200)
    assert.strictEqual((await server.call("GET", `/v1/files/${other.file_id}`, { token })).status, 404)
    assert.strictEqual((await server.call("GET", `/v1/files/${other.file_id}/download`, { token })).status, 404)
    assert.strictEqual((await server.call("DELETE", `/v1/files/${file_id}`, { token })).status, 403)
    const listed = await server.call("GET", "/v1/files", { token })
    assert.deepStrictEqual(
      listed.json.data.map((file: { path: string }) => file.path),
      ["shared/a"]
    )
    assert.strictEqual(listed.json.meta.total, 1)
  })
})
