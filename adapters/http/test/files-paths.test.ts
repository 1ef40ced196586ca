/** Validation of raw upload paths, and permissions on paths. */
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
  it("is decoded once, and otherwise unchanged", async () => {
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

  it("returns 400 for a .. in any encoding, and for forbidden characters", async () => {
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

  it("is validated after the credential and the permission: 401 and 403 come first", async () => {
    const reader = await server.key({ "file:*": ["read", "delete"] })
    for (const sent of ["a/../b", "%zz", "a"]) {
      assert.strictEqual((await put(sent, { token: "nonsense" })).status, 401, sent)
      assert.strictEqual((await put(sent, { token: reader.token })).status, 403, sent)
    }
  })

  it("does not affect other methods", async () => {
    for (const method of ["GET", "POST", "DELETE", "PATCH"]) {
      assert.strictEqual((await raw(server, method, "/v1/files/upload/a/b")).status, 404, method)
    }
  })
})

describe("the content type of an upload", () => {
  it("is stored unchanged, or rejected", async () => {
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
