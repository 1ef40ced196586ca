import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import { TestServer } from "./server/TestServer.ts"

const unknownId = "01890000-0000-7000-8000-000000000000"

let server: TestServer
let shop: string
beforeAll(async () => {
  server = await TestServer.start()
  shop = (await server.deploy("shop", "shop")).project_id
  await server.deploy("other", "other")
})
afterAll(() => server.close())

const publish = (type: string, event_data: unknown, token = server.token) =>
  server.call("POST", "/v1/events", { json: { event_type: `svc:schedule:${type}`, event_data }, token })

const create = async (event_data: object): Promise<string> => {
  const { status, json, text } = await publish("new", event_data)
  assert.strictEqual(status, 201, text)
  return json.data.event_id
}

const list = async (query = "", token = server.token) =>
  (await server.call("GET", `/v1/schedules${query}`, { token })).json

const idsOf = async (token = server.token): Promise<ReadonlyArray<string>> =>
  (await list("", token)).data.map((schedule: { schedule_id: string }) => schedule.schedule_id)

/** Returns the ended run of a schedule, and the event of its tick. */
const firedBy = async (scheduleId: string) => {
  while (true) {
    const { data: events } = (await server.call("GET", "/v1/events?limit=100")).json
    const event = events.find(
      (one: { event_data: { schedule_id?: string } }) => one.event_data?.schedule_id === scheduleId
    )
    if (event === undefined) continue
    const [run] = (await server.call("GET", `/v1/events/${event.event_id}/runs`)).json.data
    if (run?.stop_time != null) return { event, run }
  }
}

describe("svc:schedule:new", () => {
  it("creates a one-time schedule, whose tick is an event svc:schedule with fn and args", async () => {
    const id = await create({ fn: "main/plain", args: [{ n: 1 }], schedule: "PT0.2S" })
    const { event, run } = await firedBy(id)
    assert.include(event, { event_type: "svc:schedule", event_time: event.event_data.scheduled_time })
    assert.deepStrictEqual(event.event_data, {
      fn: "main/plain",
      args: [{ n: 1 }],
      schedule_id: id,
      scheduled_time: event.event_data.scheduled_time,
      cron: null
    })
    assert.include(run, { run_type: "schedule", status: "succeeded", event_id: event.event_id, project_name: "shop" })
    assert.deepStrictEqual(run.result, { value: { n: 1 } })
    assert.notInclude(await idsOf(), id)
  })

  it("creates a recurring schedule, which is listed with its next time", async () => {
    const before = Date.now()
    const id = await create({ fn: "shop:main/plain", schedule: "0 0 1 1 *", timezone: "Asia/Kathmandu" })
    const [schedule] = (await list()).data
    assert.isAtLeast(Date.parse(schedule.created_at), before - 1)
    const year = new Date().getUTCFullYear()
    assert.match(schedule.next_at, new RegExp(`^(${year}|${year + 1})-12-31T18:15:00\\.000Z$`))
    const { created_at, next_at } = schedule
    assert.deepStrictEqual(schedule, {
      ...{ schedule_id: id, project_id: shop, ns: "main", var: "plain", args: [] },
      ...{ cron: "0 0 1 1 *", timezone: "Asia/Kathmandu", next_at, created_at }
    })
  })

  it("creates one schedule per Idempotency-Key", async () => {
    const json = { event_type: "svc:schedule:new", event_data: { fn: "main/plain", schedule: "P2D" } }
    const headers = { "idempotency-key": "schedule-once" }
    const ask = async () => (await server.call("POST", "/v1/events", { json, headers })).json.data.event_id
    const [one, two] = await Promise.all([ask(), ask()])
    assert.deepStrictEqual([one, one], [two, await ask()])
    assert.strictEqual((await idsOf()).filter((id) => id === one).length, 1)
  })
})

describe("/schedules", () => {
  it("lists and deletes schedules of the projects that the credential may read and deploy", async () => {
    const ours = await create({ fn: "main/plain", schedule: "P4D" })
    const theirs = await create({ fn: "other:main/version", schedule: "P4D" })
    const { token } = await server.key({ "build:other": ["read", "execute"] })
    assert.deepStrictEqual(await idsOf(token), [theirs])
    const remove = async (id: string) => (await server.call("DELETE", `/v1/schedules/${id}`, { token })).status
    assert.strictEqual(await remove(ours), 404)
    assert.strictEqual(await remove(theirs), 204)
    assert.deepStrictEqual([await remove(theirs), await remove("x"), await remove(unknownId)], [404, 404, 404])
    const { data, pagination } = await list("?limit=1&offset=0")
    assert.deepStrictEqual([data[0].schedule_id, data.length], [ours, 1])
    assert.deepStrictEqual([pagination.limit, pagination.has_more], [1, true])
  })

  it("lists the same for hosts", async () => {
    const id = await create({ fn: "main/plain", schedule: "P5D" })
    const { schedules } = server.weft.env(server.env.env_id)
    const { items, total } = await schedules.list({ limit: 1, offset: 0 })
    assert.deepStrictEqual([items[0]?.schedule_id, total], [id, (await idsOf()).length])
    await schedules.remove(id)
    assert.notInclude(await idsOf(), id)
  })

  it("does not contain schedules that builds declare", async () => {
    const { data } = (await server.call("GET", "/v1/projects/shop/schedules")).json
    assert.include(data[0], { cron: "0 3 * * *", ns: "main", var: "nightly" })
    assert.notInclude(await idsOf(), data[0].schedule_id)
    assert.strictEqual((await server.call("DELETE", `/v1/schedules/${data[0].schedule_id}`)).status, 404)
  })
})

describe("GET /v1/schedules/ticks", () => {
  const upcoming = async (query = "") => server.call("GET", `/v1/schedules/ticks${query}`)

  it("lists schedules of functions with their ticks of the next days", async () => {
    const id = await create({ fn: "main/plain", schedule: "0 3 * * *", timezone: "Europe/Oslo" })
    const find = async (query: string) =>
      (await upcoming(query)).json.data.find((one: { schedule_id: string }) => one.schedule_id === id)
    const week = await find("?limit=100")
    assert.include(week, { kind: "dynamic", ns: "main", var: "plain", cron: "0 3 * * *", more: false })
    assert.strictEqual(week.ticks.length, 7)
    assert.strictEqual(week.ticks[0], week.next_at)
    assert.strictEqual((await find("?limit=100&days=1")).ticks.length, 1)
    await server.call("DELETE", `/v1/schedules/${id}`)
  })

  it("rejects a period of no day, and of more than 31", async () => {
    for (const days of ["0", "32", "x"]) {
      const { status, json } = await upcoming(`?days=${days}`)
      assert.strictEqual(status, 400)
      assert.include(json.error.message, "days")
    }
  })
})
