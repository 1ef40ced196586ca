/** Writes are on disk before the response, checked by the system calls of a server with default settings. */
import { createHash, randomBytes } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { strToU8, zipSync } from "fflate"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { apiKey, type ServerProcess, startServer } from "./ServerProcess.ts"
import { type SystemCall, systemCalls, tracedTo } from "./SystemCalls.ts"

const source = `
export const hook = async () => ({ status: 200, body: "done" })
hook.meta = { webhook: { service: "durable", path: "/hook", method: "POST" } }
export const slow = () => new Promise((resolve) => setTimeout(resolve, 30_000))
slow.meta = { event: "slow" }
`

const parent = mkdtempSync(join(tmpdir(), "weft-durable-"))
const dir = join(parent, "new", "data")
const trace = join(parent, "calls")
const wal = join(dir, "weft.db-wal")
let server: ServerProcess

beforeAll(async () => {
  server = await startServer(dir, { WEFT_SANDBOX_RUNNERS: "1" }, { through: tracedTo(trace) })
  await server.upload("durable", source)
}, 60_000)
afterAll(async () => {
  await server.kill()
  rmSync(parent, { recursive: true, force: true })
})

/** Sends a request and returns the system calls between its start and its response. */
const recordCalls = async (
  method: string,
  path: string,
  body?: RequestInit["body"]
): Promise<ReadonlyArray<SystemCall>> => {
  // Previous requests may still write in the background.
  await new Promise((resolve) => setTimeout(resolve, 200))
  const before = systemCalls(trace).length
  const isJson = typeof body === "string"
  const response = await fetch(server.url + path, {
    method,
    headers: { authorization: `Bearer ${apiKey}`, ...(isJson ? { "content-type": "application/json" } : {}) },
    ...(body === undefined ? {} : { body })
  })
  expect(`${response.status} ${await response.text()}`).toMatch(/^2/)
  const isResponse = (call: SystemCall) => call.kind === "responded"
  await expect.poll(() => systemCalls(trace).slice(before).some(isResponse)).toBe(true)
  const calls = systemCalls(trace).slice(before)
  return calls.slice(0, calls.findIndex(isResponse))
}

const indexOf = (calls: ReadonlyArray<SystemCall>, isIt: (call: SystemCall) => boolean): number => {
  const index = calls.findIndex(isIt)
  expect(index, JSON.stringify(calls)).toBeGreaterThanOrEqual(0)
  return index
}

const synced = (path: string) => (call: SystemCall) => call.kind === "synced" && call.path === path

/** Expects a sync of the file, its rename, and a sync of the folder, in this order. Returns the position of the last one. */
const expectDurableRename = (calls: ReadonlyArray<SystemCall>, isTo: (path: string) => boolean): number => {
  const moved = indexOf(calls, (call) => call.kind === "renamed" && isTo(call.to))
  const move = calls[moved]
  if (move?.kind !== "renamed") throw new Error("The call is not a rename")
  expect(indexOf(calls, synced(move.from))).toBeLessThan(moved)
  const place = calls.findIndex((call, index) => index > moved && synced(dirname(move.to))(call))
  expect(place, JSON.stringify(calls)).toBeGreaterThan(moved)
  return place
}

const below = (folder: string) => (path: string) => path.startsWith(join(dir, "blobs", folder))

const Builds = z.object({ data: z.array(z.object({ build_id: z.string() })) })
const Runs = z.object({ data: z.array(z.object({ run_id: z.string() })) })
const Upload = z.object({ data: z.object({ upload_id: z.string() }) })

describe("on disk before the response", () => {
  it.each([
    ["an event", "POST", "/v1/events", `{"event_type":"durable","event_data":{}}`],
    ["a webhook's run", "POST", "/webhook/default/production/durable/hook", "{}"],
    ["a project", "POST", "/v1/projects", `{"name":"other"}`],
    ["a secret", "POST", "/v1/projects/durable/context", `{"key":"K","value":"v","description":""}`],
    ["a credential", "POST", "/v1/service-keys", `{"permissions":{"env:*":["read"]}}`]
  ])("%s", async (_record, method, path, body) => {
    indexOf(await recordCalls(method, path, body), synced(wal))
  })

  it("a file: its bytes, its name, then its record", async () => {
    const calls = await recordCalls("PUT", "/v1/files/upload/kept", new Uint8Array(randomBytes(100_000)))
    const place = expectDurableRename(calls, below("content"))
    expect(calls.slice(place).some(synced(wal))).toBe(true)
  })

  it("a multipart upload: each part and the completed file", async () => {
    const { data } = Upload.parse(await server.call("POST", "/v1/files/uploads", { path: "in parts" }))
    const part = await recordCalls("PUT", `/v1/files/uploads/${data.upload_id}/1`, new Uint8Array(randomBytes(50_000)))
    expect(part.slice(expectDurableRename(part, below("parts"))).some(synced(wal))).toBe(true)
    const whole = await recordCalls("POST", `/v1/files/uploads/${data.upload_id}/complete`)
    const linked = indexOf(whole, (call) => call.kind === "renamed" && call.from.includes("/drafts/"))
    expect(whole.slice(linked).filter((call) => call.kind === "synced").length).toBeGreaterThanOrEqual(2)
    expect(whole.slice(linked).some(synced(wal))).toBe(true)
  })

  it("a build", async () => {
    const zip = zipSync({ "index.js": strToU8(source) })
    const form = new FormData()
    form.set("hash", createHash("sha256").update(zip).digest("hex"))
    form.set("file", new Blob([Buffer.from(zip)]), "build.zip")
    const calls = await recordCalls("POST", "/v1/projects/durable/builds", form)
    const place = expectDurableRename(calls, (path) => below("content")(path) && path.endsWith(".zip"))
    expect(calls.slice(place).some(synced(wal))).toBe(true)
  })

  it("a deployment", async () => {
    const { data } = Builds.parse(await server.call("GET", "/v1/projects/durable/builds"))
    const [{ build_id } = { build_id: "none" }] = data
    indexOf(await recordCalls("POST", `/v1/projects/durable/builds/${build_id}/deploy`), synced(wal))
  })

  it("a cancellation", async () => {
    await server.call("POST", "/v1/events", { event_type: "slow", event_data: {} })
    const running = async () => Runs.parse(await server.call("GET", "/v1/runs?status=running")).data
    await expect.poll(async () => (await running()).length).toBe(1)
    const [{ run_id } = { run_id: "none" }] = await running()
    indexOf(await recordCalls("POST", `/v1/runs/${run_id}/cancel`), synced(wal))
  })

  it("at the first start: the folders, the master key and its name, before the first encrypted value", () => {
    const calls = systemCalls(trace)
    const first = indexOf(calls, synced(wal))
    for (const folder of [parent, dirname(dir)]) expect(indexOf(calls, synced(folder))).toBeLessThan(first)
    expect(expectDurableRename(calls, (path) => path === join(dir, "master.key"))).toBeLessThan(first)
    // One of these syncs also makes the name of the database file durable.
    expect(calls.filter(synced(dir)).length).toBeGreaterThanOrEqual(2)
  })
})
