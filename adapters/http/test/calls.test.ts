import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import { TestServer } from "./server/TestServer.ts"

let server: TestServer

beforeAll(async () => {
  server = await TestServer.start()
  await server.deploy("shop", "shop")
})
afterAll(async () => {
  await server.call("POST", "/v1/runs/cancel")
  await server.close()
})

const call = (json: unknown, headers: Record<string, string> = {}) =>
  server.call("POST", "/v1/calls", { json, headers })

const runOf = async (id: string) => (await server.call("GET", `/v1/runs/${id}`)).json.data

/** Starts a run that continues until it is cancelled. */
const hanging = async (): Promise<string> => (await call({ fn: "main/hang" })).json.data.run_id

/** Returns a run of the handler, and its event. */
const handled = async () => {
  const json = { event_type: "order:created", event_data: { total: 4 } }
  const { event_id, stream_id } = (await server.call("POST", "/v1/events", { json })).json.data
  while (true) {
    const [run] = (await server.call("GET", `/v1/events/${event_id}/runs`)).json.data
    if (run?.status === "succeeded") return { event_id, stream_id, run_id: run.run_id }
  }
}

describe("POST /calls", () => {
  it("returns 201 with the run, which has ended if the call waited for it", async () => {
    const { status, json } = await call({ fn: "shop:main/plain", args: [{ a: 1 }], wait: 10 })
    assert.strictEqual(status, 201)
    assert.include(json.data, { status: "succeeded", run_type: "call", project_name: "shop" })
    assert.deepStrictEqual(json.data.result, { value: { a: 1 } })
    assert.deepStrictEqual(json.data, await runOf(json.data.run_id))
  })

  it("returns 202 with the event if no run can start yet", async () => {
    const first = await call({ fn: "main/alone" })
    assert.strictEqual(first.status, 201)
    const second = await call({ fn: "main/alone" })
    assert.deepStrictEqual([second.status, second.json.data.event_type], [202, "svc:call"])
    await server.call("POST", `/v1/runs/${first.json.data.run_id}/cancel`)
    const runs = `/v1/events/${second.json.data.event_id}/runs`
    while ((await server.call("GET", runs)).json.data.length === 0);
    await server.call("POST", "/v1/runs/cancel")
  })

  it("makes one call per Idempotency-Key", async () => {
    const key = { "idempotency-key": "order-7" }
    const input = { fn: "main/plain", args: [7], wait: 5 }
    const first = await call(input, key)
    const again = await call(input, key)
    assert.strictEqual(again.json.data.run_id, first.json.data.run_id)
    const other = await call({ ...input, args: [8] }, key)
    assert.strictEqual(other.status, 400)
    assert.include(other.json.error.message, "Idempotency-Key")
  })

  it("returns 400 with the name of the invalid field", async () => {
    for (const [json, named] of [
      [{}, "fn"],
      [{ fn: 1 }, "fn"],
      [{ fn: "main/nothing" }, "fn"],
      [{ fn: "main/plain", args: {} }, "args"],
      [{ fn: "main/plain", wait: 301 }, "wait"],
      [{ fn: "main/plain", wait: "1" }, "wait"]
    ] as const) {
      const { status, json: body } = await call(json)
      assert.strictEqual(status, 400, JSON.stringify(json))
      assert.include(body.error.message, named)
    }
  })
})

describe("POST /runs/{run_id}/cancel", () => {
  it("returns 200 with the run, 400 for a second cancellation, and 404 for an unknown run", async () => {
    const id = await hanging()
    const { status, json } = await server.call("POST", `/v1/runs/${id}/cancel`)
    assert.deepStrictEqual([status, json.data.status, json.data.result.error.name], [200, "cancelled", "Cancelled"])
    assert.deepStrictEqual(await runOf(id), json.data)
    assert.strictEqual((await server.call("POST", `/v1/runs/${id}/cancel`)).status, 400)
    assert.strictEqual((await server.call("POST", "/v1/runs/nonsense/cancel")).status, 404)
  })
})

describe("POST /runs/{run_id}/cancel with cleanup", () => {
  it("lets a durable run clean up, and rejects other runs and durations", async () => {
    await server.deploy("naps", "naps")
    const json = { event_type: "nap", event_data: {} }
    const { event_id } = (await server.call("POST", "/v1/events", { json })).json.data
    const napping = async () => (await server.call("GET", `/v1/events/${event_id}/runs`)).json.data[0]
    while ((await napping()) === undefined);
    const id = (await napping()).run_id
    const tooLong = await server.call("POST", `/v1/runs/${id}/cancel`, { json: { cleanup: "6m" } })
    assert.strictEqual(tooLong.status, 400)
    assert.include(
      tooLong.json.error.message,
      'cleanup must be true or a duration from 1 ms to 5 minutes, such as "30s"'
    )
    const { status, json: body } = await server.call("POST", `/v1/runs/${id}/cancel`, { json: { cleanup: "30s" } })
    assert.deepStrictEqual([status, body.data.status], [200, "running"])
    while ((await runOf(id)).status === "running");
    const run = await runOf(id)
    assert.deepStrictEqual([run.status, run.result.error.name], ["cancelled", "Cancelled"])
    const other = await hanging()
    const refused = await server.call("POST", `/v1/runs/${other}/cancel`, { json: { cleanup: true } })
    assert.strictEqual(refused.status, 400)
    assert.include(refused.json.error.message, "The run is not durable")
    await server.call("POST", `/v1/runs/${other}/cancel`)
  })
})

describe("POST /runs/cancel", () => {
  it("cancels the runs that match the filters, and returns their number", async () => {
    const first = await hanging()
    const second = await hanging()
    const event = (await runOf(second)).event_id
    const cancel = async (query: string) => (await server.call("POST", `/v1/runs/cancel${query}`)).json.data
    assert.deepStrictEqual(await cancel(`?event_id=${event}`), { cancelled: 1 })
    assert.deepStrictEqual(await cancel("?type=schedule"), { cancelled: 0 })
    assert.deepStrictEqual(await cancel("?type=call&time_range=PT1H"), { cancelled: 1 })
    assert.strictEqual((await runOf(first)).status, "cancelled")
    for (const query of ["?event_id=x", "?type=x", "?time_range=x"]) {
      assert.strictEqual((await server.call("POST", `/v1/runs/cancel${query}`)).status, 400)
    }
  })
})

describe("POST /runs/{run_id}/replay", () => {
  it("returns 201 with a new run for the same event and stream, whose origin is the old run", async () => {
    const { run_id, event_id, stream_id } = await handled()
    for (const query of ["", "?build=same", "?build=deployed"]) {
      const { status, json } = await server.call("POST", `/v1/runs/${run_id}/replay${query}`)
      assert.strictEqual(status, 201)
      assert.include(json.data, { event_id, stream_id, run_type: "run", origin_run_id: run_id })
      let { data } = json
      while (data.status === "running") data = await runOf(data.run_id)
      assert.deepStrictEqual(data.result, { doubled: 8 })
    }
    assert.strictEqual((await server.call("GET", `/v1/events/${event_id}/runs`)).json.data.length, 4)
  })

  it("uses the build of the original run, or the deployed build", async () => {
    await server.deploy("versions", "other")
    const { run_id } = (await call({ fn: "versions:main/version", wait: 5 })).json.data
    const { build_id } = (await server.upload("versions", "later")).json.data
    await server.call("POST", `/v1/projects/versions/builds/${build_id}/deploy`)
    const replay = async (build: string) => {
      let { data } = (await server.call("POST", `/v1/runs/${run_id}/replay?build=${build}`)).json
      while (data.status === "running") data = await runOf(data.run_id)
      return data.result
    }
    assert.deepStrictEqual([await replay("same"), await replay("deployed")], [1, 2])
  })

  it("returns 400 if the build is deleted, or the deployed build lacks the function", async () => {
    await server.deploy("gone", "other")
    const { run_id } = (await call({ fn: "gone:main/version", wait: 5 })).json.data
    const { build_id } = (await server.upload("gone", "latest")).json.data
    await server.call("POST", `/v1/projects/gone/builds/${build_id}/deploy`)
    const deployed = await server.call("POST", `/v1/runs/${run_id}/replay?build=deployed`)
    assert.strictEqual(deployed.status, 400)
    assert.include(deployed.json.error.message, "main/version")
    assert.strictEqual((await server.call("DELETE", "/v1/projects/gone")).status, 204)
    const same = await server.call("POST", `/v1/runs/${run_id}/replay`)
    assert.strictEqual(same.status, 400)
    assert.include(same.json.error.message, "was deleted")
  })

  it("returns 400 for a run without an event, and for an invalid build", async () => {
    await server.call("GET", "/webhook/acme/prod/shop/read", { token: null })
    const { data } = (await server.call("GET", "/v1/runs?type=call")).json
    const webhook = data.find((run: { event_id: string | null }) => run.event_id === null)
    const { status, json } = await server.call("POST", `/v1/runs/${webhook.run_id}/replay`)
    assert.strictEqual(status, 400)
    assert.include(json.error.message, "not stored")
    const { run_id } = await handled()
    assert.strictEqual((await server.call("POST", `/v1/runs/${run_id}/replay?build=other`)).status, 400)
    assert.strictEqual((await server.call("POST", "/v1/runs/nonsense/replay")).status, 404)
  })
})

describe("the host", () => {
  it("calls, cancels and replays functions, and reads their logs", async () => {
    const env = server.weft.env(server.env.env_id)
    const called = await env.call({ fn: "main/plain", args: [9], wait: 10 })
    assert.deepStrictEqual(called.run?.result, { value: 9 })
    assert.deepStrictEqual(called.event.event_data, { fn: "main/plain", args: [9] })
    const again = await env.runs.replay(called.run?.run_id ?? "")
    assert.strictEqual(again.run?.origin_run_id, called.run?.run_id)

    const first = (await env.call({ fn: "main/hang" })).run?.run_id ?? ""
    await env.call({ fn: "main/hang" })
    const cancelled = await env.runs.cancel(first)
    assert.deepStrictEqual([cancelled.run_id.toString(), cancelled.status], [first, "cancelled"])
    assert.strictEqual(await env.runs.cancelAll({ type: "call" }), 1)
    assert.deepStrictEqual((await env.runs.logs(first)).items, [])
  })
})
