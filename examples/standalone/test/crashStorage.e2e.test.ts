/** Storage that fails: EIO of a broken disk, and EFBIG of a limit on the size of files, on a running server. */
import { execFileSync, spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { strace } from "@weft/tooling/services"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { z } from "zod"
import { apiKey, type ServerProcess, startServer } from "./ServerProcess.ts"

const source = `
export const work = async (event) => event.event_data.n
work.meta = { event: "work" }
`

const Event = z.object({ data: z.object({ event_id: z.string() }) })
const Runs = z.object({ data: z.array(z.object({ status: z.string(), result: z.unknown() })) })
const Files = z.object({ data: z.array(z.object({ file_id: z.string(), path: z.string() })) })
const Failed = z.object({ error: z.object({ code: z.literal("internal_server_error"), request_id: z.string() }) })

let dir: string
let server: ServerProcess
let acknowledged: Map<string, number>
let lastN: number
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "weft-storage-"))
  acknowledged = new Map()
  lastN = 0
  server = await start()
  await server.upload("storage", source)
}, 60_000)
afterEach(async () => {
  await server.kill()
  rmSync(dir, { recursive: true, force: true })
})

const start = () => startServer(dir, { WEFT_SANDBOX_RUNNERS: "1" })

const request = (method: string, path: string, body?: string | Uint8Array<ArrayBuffer>): Promise<Response> =>
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

/** Publishes an event. Returns true if it was acknowledged, and false after the expected rejection. */
const publish = async (): Promise<boolean> => {
  const n = ++lastN
  const event = { event_type: "work", event_data: { n, padding: "x".repeat(4_000) } }
  const response = await request("POST", "/v1/events", JSON.stringify(event))
  if (response.status !== 201) {
    await expectRejected(response)
    return false
  }
  acknowledged.set(Event.parse(await response.json()).data.event_id, n)
  return true
}

const publishUntil = (isAcknowledged: boolean): Promise<void> =>
  expect.poll(publish, { timeout: 30_000, interval: 20 }).toBe(isAcknowledged)

const upload = (path: string, bytes: Uint8Array<ArrayBuffer>) => request("PUT", `/v1/files/upload/${path}`, bytes)

const download = async (path: string): Promise<Buffer> => {
  const { data } = Files.parse(await server.call("GET", `/v1/files?prefix=${path}`))
  const response = await request("GET", `/v1/files/${data[0]?.file_id}/download`)
  expect(response.status).toBe(200)
  return Buffer.from(await response.arrayBuffer())
}

/** Expects that the server has recovered, lost nothing that it acknowledged, and kept no part of `lost`. */
const expectRecovered = async (kept: Uint8Array<ArrayBuffer>): Promise<void> => {
  await publishUntil(true)
  for (const [id, n] of acknowledged) {
    await expect
      .poll(async () => Runs.parse(await server.call("GET", `/v1/events/${id}/runs`)).data, { timeout: 20_000 })
      .toMatchObject([{ status: "succeeded", result: n }])
  }
  expect((await download("kept")).equals(kept)).toBe(true)
  expect((await upload("later", kept)).status).toBe(200)
  expect((await download("later")).equals(kept)).toBe(true)
  expect(Files.parse(await server.call("GET", "/v1/files?prefix=lost")).data).toEqual([])
  expect(readdirSync(join(dir, "blobs", "drafts"))).toEqual([])
}

const databaseFiles = ["weft.db", "weft.db-wal"]

/** Lets system calls of the running server fail. Returns a function that ends this, and expects that some failed. */
const inject = async (rule: string, files: ReadonlyArray<string>): Promise<() => Promise<void>> => {
  strace()
  const only = files.flatMap((file) => ["-P", join(dir, file)])
  const names = rule.slice(0, rule.indexOf(":"))
  const args = ["-f", "-p", String(server.pid), ...only, "-e", `trace=${names}`, "-e", `inject=${rule}`]
  const log = join(dir, "strace")
  const tracer = spawn("strace", [...args, "-o", log], { stdio: ["ignore", "ignore", "pipe"] })
  const exited = once(tracer, "exit")
  let stderr = ""
  tracer.stderr.on("data", (bytes: Buffer) => {
    stderr += bytes.toString()
  })
  await expect.poll(() => stderr, { timeout: 20_000 }).toContain("attached")
  return async () => {
    tracer.kill("SIGINT")
    await exited
    expect(readFileSync(log, "utf8")).toContain("(INJECTED)")
  }
}

describe("storage that fails", { timeout: 120_000 }, () => {
  it.each([
    ["syncs", "fsync,fdatasync:error=EIO", []],
    ["writes of the database", "pwrite64:error=EIO", databaseFiles]
  ])("with EIO in %s rejects writes, and works again afterwards", async (what, rule, files) => {
    const kept = new Uint8Array(randomBytes(100_000))
    expect((await upload("kept", kept)).status).toBe(200)
    await publishUntil(true)
    const stop = await inject(rule, files)
    await publishUntil(false)
    if (what === "syncs") await expectRejected(await upload("lost", new Uint8Array(randomBytes(1_000_000))))
    expect((await request("GET", "/healthz")).status).toBe(200)
    expect((await download("kept")).equals(kept)).toBe(true)
    await stop()
    await expectRecovered(kept)
  })

  it("with EIO in reads of the database rejects requests, and works again afterwards", async () => {
    const kept = new Uint8Array(randomBytes(100_000))
    expect((await upload("kept", kept)).status).toBe(200)
    for (let n = 0; n < 20; n++) await publishUntil(true)
    // Nothing is cached in a new process.
    expect(await server.stop()).toBe(0)
    server = await start()
    const stop = await inject("pread64:error=EIO", databaseFiles)
    for (const path of ["/v1/runs?limit=100", "/v1/events?limit=100", "/v1/files"]) {
      await expectRejected(await request("GET", path))
    }
    await expectRejected(await upload("lost", new Uint8Array(randomBytes(1_000_000))))
    expect((await request("GET", "/healthz")).status).toBe(200)
    await stop()
    await expectRecovered(kept)
  })

  it("with EFBIG at a limit on the size of files rejects only writes, and works again afterwards", async () => {
    const kept = new Uint8Array(randomBytes(100_000))
    expect((await upload("kept", kept)).status).toBe(200)
    await publishUntil(true)
    // Beyond the limit, the system also sends SIGXFSZ, which ends most programs.
    const limit = (bytes: string) => execFileSync("prlimit", ["--pid", String(server.pid), `--fsize=${bytes}:`])
    limit(String(statSync(join(dir, "weft.db-wal")).size + 50_000))
    await publishUntil(false)
    limit("200000")
    await expectRejected(await upload("lost", new Uint8Array(randomBytes(1_000_000))))
    expect((await download("kept")).equals(kept)).toBe(true)
    expect((await request("GET", "/v1/projects")).status).toBe(200)
    limit("unlimited")
    await expectRecovered(kept)
  })
})
