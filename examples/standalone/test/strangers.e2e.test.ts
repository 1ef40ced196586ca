/** Strangers without a credential: what they send costs neither the server's memory nor the time of others. */
import { mkdtempSync, rmSync } from "node:fs"
import { connect, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type ServerProcess, startServer } from "./ServerProcess.ts"

const dataDir = mkdtempSync(join(tmpdir(), "weft-strangers-"))

let server: ServerProcess

beforeAll(async () => {
  server = await startServer(dataDir)
}, 60_000)
afterAll(async () => {
  await server.kill()
  rmSync(dataDir, { recursive: true, force: true })
})

const residentBytes = async (): Promise<number> => {
  // All readers within a second get the same text.
  await sleep(1100)
  const text = await (await fetch(`${server.url}/metrics`)).text()
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1])
}

interface Stranger {
  readonly socket: Socket
  /** Responses so far. */
  readonly responses: () => number
}

const open = (): Stranger => {
  const { hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  let responses = 0
  socket.on("data", (bytes) => {
    responses += bytes.toString("latin1").split("HTTP/1.1 ").length - 1
  })
  // The server closes the connections of attackers.
  socket.on("error", () => undefined)
  return { socket, responses: () => responses }
}

/** Sends a body in chunks of one byte for as long as the server reads it. */
const sendChunks = ({ socket }: Stranger, path: string): void => {
  const block = Buffer.from("1\r\na\r\n".repeat(20_000))
  const send = (): void => {
    while (!socket.destroyed && socket.writable) if (!socket.write(block)) return
  }
  socket.on("drain", send)
  socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`)
  send()
}

/** Requests that another client gets answered meanwhile. */
const checkHealth = async (times: number): Promise<void> => {
  for (let count = 0; count < times; count++) expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
}

const MiB = 1024 * 1024

describe("a stranger", () => {
  it("cannot use memory with bodies in chunks of one byte, read or not", { timeout: 120_000 }, async () => {
    await checkHealth(20)
    const before = await residentBytes()
    for (const path of ["/nothing", "/v1/events", "/webhook/a/b/c/d", "/mcp/a/b/c"]) {
      const strangers = Array.from({ length: 20 }, open)
      for (const stranger of strangers) sendChunks(stranger, path)
      await checkHealth(50)
      expect((await residentBytes()) - before).toBeLessThan(200 * MiB)
      for (const { socket } of strangers) socket.destroy()
    }
    expect((await residentBytes()) - before).toBeLessThan(200 * MiB)
  })

  it("waits for its own pipelined requests, and others do not", { timeout: 120_000 }, async () => {
    const before = await residentBytes()
    for (const path of ["/v1/openapi.json", "/docs", "/metrics", "/v1/events", "/nothing"]) {
      const requests = 5000
      const strangers = Array.from({ length: 10 }, open)
      for (const { socket } of strangers) socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(requests))
      await checkHealth(20)
      const answered = strangers.map(({ responses }) => responses())
      for (const { socket } of strangers) socket.destroy()
      for (const count of answered) expect(count, path).toBeLessThan(requests)
    }
    expect((await residentBytes()) - before).toBeLessThan(500 * MiB)
  })
})
