/** Durable runs over HTTP: their fields, steps, waits, wake-ups and messages. */
import { assert, describe, it } from "@effect/vitest"
import { type TrustedModule, trustedSandbox } from "@weft/core/testing"
import { afterAll, beforeAll } from "vitest"
import { adminToken, startWeft, TestServer } from "./server/TestServer.ts"
import { SseClient } from "./streams/SseClient.ts"

interface Durable {
  readonly step: (name: string, body: () => unknown, options?: unknown) => Promise<unknown>
  readonly sleep: (name: string, duration: string) => Promise<void>
  readonly waitForEvent: (name: string, wait: unknown) => Promise<unknown>
}

const durable = (event: string, fn: (event: unknown, svc: Durable) => unknown) =>
  Object.assign(fn, { meta: { event, durable: true } })

const large = "x".repeat(200 * 1024)

const functions: TrustedModule = {
  main: {
    onOrder: durable("order", async (_, svc) => {
      await svc.step("charge", () => ({ receipt: "r-1" }))
      await svc
        .step("report", () => {
          throw new RangeError("no printer")
        })
        .catch(() => null)
      await svc.sleep("settle", "2h")
      return svc.step("thank", () => undefined)
    }),
    onWait: durable("wait", (_, svc) => svc.waitForEvent("shipped", { event: "parcel:shipped", timeout: "14d" })),
    onLarge: durable("large", async (_, svc) => {
      for (let n = 0; n < 30; n++) await svc.step(`large ${n}`, () => large)
      await svc.sleep("settle", "2h")
    }),
    onPlain: Object.assign(() => "plain", { meta: { event: "plain" } })
  }
}

let server: TestServer
beforeAll(async () => {
  const weft = startWeft({ sandbox: trustedSandbox({ shop: functions }) })
  server = await TestServer.start({ streamLifetimeMs: 60_000 }, adminToken, weft)
  await server.deploy("shop", "shop")
})
afterAll(async () => {
  await server.call("POST", "/v1/runs/cancel")
  await server.close()
})

const get = async (path: string) => (await server.call("GET", path)).json

/** Publishes an event, and returns its run once `isReady`. */
const start = async (event_type: string, isReady: (run: Record<string, unknown>) => boolean) => {
  const json = { event_type, event_data: null }
  const { event_id } = (await server.call("POST", "/v1/events", { json })).json.data
  while (true) {
    const [run] = (await get(`/v1/events/${event_id}/runs`)).data
    if (run !== undefined && isReady(run)) return run
  }
}

const isSuspended = ({ waiting }: Record<string, unknown>): boolean => waiting !== null && waiting !== undefined
const hasEnded = ({ status }: Record<string, unknown>): boolean => status !== "running"

const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

describe("a durable run", () => {
  it("has fields that other runs do not have", async () => {
    const run = await start("order", isSuspended)
    assert.deepStrictEqual(await get(`/v1/runs/${run.run_id}`).then(({ data }) => data), run)
    assert.deepInclude(run, { status: "running", result: null, durable: true, steps: 2, activations: 1 })
    assert.deepInclude(run.waiting, { for: "timer", name: "settle" })
    assert.match(run.waiting.since, iso)
    assert.strictEqual(Date.parse(run.waiting.until) - Date.parse(run.waiting.since), 2 * 3_600_000)
    const plain = await start("plain", hasEnded)
    for (const field of ["durable", "waiting", "steps", "activations"]) assert.notProperty(plain, field)
    const fields = Object.keys(plain)
    assert.deepStrictEqual(
      Object.keys(run).filter((field) => !fields.includes(field)),
      ["durable", "waiting", "steps", "activations"]
    )
  })

  it("lists its steps with results, errors and attempts, and its open waits", async () => {
    const { run_id } = await start("order", isSuspended)
    const { data, waits, pagination } = await get(`/v1/runs/${run_id}/steps`)
    assert.deepStrictEqual(pagination, { total: 2, limit: 20, offset: 0, has_more: false })
    const [charge, report] = data
    assert.deepStrictEqual(charge, {
      ...{ position: 0, seq: 0, kind: "step", name: "charge", ok: true, attempts: 1, error: null },
      result: { receipt: "r-1" },
      ...{ started_at: charge.started_at, ended_at: charge.ended_at }
    })
    assert.match(charge.ended_at, iso)
    assert.deepInclude(report, { position: 1, name: "report", ok: false, result: null })
    assert.deepInclude(report.error, { name: "RangeError", message: "no printer" })
    const [settle] = waits
    assert.deepStrictEqual(waits, [
      {
        ...{ seq: 2, kind: "sleep", name: "settle", event_type: null, child_event_id: null, attempts: 0 },
        ...{ since: settle.since, until: settle.until }
      }
    ])
    const second = await get(`/v1/runs/${run_id}/steps?limit=1&offset=1`)
    assert.deepStrictEqual([second.data, second.waits, second.pagination.total], [[report], waits, 2])
  })

  it("lists large results in pages of limited size", async () => {
    const { run_id } = await start("large", isSuspended)
    const names: Array<string> = []
    for (let has_more = true; has_more; ) {
      const { data, pagination } = await get(`/v1/runs/${run_id}/steps?limit=100&offset=${names.length}`)
      assert.isBelow(data.length, 30)
      for (const { name, result } of data) {
        assert.strictEqual(result, large)
        names.push(name)
      }
      ;({ has_more } = pagination)
    }
    assert.deepStrictEqual(
      names,
      Array.from({ length: 30 }, (_, n) => `large ${n}`)
    )
  })

  it("is found by what it waits for", async () => {
    const event = await start("wait", isSuspended)
    const idsOf = async (waiting: string) =>
      (await get(`/v1/runs?waiting=${waiting}&limit=100`)).data.map(({ run_id }: { run_id: string }) => run_id)
    assert.deepStrictEqual(await idsOf("event"), [event.run_id])
    assert.include(await idsOf("any"), event.run_id)
    assert.notInclude(await idsOf("timer"), event.run_id)
    assert.deepStrictEqual(await idsOf("token"), [])
    assert.strictEqual((await server.call("GET", "/v1/runs?waiting=nothing")).status, 400)
  })

  it("is not visible to credentials for other projects, and the steps of an unknown run are not found", async () => {
    const { run_id } = await start("order", isSuspended)
    const { token } = await server.key({ "run:other": ["read"], "call:main/other": ["create"] })
    const other = { token }
    assert.strictEqual((await server.call("GET", `/v1/runs/${run_id}/steps`, other)).status, 404)
    assert.strictEqual((await server.call("POST", `/v1/runs/${run_id}/wake`, other)).status, 404)
    const unknown = "01890000-0000-7000-8000-000000000000"
    assert.strictEqual((await server.call("GET", `/v1/runs/${unknown}/steps`)).status, 404)
    assert.strictEqual((await server.call("POST", `/v1/runs/${unknown}/wake`)).status, 404)
  })
})

describe("POST /runs/{run_id}/wake", () => {
  it("ends the sleep of a run, which then continues", async () => {
    const { run_id } = await start("order", isSuspended)
    const { status, json } = await server.call("POST", `/v1/runs/${run_id}/wake`)
    assert.deepStrictEqual([status, json.data.run_id], [200, run_id])
    for (let ended = false; !ended; ) ended = hasEnded((await get(`/v1/runs/${run_id}`)).data)
    const run = (await get(`/v1/runs/${run_id}`)).data
    assert.deepInclude(run, { status: "succeeded", steps: 4, activations: 2, waiting: null })
    const { data, waits } = await get(`/v1/runs/${run_id}/steps`)
    assert.deepStrictEqual([data.length, waits], [4, []])
    assert.deepInclude(data[2], { kind: "sleep", name: "settle", ok: true, result: null })
    const audit = await get("/v1/audit?action=run.wake&limit=1")
    assert.deepInclude(audit.data[0], { object_id: run_id, details: { for: "timer", name: "settle" } })
  })

  it("rejects a run that does not sleep, and says what it waits for", async () => {
    const { run_id } = await start("wait", isSuspended)
    const { status, json } = await server.call("POST", `/v1/runs/${run_id}/wake`)
    assert.deepStrictEqual([status, json.error.code], [400, "bad_request"])
    assert.include(json.error.message, 'The run waits for the event "shipped"')
    const plain = await start("plain", hasEnded)
    const ended = await server.call("POST", `/v1/runs/${plain.run_id}/wake`)
    assert.deepStrictEqual([ended.status, ended.json.error.code], [400, "bad_request"])
  })
})

describe("the messages of a durable run", () => {
  it("are run:step and run:waiting, on the environment and on its stream", async () => {
    const env = await SseClient.open(server, "/v1/env/subscribe")
    const json = { event_type: "order", event_data: null }
    const stream = await SseClient.open(server, "/v1/streams/subscribe-with-event", { json })
    await env.until(() => env.of("run:waiting").length === 1)
    await stream.until(() => stream.of("run:waiting").length === 1)
    env.close()
    stream.close()
    const steps = env.of("run:step").map(({ data }) => data)
    assert.deepStrictEqual(
      steps.map(({ position, kind, name, ok, attempts }) => [position, kind, name, ok, attempts]),
      [
        [0, "step", "charge", true, 1],
        [1, "step", "report", false, 1]
      ]
    )
    const [first] = steps
    assert.hasAllKeys(first, ["run_id", "position", "kind", "name", "ok", "attempts", "ms", "stream_id"])
    const [waiting] = env.of("run:waiting").map(({ data }) => data)
    assert.deepInclude(waiting.waiting, { for: "timer", name: "settle" })
    const { stream_id, ...step } = first
    assert.deepStrictEqual(stream.of("run:step")[0]?.data, { type: "run:step", ...step })
    assert.deepStrictEqual(stream.of("run:waiting")[0]?.data, {
      ...{ type: "run:waiting", run_id: first.run_id },
      waiting: waiting.waiting
    })
  })
})
