/** A tenant with one resource of each kind, created over HTTP. */
import { assert } from "@effect/vitest"
import { type CallOptions, type Reply, type TestServer, uploadForm } from "../server/TestServer.ts"

export interface Tenant {
  readonly token: string
  /** A value for every parameter of every path. */
  readonly ids: ReadonlyMap<string, string>
}

/** Creates the resources in the environment of the token. `name` is part of every name. */
export const createResources = async (server: TestServer, token: string, name: string): Promise<Tenant> => {
  const ids = new Map<string, string>()
  const call = async (method: string, path: string, options: CallOptions = {}): Promise<Reply> => {
    const reply = await server.call(method, path, { token, ...options })
    assert.isBelow(reply.status, 300, `${method} ${path} ${reply.text}`)
    return reply
  }
  const made = async (path: string, id: string, json: unknown): Promise<void> => {
    const { data } = (await call("POST", path, { json })).json
    ids.set(id, data[id])
  }
  const project = `/v1/projects/${name}`

  ids.set("project_id_or_slug", (await call("POST", "/v1/projects", { json: { name } })).json.data.project_id)
  const uploaded = await call("POST", `${project}/builds`, { body: uploadForm("other") })
  ids.set("build_id", uploaded.json.data.build_id)
  await call("POST", `${project}/builds/${ids.get("build_id")}/deploy`)
  await call("POST", `${project}/context`, {
    json: { key: `key-${name}`, value: `secret of ${name}`, description: "" }
  })
  ids.set("key", `key-${name}`)
  ids.set("name", "approval")
  await made("/v1/sessions", "session_id", { permissions: {} })
  await made("/v1/service-keys", "service_key_id", { name, permissions: {} })
  await made("/v1/repl", "repl_id", {})
  await made("/v1/domains", "domain_id", { domain: `${name}.example.net` })

  const file = { body: `file of ${name}`, headers: { "content-type": "text/plain" } }
  ids.set("path", `${name}/file.txt`)
  ids.set("file_id", (await call("PUT", `/v1/files/upload/${name}/file.txt`, file)).json.data.file_id)
  await made("/v1/files/uploads", "upload_id", { path: `${name}/parts.bin` })
  ids.set("part_number", "1")

  await made("/v1/events", "event_id", { event_type: "order:created", event_data: { total: 1, name } })
  for (let round = 0; round < 200 && !ids.has("run_id"); round++) {
    const [run] = (await call("GET", `/v1/events/${ids.get("event_id")}/runs`)).json.data
    if (run !== undefined && run.status === "succeeded") ids.set("run_id", run.run_id)
    else await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const event_data = { fn: `${name}:main/version`, schedule: "P1D" }
  const scheduled = await call("POST", "/v1/events", { json: { event_type: "svc:schedule:new", event_data } })
  ids.set("schedule_id", scheduled.json.data.event_id)
  await made("/v1/operations", "operation_id", { kind: "cancel", filter: { fn: "main/none" } })
  await made("/v1/pauses", "pause_id", { project: name, fn: "main/none" })
  ids.set("preview", `pr-${name}`)
  await call("PUT", `${project}/previews/pr-${name}`, { json: { build_id: ids.get("build_id") } })
  await made("/v1/alerts", "alert_id", {
    ...{ name: "quiet", project: name, condition: { type: "silence", minutes: 60 } },
    actions: [{ type: "event" }]
  })
  ids.set("waiting_id", scheduled.json.data.event_id)
  ids.set("stream_id", (await call("GET", `/v1/events/${ids.get("event_id")}`)).json.data.stream_id)
  return { token, ids }
}
