/** Uploads and downloads with slow, disconnecting and invalid clients. */
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { blobs } from "@weft/filesystem"
import { afterAll, beforeAll } from "vitest"
import { eventually, openSocket, pattern, raw, receiveUntil } from "./server/FileClient.ts"
import { startWeft, TestServer } from "./server/TestServer.ts"

/** Blobs are in a folder on every backend, so that tests can see leftovers of a transfer. */
const dir = mkdtempSync(join(tmpdir(), "weft-http-transfers-"))
const drafts = () => readdirSync(join(dir, "drafts"))
let server: TestServer

beforeAll(async () => {
  server = await TestServer.start({}, null, startWeft({ blobs: blobs({ dir }) }))
})
afterAll(async () => {
  await server.close()
  rmSync(dir, { recursive: true, force: true })
})

const head = (path: string, headers: ReadonlyArray<string>, token = server.token) =>
  [`PUT ${path} HTTP/1.1`, "Host: weft", `Authorization: Bearer ${token}`, ...headers, "", ""].join("\r\n")

const listed = async (prefix: string) => (await server.call("GET", `/v1/files?prefix=${prefix}`)).json.meta.total

describe("an upload", () => {
  it("leaves no blob if its client disconnects", async () => {
    for (const framing of ["Content-Length: 1000000", "Transfer-Encoding: chunked"]) {
      const socket = await openSocket(server)
      socket.write(head("/v1/files/upload/torn", [framing]))
      socket.write(framing.startsWith("T") ? `ffff\r\n${"x".repeat(0xffff)}\r\n` : "x".repeat(0xffff))
      await eventually(() => drafts().length === 1)
      socket.destroy()
      await eventually(() => drafts().length === 0)
      assert.strictEqual(await listed("torn"), 0)
    }
  })

  it("of a part keeps the previous part if its client disconnects", async () => {
    const { upload_id } = (await server.call("POST", "/v1/files/uploads", { json: { path: "part" } })).json.data
    await raw(server, "PUT", `/v1/files/uploads/${upload_id}/1`, { body: "the part" })
    const socket = await openSocket(server)
    socket.write(head(`/v1/files/uploads/${upload_id}/1`, ["Content-Length: 1000000"]))
    socket.write("x".repeat(100_000))
    await eventually(() => drafts().length === 1)
    socket.destroy()
    await eventually(() => drafts().length === 0)
    const done = await server.call("POST", `/v1/files/uploads/${upload_id}/complete`)
    assert.strictEqual(done.json.data.size, 8, done.text)
  })

  it("receives 100 Continue once it is authorized", async () => {
    const socket = await openSocket(server)
    socket.write(head("/v1/files/upload/expected", ["Content-Length: 5", "Expect: 100-continue"]))
    assert.strictEqual(await receiveUntil(socket, "\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n")
    socket.write("hello")
    assert.match(await receiveUntil(socket, '"size":5'), /^HTTP\/1\.1 200 /)
    // The connection stays open.
    socket.write("GET /healthz HTTP/1.1\r\nHost: weft\r\n\r\n")
    assert.match(await receiveUntil(socket, "\r\n\r\n"), /^HTTP\/1\.1 200 /)
    socket.destroy()
  })

  it("receives no 100 Continue if it is rejected", async () => {
    const refusals = [
      [head("/v1/files/upload/a", ["Content-Length: 5", "Expect: 100-continue"], "nonsense"), 401],
      [head("/v1/files/upload/a/../b", ["Content-Length: 5", "Expect: 100-continue"]), 400],
      [head("/v1/files/upload/a", [`Content-Length: ${300 * 1024 ** 2 + 1}`, "Expect: 100-continue"]), 400]
    ] as const
    for (const [text, status] of refusals) {
      const socket = await openSocket(server)
      socket.write(text)
      const received = await receiveUntil(socket, "never")
      assert.match(received, new RegExp(`^HTTP/1\\.1 ${status} `))
      assert.match(received.toLowerCase(), /\r\nconnection: close\r\n/)
    }
  })

  it("is rejected by its Content-Length before the body is sent", async () => {
    const socket = await openSocket(server)
    socket.write(head("/v1/files/upload/huge", [`Content-Length: ${300 * 1024 ** 2 + 1}`]))
    const received = await receiveUntil(socket, "request_id")
    assert.match(received, /^HTTP\/1\.1 400 /)
    assert.include(received, "at most 314572800 bytes")
    socket.destroy()

    const { upload_id } = (await server.call("POST", "/v1/files/uploads", { json: { path: "huge" } })).json.data
    const other = await openSocket(server)
    other.write(head(`/v1/files/uploads/${upload_id}/1`, [`Content-Length: ${256 * 1024 ** 2 + 1}`]))
    assert.match(await receiveUntil(other, "request_id"), /^HTTP\/1\.1 400 .*at most 268435456 bytes/s)
    other.destroy()
    assert.deepStrictEqual(drafts(), [])
  })

  it("is not read before the 401", async () => {
    const socket = await openSocket(server)
    socket.write(head("/v1/files/upload/a", ["Content-Length: 1000000"], "nonsense"))
    assert.match(await receiveUntil(socket, "request_id"), /^HTTP\/1\.1 401 /)
    socket.destroy()
  })

  it("is not affected by a concurrent upload to the same path", async () => {
    const slow = await openSocket(server)
    slow.write(head("/v1/files/upload/race", ["Content-Length: 10"]))
    slow.write("slow ")
    await eventually(() => drafts().length === 1)
    const quick = await raw(server, "PUT", "/v1/files/upload/race", { body: "quick" })
    assert.strictEqual(quick.status, 200)
    slow.write("first")
    const answer = await receiveUntil(slow, '"file_id":"')
    assert.match(answer, /^HTTP\/1\.1 200 /)
    slow.destroy()
    const { file_id } = JSON.parse(quick.body.toString()).data
    const down = await raw(server, "GET", `/v1/files/${file_id}/download`)
    assert.strictEqual(down.body.toString(), "slow first")
  })
})

describe("a download", () => {
  it("continues with its original bytes if the file is replaced or deleted", async () => {
    const before = pattern(8_000_000, 1)
    const { file_id } = JSON.parse(
      (await raw(server, "PUT", "/v1/files/upload/read", { body: before })).body.toString()
    ).data
    const socket = await openSocket(server)
    socket.write(
      `GET /v1/files/${file_id}/download HTTP/1.1\r\nHost: weft\r\nConnection: close\r\nAuthorization: Bearer ${server.token}\r\n\r\n`
    )
    const first = await new Promise<Buffer>((resolve) => socket.once("data", resolve))
    socket.pause()
    await raw(server, "PUT", "/v1/files/upload/read", { body: pattern(100, 2) })
    assert.strictEqual((await server.call("DELETE", `/v1/files/${file_id}`)).status, 204)
    const rest: Array<Buffer> = []
    socket.on("data", (chunk: Buffer) => rest.push(chunk))
    socket.resume()
    await new Promise((resolve) => socket.once("close", resolve))
    const whole = Buffer.concat([first, ...rest])
    assert.isTrue(whole.subarray(whole.indexOf("\r\n\r\n") + 4).equals(before))
  })

  it("keeps its bytes separate from others on the same connection, even with slow reads", async () => {
    const contents = [pattern(3_000_000, 1), pattern(2_000_000, 2), pattern(1_000_000, 3)]
    const ids: Array<string> = []
    for (const [index, body] of contents.entries()) {
      const reply = await raw(server, "PUT", `/v1/files/upload/pipelined/${index}`, { body })
      ids.push(JSON.parse(reply.body.toString()).data.file_id)
    }
    const socket = await openSocket(server)
    const requests = ids.map((id, index) =>
      [
        `GET /v1/files/${id}/download HTTP/1.1`,
        "Host: weft",
        `Authorization: Bearer ${server.token}`,
        ...(index === ids.length - 1 ? ["Connection: close"] : []),
        "",
        ""
      ].join("\r\n")
    )
    socket.write(requests.join(""))
    const chunks: Array<Buffer> = []
    socket.on("data", (chunk: Buffer) => {
      chunks.push(chunk)
      if (chunks.length % 16 !== 0) return
      socket.pause()
      setTimeout(() => socket.resume(), 5)
    })
    await new Promise((resolve) => socket.once("close", resolve))
    let rest = Buffer.concat(chunks)
    for (const content of contents) {
      const start = rest.indexOf("\r\n\r\n") + 4
      assert.isTrue(rest.subarray(start, start + content.length).equals(content))
      rest = rest.subarray(start + content.length)
    }
    assert.strictEqual(rest.length, 0)
  })

  it("releases its resources if the client disconnects or does not read", async () => {
    const open = () => readdirSync("/proc/self/fd").length
    const { file_id } = JSON.parse(
      (await raw(server, "PUT", "/v1/files/upload/slow", { body: pattern(30_000_000, 1) })).body.toString()
    ).data
    const before = open()
    const sockets = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const socket = await openSocket(server)
        socket.write(
          `GET /v1/files/${file_id}/download HTTP/1.1\r\nHost: weft\r\nAuthorization: Bearer ${server.token}\r\n\r\n`
        )
        await new Promise((resolve) => socket.once("data", resolve))
        socket.pause()
        return socket
      })
    )
    assert.isAtLeast(open(), before + 5)
    for (const socket of sockets) socket.destroy()
    await eventually(() => open() <= before)
  })
})

describe("a stalled body", () => {
  it("times out after the host's setting, on every route", async () => {
    const patient = await TestServer.start(
      { bodyIdleMs: 300 },
      null,
      startWeft({ blobs: blobs({ dir: join(dir, "p") }) })
    )
    const parts = () => readdirSync(join(dir, "p", "drafts")).length
    try {
      const idle = await openSocket(patient)
      idle.write(head("/v1/files/upload/idle", ["Content-Length: 100"], patient.token))
      idle.write("some")
      await eventually(() => parts() === 1)
      assert.match(await receiveUntil(idle, "never"), /^HTTP\/1\.1 400 .*did not arrive in time/s)
      await eventually(() => parts() === 0)

      // A body that makes progress has no time limit.
      const slow = await openSocket(patient)
      slow.write(head("/v1/files/upload/slow", ["Content-Length: 10"], patient.token))
      for (const char of "0123456789") {
        slow.write(char)
        await new Promise((resolve) => setTimeout(resolve, 120))
      }
      assert.match(await receiveUntil(slow, '"size":10'), /^HTTP\/1\.1 200 /)
      slow.destroy()
    } finally {
      await patient.close()
    }
  })
})
