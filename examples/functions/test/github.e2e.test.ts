/** Uploads and deploys the bundle, sends GitHub's deliveries to its webhook, and checks each run. */
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as z from "zod"
import { bundle } from "../scripts/bundle.ts"
import { secretKey } from "../src/receive.ts"
import { deploy, EventRecord, makeApi, RunRecord, Stats } from "./api.ts"
import { type Ending, expectedEndings } from "./expected.ts"
import { makeHeaders, type Sample, samples, webhookSecret } from "./payloads.ts"
import { type RunningServer, startServer } from "./server.ts"

const Accepted = z.object({ event_id: z.uuid(), event_type: z.string() })
const Failure = z.object({ error: z.object({ name: z.string(), message: z.string() }) })

let server: RunningServer
/** Event id by sample, from the webhook's responses. */
const published = new Map<Sample, string>()

const post = (sample: Sample, headers: Record<string, string> = makeHeaders(sample)): Promise<Response> =>
  fetch(`${server.url}/webhook/default/production/github/events`, { method: "POST", headers, body: sample.body })

beforeAll(async () => {
  server = await startServer()
  const { zip, hash } = await bundle()
  await deploy(makeApi(server), "github", zip, hash)
  await makeApi(server).json("/projects/github/context", { key: secretKey, value: webhookSecret })
}, 60_000)

afterAll(async () => {
  expect(await server.stop()).toBe(0)
}, 40_000)

describe("GitHub's deliveries", () => {
  it("are accepted with a valid signature, otherwise rejected", async () => {
    const waiting = [...samples]
    const send = async () => {
      for (let sample = waiting.pop(); sample !== undefined; sample = waiting.pop()) {
        const response = await post(sample)
        expect(response.status).toBe(202)
        const { event_id, event_type } = Accepted.parse(await response.json())
        expect(event_type).toBe(sample.type)
        published.set(sample, event_id)
      }
    }
    await Promise.all(Array.from({ length: 8 }, send))

    const [sample] = samples
    if (sample === undefined) throw new Error("There are no samples")
    const { "x-hub-signature-256": _, ...unsigned } = makeHeaders(sample)
    expect((await post(sample, unsigned)).status).toBe(400)
    expect((await post(sample, { ...unsigned, "x-hub-signature-256": `sha256=${"0".repeat(64)}` })).status).toBe(401)
  })

  it("are stored as events of their type, without other events", async () => {
    const events = await makeApi(server).list("/events", EventRecord)
    const stored = new Map(events.map((event) => [event.event_id, event]))
    expect(stored.size).toBe(samples.length)
    expect(new Set(published.values()).size).toBe(samples.length)
    for (const [sample, id] of published) {
      const { delivery, event, action, payload, type } = sample
      expect(stored.get(id)).toMatchObject({ event_type: type, event_data: { delivery, event, action, payload } })
    }
  })

  it("cause exactly the expected runs of their handlers", async () => {
    const api = makeApi(server)
    const expected = new Map<string, ReadonlyArray<Ending>>()
    for (const event of await api.list("/events", EventRecord)) {
      expected.set(event.event_id, await expectedEndings(event))
    }
    const handled = [...expected.values()].reduce((sum, endings) => sum + endings.length, 0)
    await untilSettled(handled + webhookCalls)

    for (const [event, endings] of expected) {
      const runs = await api.get(`/events/${event}/runs`, z.array(RunRecord))
      expect(runs.map(toEnding).sort(byText)).toEqual([...endings].sort(byText))
    }
  })

  it("cause statistics that match the lists", async () => {
    const api = makeApi(server)
    const stats = await api.get("/runs/stats", Stats)
    const runs = await api.list("/runs", RunRecord)
    expect(stats.total_runs).toBe(runs.length)
    for (const status of ["running", "succeeded", "failed", "cancelled"] as const) {
      const listed = await api.list(`/runs?status=${status}`, RunRecord)
      expect(listed.map((run) => run.run_id)).toEqual(
        runs.filter((run) => run.status === status).map((run) => run.run_id)
      )
      expect(stats[status]).toBe(listed.length)
    }
    expect((await api.list("/runs?type=call", RunRecord)).length).toBe(webhookCalls)
  })
})

/** One call per sample, and the two rejected calls. */
const webhookCalls = samples.length + 2

/** Waits until `total` runs have ended, then 1 s longer, to detect additional runs. */
const untilSettled = async (total: number): Promise<void> => {
  const deadline = performance.now() + 60_000
  const read = () => makeApi(server).get("/runs/stats", Stats)
  for (let stats = await read(); stats.total_runs < total || stats.running > 0; stats = await read()) {
    if (performance.now() > deadline)
      throw new Error(`${total} runs have not ended within 60 s: ${JSON.stringify(stats)}`)
    await sleep(100)
  }
  await sleep(1_000)
  expect(await read()).toMatchObject({ total_runs: total, running: 0 })
}

const toEnding = (run: RunRecord): Ending =>
  run.status === "failed"
    ? { status: "failed", message: Failure.parse(run.result).error.message }
    : { status: z.literal("succeeded").parse(run.status), result: run.result }

const byText = (a: Ending, b: Ending): number => JSON.stringify(a).localeCompare(JSON.stringify(b))
