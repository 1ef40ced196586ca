/** Data dirs of earlier releases: the current server opens them without loss. */
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { strFromU8, unzipSync } from "fflate"
import { afterAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { Facts } from "./releases/Tenant.ts"
import { startServer } from "./ServerProcess.ts"

const root = mkdtempSync(join(tmpdir(), "weft-upgrade-e2e-"))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const releases = globSync(join(import.meta.dirname, "releases", "*.zip"))

/** Unpacks the data dir of a release and the facts about its content. */
const unpack = (release: string): { readonly dataDir: string; readonly facts: Facts } => {
  const { "facts.json": facts, ...files } = unzipSync(readFileSync(release))
  const folder = join(root, basename(release, ".zip"))
  for (const [name, bytes] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), bytes, { mode: 0o600 })
  }
  return { dataDir: join(folder, "data"), facts: Facts.parse(JSON.parse(strFromU8(facts ?? new Uint8Array()))) }
}

const Runs = z.object({ data: z.array(z.object({ status: z.string(), result: z.unknown() })) })

it("the data of the first release is present", () => {
  expect(releases.map((release) => basename(release))).toContain("0.1.0.zip")
})

describe.each(releases.map((release) => [basename(release, ".zip"), release]))("the data of %s", (_, release) => {
  const { dataDir, facts } = unpack(release)
  const { apiKey, adminToken, secret, metadata } = facts

  it("is complete in the current server, which continues its work", { timeout: 60_000 }, async () => {
    const server = await startServer(dataDir, { WEFT_API_KEY: apiKey, WEFT_ADMIN_TOKEN: adminToken })
    const get = async (path: string): Promise<unknown> => {
      const response = await fetch(server.url + path, { headers: { authorization: `Bearer ${apiKey}` } })
      expect(response.status, path).toBe(200)
      return z.object({ data: z.unknown() }).parse(await response.json()).data
    }
    const post = (path: string, token: string, body: unknown = {}) =>
      fetch(server.url + path, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify(body)
      })
    const runsOf = async (eventId: string) => Runs.parse({ data: await get(`/v1/events/${eventId}/runs`) }).data

    for (const [path, record] of Object.entries(facts.records)) {
      const found = await get(path)
      // Later releases may add fields.
      if (Array.isArray(record)) expect(found, path).toMatchObject(record)
      else expect(found, path).toMatchObject(z.record(z.string(), z.unknown()).parse(record))
    }
    expect(await get("/v1/schedules")).toHaveLength(1)
    expect(await get("/v1/domains")).toMatchObject([{ domain: "hooks.example.com" }])
    const headers = { authorization: `Bearer ${apiKey}` }
    const download = await fetch(`${server.url}/v1/files/${facts.fileId}/download`, { headers })
    expect(await download.text()).toBe(facts.file)

    const read = await post("/webhook/default/production/vault/read", "none")
    expect(await read.json()).toEqual({ secret, file: facts.file })
    const who = await post("/webhook/default/production/vault/who", facts.serviceKey)
    expect(await who.json()).toMatchObject({ type: "service-key", "service-key": { meta: metadata } })

    // The event that was pending at the shutdown is due now, and new events run.
    const done = [{ status: "succeeded", result: { total: 200, secret: secret.length } }]
    await expect.poll(() => runsOf(facts.waitingEventId), { timeout: 20_000 }).toMatchObject(done)
    const published = await post("/v1/events", apiKey, { event_type: "order", event_data: { total: 100 } })
    const { event_id } = z.object({ data: z.object({ event_id: z.string() }) }).parse(await published.json()).data
    await expect.poll(() => runsOf(event_id), { timeout: 20_000 }).toMatchObject(done)
    expect(await server.stop()).toBe(0)
  })
})
