import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import { adminToken, type Reply, TestServer } from "./server/TestServer.ts"

let server: TestServer
let deployed: { readonly project_id: string; readonly build_id: string }

beforeAll(async () => {
  server = await TestServer.start()
  deployed = await server.deploy("shop", "shop")
})
afterAll(() => server.close())

const nowhere = "01890000-0000-7000-8000-000000000000"

const refused = (reply: Reply, status: number, code: string): void => {
  assert.strictEqual(reply.status, status, reply.text)
  assert.strictEqual(reply.json.error.code, code)
}

const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** Asks until the answer is as wanted: runs happen behind the events that cause them. */
const eventually = async (ask: () => Promise<Reply>, isWanted: (reply: Reply) => boolean): Promise<Reply> => {
  for (let round = 0; round < 100; round++) {
    const reply = await ask()
    if (isWanted(reply)) return reply
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error("It never came about")
}

describe("status", () => {
  it("is flat and complete", async () => {
    const reply = await server.call("GET", "/v1/status", { token: null })
    assert.deepStrictEqual(Object.keys(reply.json), ["status", "service", "version", "git_sha", "start_time"])
    assert.include(reply.json, { status: "ok", service: "weft", version: "1.2.3", git_sha: "abc" })
    assert.match(reply.json.start_time, timestamp)
  })
})

describe("projects", () => {
  it("are created, read by id and name, renamed and removed", async () => {
    const created = await server.call("POST", "/v1/projects", { json: { name: "A name with ünïcode" } })
    assert.strictEqual(created.status, 201)
    const project = created.json.data
    assert.deepStrictEqual(Object.keys(project), ["project_id", "env_id", "name", "active", "created_at", "updated_at"])
    assert.strictEqual(project.env_id, server.env.env_id)
    assert.match(project.created_at, timestamp)

    for (const handle of [project.project_id, encodeURIComponent(project.name)]) {
      const found = await server.call("GET", `/v1/projects/${handle}`)
      assert.strictEqual(found.status, 200)
      assert.deepStrictEqual(found.json.data, project)
    }
    const renamed = await server.call("PATCH", `/v1/projects/${project.project_id}`, { json: { name: "short" } })
    assert.strictEqual(renamed.status, 200)
    assert.strictEqual(renamed.json.data.name, "short")
    refused(await server.call("GET", `/v1/projects/${encodeURIComponent(project.name)}`), 404, "not_found")

    const removed = await server.call("DELETE", "/v1/projects/short")
    assert.strictEqual(removed.status, 204)
    assert.strictEqual(removed.text, "")
    refused(await server.call("DELETE", "/v1/projects/short"), 404, "not_found")
  })

  it("refuse a name that is taken or is none", async () => {
    refused(await server.call("POST", "/v1/projects", { json: { name: "shop" } }), 400, "bad_request")
    for (const name of ["", "a/b", "x".repeat(129), nowhere]) {
      refused(await server.call("POST", "/v1/projects", { json: { name } }), 400, "bad_request")
    }
  })

  it("are found under names as long as a name can be", async () => {
    const name = "ü".repeat(128)
    assert.strictEqual((await server.call("POST", "/v1/projects", { json: { name } })).status, 201)
    assert.strictEqual((await server.call("GET", `/v1/projects/${encodeURIComponent(name)}`)).status, 200)
    refused(await server.call("GET", `/v1/projects/${"x".repeat(4000)}`), 404, "not_found")
  })
})

describe("builds", () => {
  it("are listed in their project and, with its name, across the environment", async () => {
    const fields = ["build_id", "project_id", "hash", "size", "build_type", "deployed", "active"]
    const rest = ["created_at", "updated_at", "storage_path", "storage_backend"]
    const all = await server.call("GET", "/v1/builds")
    assert.deepStrictEqual(Object.keys(all.json.data[0]), [...fields, ...rest, "project_name"])
    assert.strictEqual(all.json.data[0].project_name, "shop")
    const own = await server.call("GET", "/v1/projects/shop/builds")
    assert.deepStrictEqual(Object.keys(own.json.data[0]), [...fields, ...rest])
    refused(await server.call("GET", "/v1/projects/none/builds"), 404, "not_found")
  })

  it("are read, and the deployed one by that name", async () => {
    const read = await server.call("GET", `/v1/projects/shop/builds/${deployed.build_id}`)
    assert.include(read.json.data, { ...deployed, deployed: true, build_type: "bundle" })
    const current = await server.call("GET", `/v1/projects/${deployed.project_id}/builds/deployed`)
    assert.strictEqual(current.json.data.build_id, deployed.build_id)
    refused(await server.call("GET", "/v1/projects/shop/builds/live"), 404, "not_found")
    for (const id of [nowhere, "nonsense"]) {
      refused(await server.call("GET", `/v1/projects/shop/builds/${id}`), 404, "not_found")
      refused(await server.call("GET", `/v1/projects/shop/builds/${id}/download`), 404, "not_found")
      refused(await server.call("POST", `/v1/projects/shop/builds/${id}/deploy`), 404, "not_found")
    }
  })

  it("have no deployed one until there is one, and a deploy that fails changes nothing", async () => {
    await server.call("POST", "/v1/projects", { json: { name: "fresh" } })
    refused(await server.call("GET", "/v1/projects/fresh/builds/deployed"), 404, "not_found")
    const { build_id } = (await server.upload("fresh", "bad")).json.data
    const failed = await server.call("POST", `/v1/projects/fresh/builds/${build_id}/deploy`)
    refused(failed, 400, "bad_request")
    assert.include(failed.json.error.message, "main/broken")
    refused(await server.call("GET", "/v1/projects/fresh/builds/deployed"), 404, "not_found")
  })

  it("list handlers and schedules of the deployed one by ns, var", async () => {
    const handlers = await server.call("GET", "/v1/projects/shop/event-handlers")
    assert.strictEqual(handlers.status, 200)
    assert.deepStrictEqual(
      handlers.json.data.map((handler: { var: string }) => handler.var),
      ["onCancel", "onOrder"]
    )
    assert.deepStrictEqual(Object.keys(handlers.json.data[0]), [
      "event_handler_id",
      "build_id",
      "event_type",
      "ns",
      "var"
    ])
    const schedules = await server.call("GET", "/v1/projects/shop/schedules")
    assert.deepStrictEqual(Object.keys(schedules.json.data[0]), ["schedule_id", "build_id", "cron", "ns", "var"])
    assert.include(schedules.json.data[0], { build_id: deployed.build_id, cron: "0 3 * * *", var: "nightly" })
    assert.deepStrictEqual((await server.call("GET", "/v1/projects/fresh/schedules")).json.data, [])
    refused(await server.call("GET", "/v1/projects/none/schedules"), 404, "not_found")
  })
})

describe("events and runs", () => {
  it("are published, listed, read, and cause runs", async () => {
    const published = await server.call("POST", "/v1/events", {
      json: { event_type: "order:created", event_data: { total: 21 } }
    })
    assert.strictEqual(published.status, 201)
    const event = published.json.data
    assert.deepStrictEqual(Object.keys(event), [
      "event_id",
      "env_id",
      "stream_id",
      "event_type",
      "event_data",
      "event_time",
      "created_at"
    ])
    assert.deepStrictEqual(event.event_data, { total: 21 })
    assert.deepStrictEqual((await server.call("GET", `/v1/events/${event.event_id}`)).json.data, event)
    assert.strictEqual((await server.call("GET", "/v1/events?limit=1")).json.data[0].event_id, event.event_id)

    const runs = await eventually(
      () => server.call("GET", `/v1/events/${event.event_id}/runs`),
      (reply) => reply.json.data[0]?.status === "succeeded"
    )
    const [run] = runs.json.data
    assert.deepStrictEqual(runs.json.pagination, { total: 1, limit: 20, offset: 0, has_more: false })
    assert.include(run, {
      run_type: "event",
      event_id: event.event_id,
      stream_id: event.stream_id,
      origin_run_id: null
    })
    assert.include(run, { ...deployed, project_name: "shop", env_id: server.env.env_id })
    assert.deepStrictEqual(run.result, { doubled: 42 })
    assert.match(run.stop_time, timestamp)
    assert.deepStrictEqual((await server.call("GET", `/v1/runs/${run.run_id}`)).json.data, run)

    const usage = await server.call("GET", `/v1/runs/${run.run_id}/usage`)
    assert.hasAllKeys(usage.json.data, ["ns", "var", "attempt", "cpu_ms", "wall_ms", "heap_bytes"])
    assert.include(usage.json.data, { ns: "main", var: "onOrder", attempt: 1 })
    const logs = await server.call("GET", `/v1/runs/${run.run_id}/logs`)
    assert.strictEqual(logs.status, 200)
    const stats = (await server.call("GET", "/v1/runs/stats")).json.data
    assert.deepStrictEqual(Object.keys(stats), ["total_runs", "running", "succeeded", "failed", "cancelled"])
    assert.isAtLeast(stats.succeeded, 1)
  })

  it("go on with a stream that the publisher names", async () => {
    const json = { event_type: "plain", event_data: [1], stream_id: nowhere }
    assert.strictEqual((await server.call("POST", "/v1/events", { json })).json.data.stream_id, nowhere)
  })

  it("refuse the reserved prefix", async () => {
    refused(
      await server.call("POST", "/v1/events", { json: { event_type: "svc:other", event_data: 1 } }),
      400,
      "bad_request"
    )
  })

  it("are not found under what is no id or no longer there", async () => {
    for (const id of [nowhere, "nonsense"]) {
      for (const path of [`events/${id}`, `events/${id}/runs`, `runs/${id}`, `runs/${id}/logs`, `runs/${id}/usage`]) {
        refused(await server.call("GET", `/v1/${path}`), 404, "not_found")
      }
    }
  })

  it("are filtered by status, type and time", async () => {
    await eventually(
      () => server.call("GET", "/v1/runs?status=succeeded&type=event&time_range=P1D"),
      (reply) => reply.json.data.length > 0
    )
    assert.deepStrictEqual((await server.call("GET", "/v1/runs?status=cancelled")).json.data, [])
    assert.deepStrictEqual((await server.call("GET", "/v1/runs?type=schedule")).json.data, [])
    assert.deepStrictEqual((await server.call("GET", "/v1/runs?time_range=PT0S")).json.data, [])
    assert.strictEqual((await server.call("GET", "/v1/runs?time_range=P999999999Y")).status, 200)
    for (const query of ["status=done", "type=cron", "time_range=7D", "time_range="]) {
      const reply = await server.call("GET", `/v1/runs?${query}`)
      refused(reply, 400, "bad_request")
      assert.include(reply.json.error.message, query.split("=")[0] ?? "")
    }
  })
})

describe("the environment", () => {
  it("is that of the credential", async () => {
    const reply = await server.call("GET", "/v1/env")
    const { env_id, org_id } = server.env
    assert.deepStrictEqual(reply.json.data, { env_id, org_id, org_slug: "acme", name: "prod", active: true })
  })

  it("hides what belongs to others", async () => {
    const other = await server.weft.envs.create("acme", { name: "staging" })
    const created = await server.call("POST", `/admin/envs/${other.env_id}/api-keys`, { token: adminToken, json: {} })
    const { token } = created.json.data
    assert.deepStrictEqual((await server.call("GET", "/v1/projects", { token })).json.data, [])
    refused(await server.call("GET", `/v1/projects/${deployed.project_id}`, { token }), 404, "not_found")
  })
})
