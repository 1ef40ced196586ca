/** A full or read-only disk: requests get an error, no acknowledged event is lost, and the server recovers when there is space. */
import { randomBytes } from "node:crypto"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, describe, expect, it } from "vitest"
import { z } from "zod"
import { apiKey, type ServerProcess, startServer } from "./ServerProcess.ts"
import { fill, onDisk, pathWithin, readOnly } from "./SmallDisk.ts"

const source = `
export const work = async (event) => event.event_data.n
work.meta = { event: "work" }
export const hook = async (request) => ({ status: 200, body: { n: request.body.n } })
hook.meta = { webhook: { service: "disk", path: "/hook", method: "POST" } }
`

const ends: Array<() => unknown> = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const newDir = (): string => {
  const dir = mkdtempSync(join(tmpdir(), "weft-disk-"))
  ends.push(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

const startOnDisk = async (dir: string): Promise<ServerProcess> => {
  const server = await startServer(dir, { WEFT_SANDBOX_RUNNERS: "1" }, { through: onDisk(dir, "24m") })
  ends.push(server.kill)
  await server.upload("disk", source)
  return server
}

const Event = z.object({ data: z.object({ event_id: z.string() }) })
const Runs = z.object({ data: z.array(z.object({ status: z.string(), result: z.unknown() })) })
const Files = z.object({ data: z.array(z.object({ file_id: z.string(), path: z.string() })) })
const Failed = z.object({ error: z.object({ code: z.literal("internal_server_error"), request_id: z.string() }) })

const request = (server: ServerProcess, method: string, path: string, body?: string | Uint8Array<ArrayBuffer>) =>
  fetch(server.url + path, {
    method,
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    signal: AbortSignal.timeout(20_000),
    ...(body === undefined ? {} : { body })
  })

/** Expects 500 with the error envelope and Retry-After. */
const expectRejected = async (response: Response): Promise<void> => {
  const text = await response.text()
  expect(`${response.status} ${text}`).toMatch(/^500 /)
  Failed.parse(JSON.parse(text))
  expect(response.headers.get("retry-after")).toMatch(/^[1-9]\d*$/)
}

class Writer {
  readonly acknowledged = new Map<string, number>()
  readonly #server: ServerProcess
  #n = 0

  constructor(server: ServerProcess) {
    this.#server = server
  }

  /** Publishes an event. Returns true if it was acknowledged, and false after the expected rejection. */
  async publish(): Promise<boolean> {
    const n = ++this.#n
    const data = { n, padding: "x".repeat(4_000) }
    const response = await request(
      this.#server,
      "POST",
      "/v1/events",
      JSON.stringify({ event_type: "work", event_data: data })
    )
    if (response.status !== 201) {
      await expectRejected(response)
      return false
    }
    this.acknowledged.set(Event.parse(await response.json()).data.event_id, n)
    return true
  }

  async publishUntil(isAcknowledged: boolean): Promise<void> {
    const deadline = performance.now() + 20_000
    while ((await this.publish()) !== isAcknowledged) {
      if (performance.now() > deadline)
        throw new Error(`Events are still ${isAcknowledged ? "rejected" : "accepted"} after 20 s`)
    }
  }

  /** Expects that each event was handled once. */
  async expectAll(): Promise<void> {
    for (const [id, n] of this.acknowledged) {
      await expect
        .poll(async () => Runs.parse(await this.#server.call("GET", `/v1/events/${id}/runs`)).data, { timeout: 20_000 })
        .toEqual([{ status: "succeeded", result: n }])
    }
  }
}

const upload = (server: ServerProcess, path: string, bytes: Uint8Array<ArrayBuffer>) =>
  request(server, "PUT", `/v1/files/upload/${path}`, bytes)

const download = async (server: ServerProcess, path: string): Promise<Buffer> => {
  const { data } = Files.parse(await server.call("GET", `/v1/files?prefix=${path}`))
  const response = await request(server, "GET", `/v1/files/${data[0]?.file_id}/download`)
  expect(response.status).toBe(200)
  return Buffer.from(await response.arrayBuffer())
}

const drafts = (server: ServerProcess, dir: string): ReadonlyArray<string> =>
  readdirSync(join(pathWithin(server, dir), "blobs", "drafts"))

/** Expects that reads still work. */
const expectReads = async (server: ServerProcess, kept: Uint8Array): Promise<void> => {
  expect((await download(server, "kept")).equals(kept)).toBe(true)
  for (const path of ["/v1/projects", "/v1/events", "/v1/runs/stats", "/healthz"]) {
    expect(`${path} ${(await request(server, "GET", path)).status}`).toBe(`${path} 200`)
  }
}

describe("a disk", { timeout: 120_000 }, () => {
  it("that is full fails only writes, until it has space again", async () => {
    const dir = newDir()
    const server = await startOnDisk(dir)
    const writer = new Writer(server)
    const kept = new Uint8Array(randomBytes(100_000))
    expect((await upload(server, "kept", kept)).status).toBe(200)
    await writer.publish()

    for (let time = 0; time < 2; time++) {
      const freeSpace = fill(server, dir)
      await writer.publishUntil(false)
      await expectRejected(await upload(server, "lost", new Uint8Array(randomBytes(1_000_000))))
      await expectRejected(await request(server, "POST", "/webhook/default/production/disk/hook", `{"n":1}`))
      await expectRejected(await request(server, "POST", "/v1/projects", `{"name":"other"}`))
      await expectReads(server, kept)
      expect(drafts(server, dir)).toEqual([])
      freeSpace()
      await writer.publishUntil(true)
      expect((await upload(server, `later-${time}`, kept)).status).toBe(200)
      expect((await download(server, `later-${time}`)).equals(kept)).toBe(true)
      await expectReads(server, kept)
      expect(await server.call("POST", "/webhook/default/production/disk/hook", { n: 2 })).toEqual({ n: 2 })
    }
    await writer.expectAll()
    // The operator finds the reason in the log.
    expect(server.output()).toContain("database or disk is full")
    expect(Files.parse(await server.call("GET", "/v1/files?prefix=lost")).data).toEqual([])
    expect(await server.stop()).toBe(0)
  })

  it("that is read-only fails the start with its path and the reason, with or without data on it", async () => {
    const dir = newDir()
    const lines: Array<string> = []
    const startReadOnly = (through: ReadonlyArray<string>) =>
      startServer(dir, {}, { through, onOutput: (text) => lines.push(text) })
    await expect(startReadOnly(onDisk(dir, "24m", true))).rejects.toThrow("exited with code 1")
    expect(lines.join("")).toMatch(
      /^weft: WEFT_DATA_DIR must be a folder that this user can write: EROFS: read-only file system, [^\n]*\n$/
    )
    expect(lines.join("")).toContain(dir)

    expect(await (await startServer(dir)).stop()).toBe(0)
    lines.length = 0
    await expect(startReadOnly(readOnly(dir))).rejects.toThrow("exited with code 1")
    expect(lines.join("")).toMatch(
      /^weft: WEFT_DATA_DIR does not work: The database [^\n]* cannot be used: EROFS: read-only file system, [^\n]*\n$/
    )
  })
})
