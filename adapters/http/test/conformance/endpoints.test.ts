import { assert, it } from "@effect/vitest"
import { trustedZip } from "@weft/core/testing"
import { modules } from "../server/functions.ts"
import { hashOf, uploadForm } from "../server/TestServer.ts"
import { onBackendOfRun } from "./Backends.ts"
import { checkRecord, eventually, fields, list, refused, single } from "./Fields.ts"

onBackendOfRun({ modules }, ({ server }) => {
  const call = (...args: Parameters<ReturnType<typeof server>["call"]>) => server().call(...args)
  const unknownId = "01890000-0000-7000-8000-000000000000"

  it("GET /status", async () => {
    const reply = await call("GET", "/v1/status", { token: null })
    assert.strictEqual(reply.status, 200)
    checkRecord(reply.json, fields.status)
    assert.include(reply.json, { status: "ok", service: "weft", version: "1.2.3", git_sha: "abc" })
  })

  it("POST /projects", async () => {
    const project = single(await call("POST", "/v1/projects", { json: { name: "made" } }), 201, fields.project)
    assert.include(project, { name: "made", active: true, env_id: server().env.env_id })
    for (const json of [{}, { name: "made" }, { name: "a/b" }]) {
      refused(await call("POST", "/v1/projects", { json }), 400, "bad_request")
    }
    const name = "ü".repeat(128)
    single(await call("POST", "/v1/projects", { json: { name } }), 201, fields.project)
    assert.strictEqual((await call("GET", `/v1/projects/${encodeURIComponent(name)}`)).status, 200)
    refused(await call("GET", `/v1/projects/${"x".repeat(4000)}`), 404, "not_found")
  })

  it("GET /projects", async () => {
    await call("POST", "/v1/projects", { json: { name: "one" } })
    await call("POST", "/v1/projects", { json: { name: "two" } })
    const names = list(await call("GET", "/v1/projects?limit=2"), fields.project).map(
      (project: { name: string }) => project.name
    )
    assert.deepStrictEqual(names, ["two", "one"])
    const [second] = list(await call("GET", "/v1/projects?limit=1&offset=1"), fields.project)
    assert.strictEqual(second.name, "one")
  })

  it("GET /projects/{project_id_or_slug}", async () => {
    const { project_id } = single(await call("POST", "/v1/projects", { json: { name: "both" } }), 201, fields.project)
    const byId = single(await call("GET", `/v1/projects/${project_id}`), 200, fields.project)
    assert.deepStrictEqual(single(await call("GET", "/v1/projects/both"), 200, fields.project), byId)
    refused(await call("GET", "/v1/projects/none"), 404, "not_found")
  })

  it("PATCH /projects/{project_id_or_slug}", async () => {
    const { project_id } = single(await call("POST", "/v1/projects", { json: { name: "before" } }), 201, fields.project)
    const renamed = single(await call("PATCH", "/v1/projects/before", { json: { name: "after" } }), 200, fields.project)
    assert.include(renamed, { project_id, name: "after" })
    refused(await call("GET", "/v1/projects/before"), 404, "not_found")
    refused(await call("PATCH", "/v1/projects/none", { json: { name: "x" } }), 404, "not_found")
  })

  it("DELETE /projects/{project_id_or_slug}", async () => {
    await call("POST", "/v1/projects", { json: { name: "gone" } })
    assert.strictEqual((await call("DELETE", "/v1/projects/gone")).status, 204)
    refused(await call("DELETE", "/v1/projects/gone"), 404, "not_found")
  })

  it("POST /projects/{project_id_or_slug}/builds", async () => {
    await call("POST", "/v1/projects", { json: { name: "uploads" } })
    const build_id = "01890000-0000-4000-8000-0000000000ab"
    const first = await server().upload("uploads", "shop", { build_id })
    const build = single(first, 201, fields.uploadedBuild)
    assert.isNull(first.headers.get("x-build-exists"))
    assert.include(build, { build_id, hash: hashOf(trustedZip("shop")), size: trustedZip("shop").length })
    const again = await server().upload("uploads", "shop", { build_id })
    assert.deepStrictEqual(single(again, 200, fields.uploadedBuild), build)
    assert.strictEqual(again.headers.get("x-build-exists"), "true")
    const form = uploadForm("shop", { hash: "0".repeat(64) })
    assert.match(refused(await call("POST", "/v1/projects/uploads/builds", { body: form }), 400, "bad_request"), /hash/)
    for (const field of ["file", "hash"]) {
      const incomplete = uploadForm("shop")
      incomplete.delete(field)
      refused(await call("POST", "/v1/projects/uploads/builds", { body: incomplete }), 400, "bad_request")
    }
  })

  it("GET /builds and GET /projects/{project_id_or_slug}/builds", async () => {
    const { build_id } = await server().deploy("listed", "other")
    const [newest] = list(await call("GET", "/v1/builds?limit=1"), [...fields.build, "project_name"])
    assert.include(newest, { build_id, project_name: "listed" })
    const own = list(await call("GET", "/v1/projects/listed/builds"), fields.build)
    assert.strictEqual(own.length, 1)
    refused(await call("GET", "/v1/projects/none/builds"), 404, "not_found")
  })

  it("GET /projects/{project_id_or_slug}/builds/{build_id}", async () => {
    const { build_id } = await server().deploy("single", "other")
    const build = single(await call("GET", `/v1/projects/single/builds/${build_id}`), 200, fields.build)
    assert.include(build, { build_id, build_type: "bundle", deployed: true, active: true })
    refused(await call("GET", `/v1/projects/listed/builds/${build_id}`), 404, "not_found")
    refused(await call("GET", `/v1/projects/single/builds/${unknownId}`), 404, "not_found")
  })

  it("GET /projects/{project_id_or_slug}/builds/deployed", async () => {
    await call("POST", "/v1/projects", { json: { name: "bare" } })
    refused(await call("GET", "/v1/projects/bare/builds/deployed"), 404, "not_found")
    const { build_id } = await server().deploy("dressed", "other")
    const build = single(await call("GET", "/v1/projects/dressed/builds/deployed"), 200, fields.build)
    assert.include(build, { build_id, deployed: true })
  })

  it("GET /projects/{project_id_or_slug}/builds/live", async () => {
    const { build_id: deployed } = await server().deploy("developed", "other")
    refused(await call("GET", "/v1/projects/developed/builds/live"), 404, "not_found")
    const uploaded = single(
      await server().upload("developed", "other", { build_type: "live" }),
      201,
      fields.uploadedBuild
    )
    const build = single(await call("GET", "/v1/projects/developed/builds/live"), 200, fields.build)
    assert.include(build, { build_id: uploaded.build_id, build_type: "live", deployed: false })
    const { data } = (await call("GET", "/v1/projects/developed/builds/deployed")).json
    assert.include(data, { build_id: deployed, build_type: "bundle", deployed: true })
    assert.strictEqual((await call("DELETE", "/v1/projects/developed/builds/live")).status, 204)
    refused(await call("GET", "/v1/projects/developed/builds/live"), 404, "not_found")
  })

  it("GET /projects/{project_id_or_slug}/builds/{build_id}/download", async () => {
    const { build_id } = await server().deploy("loaded", "other")
    const reply = await call("GET", `/v1/projects/loaded/builds/${build_id}/download`)
    assert.strictEqual(reply.headers.get("content-type"), "application/zip")
    assert.strictEqual(reply.headers.get("etag"), `"${hashOf(trustedZip("other"))}"`)
    assert.strictEqual(reply.text, new TextDecoder().decode(trustedZip("other")))
  })

  it("POST /projects/{project_id_or_slug}/builds/{build_id}/deploy", async () => {
    await call("POST", "/v1/projects", { json: { name: "staged" } })
    const { build_id } = single(await server().upload("staged", "other"), 201, fields.uploadedBuild)
    const before = single(await call("GET", `/v1/projects/staged/builds/${build_id}`), 200, fields.build)
    assert.isFalse(before.deployed)
    const build = single(await call("POST", `/v1/projects/staged/builds/${build_id}/deploy`), 200, fields.build)
    assert.include(build, { build_id, deployed: true })
    const next = single(await server().upload("staged", "other"), 201, fields.uploadedBuild)
    single(await call("POST", `/v1/projects/staged/builds/${next.build_id}/deploy`), 200, fields.build)
    const states = list(await call("GET", "/v1/projects/staged/builds"), fields.build)
    assert.deepStrictEqual(
      states.map((one: { deployed: boolean }) => one.deployed),
      [true, false]
    )
  })

  it("a deploy of invalid metadata is 400 with the name of the function, and changes nothing", async () => {
    await call("POST", "/v1/projects", { json: { name: "fresh" } })
    const { build_id } = single(await server().upload("fresh", "bad"), 201, fields.uploadedBuild)
    const failed = await call("POST", `/v1/projects/fresh/builds/${build_id}/deploy`)
    assert.include(refused(failed, 400, "bad_request"), "main/broken")
    refused(await call("GET", "/v1/projects/fresh/builds/deployed"), 404, "not_found")
    assert.deepStrictEqual((await call("GET", "/v1/projects/fresh/schedules")).json.data, [])
  })

  it("POST /events", async () => {
    const json = { event_type: "plain", event_data: { any: ["JSON", 1, null] } }
    const event = single(await call("POST", "/v1/events", { json }), 201, fields.event)
    assert.deepInclude(event, { ...json, env_id: server().env.env_id })
    const { stream_id } = event
    const next = single(await call("POST", "/v1/events", { json: { ...json, stream_id } }), 201, fields.event)
    assert.strictEqual(next.stream_id, stream_id)
    for (const body of [{ event_type: "plain" }, { event_data: 1 }, { ...json, stream_id: "x" }]) {
      refused(await call("POST", "/v1/events", { json: body }), 400, "bad_request")
    }
  })

  it("GET /events and GET /events/{event_id}", async () => {
    const json = { event_type: "read", event_data: 7 }
    const event = single(await call("POST", "/v1/events", { json }), 201, fields.event)
    assert.deepStrictEqual(single(await call("GET", `/v1/events/${event.event_id}`), 200, fields.event), event)
    assert.deepStrictEqual(list(await call("GET", "/v1/events?limit=1"), fields.event), [event])
    refused(await call("GET", `/v1/events/${unknownId}`), 404, "not_found")
  })

  it("GET /events/{event_id}/runs, GET /runs/{run_id}, GET /runs and GET /runs/stats", async () => {
    const { build_id, project_id } = await server().deploy("running", "shop")
    const json = { event_type: "order:cancelled", event_data: null }
    const { event_id, stream_id } = single(await call("POST", "/v1/events", { json }), 201, fields.event)
    const ofEvent = await eventually(
      server(),
      `/v1/events/${event_id}/runs`,
      (reply) => reply.json.data[0]?.status === "succeeded"
    )
    const [run] = list(ofEvent, fields.run)
    assert.include(run, { build_id, project_id, project_name: "running", event_id, stream_id, run_type: "event" })
    assert.deepStrictEqual(single(await call("GET", `/v1/runs/${run.run_id}`), 200, fields.run), run)
    const runsOf = (query: string) => call("GET", `/v1/events/${event_id}/runs?${query}`)
    assert.deepStrictEqual(list(await runsOf("limit=1"), fields.run), [run])
    assert.deepStrictEqual((await runsOf("offset=1&limit=5")).json.pagination, {
      ...{ total: 1, limit: 5, offset: 1, has_more: false }
    })
    refused(await runsOf("limit=0"), 400, "bad_request")
    const [found] = list(await call("GET", "/v1/runs?status=succeeded&type=event&time_range=P1D&limit=1"), fields.run)
    assert.deepStrictEqual(found, run)
    const stats = single(await call("GET", "/v1/runs/stats"), 200, fields.stats)
    assert.strictEqual(stats.total_runs, stats.running + stats.succeeded + stats.failed + stats.cancelled)
    assert.isAtLeast(stats.succeeded, 1)
    const searched = await call("GET", `/v1/runs?fn=main/onCancel&project=${project_id}&limit=1`)
    assert.deepStrictEqual(list(searched, fields.run), [run])
    assert.strictEqual(
      (await call("GET", `/v1/runs?before=${run.run_id}&fn=running:main/onCancel`)).json.pagination.total,
      0
    )
    assert.strictEqual((await call("GET", `/v1/runs?error=timeout&project=${project_id}`)).json.pagination.total, 0)
    const wrong = [
      "status=done",
      "type=cron",
      "time_range=week",
      "fn=main",
      "error=",
      "before=1",
      "project=",
      "fn=a:b/c&project=a"
    ]
    for (const query of wrong) {
      refused(await call("GET", `/v1/runs?${query}`), 400, "bad_request")
    }
    const usage = single(await call("GET", `/v1/runs/${run.run_id}/usage`), 200, fields.usage)
    assert.include(usage, { ns: "main", var: "onCancel", attempt: 1 })
    assert.strictEqual((await call("GET", `/v1/runs/${run.run_id}/logs`)).status, 200)
    await call("DELETE", "/v1/projects/running")
  })

  it("GET /projects/{project_id_or_slug}/event-handlers and schedules", async () => {
    const { build_id } = await server().deploy("triggers", "shop")
    const handlers = list(await call("GET", "/v1/projects/triggers/event-handlers"), fields.handler)
    assert.deepStrictEqual(
      handlers.map((handler: { var: string }) => handler.var),
      ["onCancel", "onNap", "onOrder"]
    )
    assert.deepInclude(handlers[0], { build_id, event_type: "order:cancelled", ns: "main", var: "onCancel" })
    const schedules = list(await call("GET", "/v1/projects/triggers/schedules"), fields.schedule)
    assert.deepInclude(schedules[0], { build_id, cron: "0 3 * * *", ns: "main", var: "nightly" })
    await call("DELETE", "/v1/projects/triggers")
  })

  it("GET /env", async () => {
    const { env_id, org_id } = server().env
    assert.deepStrictEqual(single(await call("GET", "/v1/env"), 200, [...fields.env, "org_slug"]), {
      env_id,
      org_id,
      name: "prod",
      active: true,
      org_slug: "acme"
    })
  })
})
