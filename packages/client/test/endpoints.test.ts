import { assert, describe, it } from "@effect/vitest"
import { type Run, type WeftClient, WeftError } from "@weft/client"
import { trustedZip } from "@weft/core/testing"
import { afterAll, beforeAll } from "vitest"
import { type Endpoint, endpoints } from "../scripts/Document.ts"
import type { Requests, SentRequest } from "./server/Requests.ts"
import { deploy, Server } from "./server/Server.ts"

let server: Server
let weft: WeftClient
let requests: Requests
let build: string

beforeAll(async () => {
  server = await Server.start({ streamLifetimeMs: 300, version: "1.2.3" })
  ;({ weft, requests } = server.client())
  build = (await deploy(weft, trustedZip("shop"))).build_id
})
afterAll(() => server.close())

const zip = trustedZip("shop")

/** Returns the run of a response, which may also be an event whose run has not started. */
const begun = (answer: Run | object): Run => {
  assert.property(answer, "run_id")
  return "run_id" in answer ? answer : assert.fail("no run has begun")
}

const isOf = ({ method, path }: SentRequest, endpoint: Endpoint): boolean => {
  const pattern = endpoint.path
    .split(/\{[^}]+\}/)
    .map((text) => text.replaceAll(".", "\\."))
    .join("[^/]+")
  return method === endpoint.method && new RegExp(`^${pattern}$`).test(path)
}

/** Literal paths precede those with parameters, as `/v1/runs/stats` before `/v1/runs/{run_id}`. */
const endpointOf = (request: SentRequest): string => {
  const found = endpoints()
    .filter((endpoint) => isOf(request, endpoint))
    .sort((a, b) => a.path.split("{").length - b.path.split("{").length)
  const [first] = found
  return first === undefined ? `${request.method} ${request.path}` : `${first.group}.${first.name}`
}

describe("the client with a server", () => {
  it("manages projects and builds", async () => {
    const made = await weft.projects.create({ name: "made" })
    assert.strictEqual((await weft.projects.get("made")).project_id, made.project_id)
    assert.strictEqual((await weft.projects.update(made.project_id, { name: "renamed" })).name, "renamed")
    const page = await weft.projects.list({ limit: 1 })
    assert.deepInclude(page, { total: 2, limit: 1, offset: 0, has_more: true })
    assert.strictEqual(page.items[0]?.name, "renamed")
    assert.isUndefined(await weft.projects.remove("renamed"))

    assert.strictEqual((await weft.builds.get("shop", build)).deployed, true)
    assert.strictEqual((await weft.builds.deployed("shop")).build_id, build)
    assert.strictEqual((await weft.builds.list("shop")).total, 1)
    assert.strictEqual((await weft.builds.listAll()).items[0]?.project_name, "shop")
    const live = await weft.builds.upload("shop", new Blob([zip.slice()]), { build_type: "live" })
    assert.strictEqual((await weft.builds.live("shop")).build_id, live.build_id)
    await weft.builds.endLive("shop")
    assert.strictEqual((await weft.builds.manifest("shop", build)).active, true)
    assert.isUndefined(await weft.builds.release("shop", build))
    const bytes = await (await weft.builds.download("shop", build)).bytes()
    assert.deepStrictEqual(Buffer.from(bytes), Buffer.from(zip))
  })

  it("reads triggers and schedules, and deletes schedules", async () => {
    assert.include(
      (await weft.triggers.eventHandlers("shop")).items.map(({ event_type }) => event_type),
      "order:created"
    )
    assert.strictEqual((await weft.triggers.schedules("shop")).items[0]?.cron, "0 3 * * *")
    const { event_id } = await weft.events.publish({
      event_type: "svc:schedule:new",
      event_data: { fn: "shop:main/plain", schedule: "P1D" }
    })
    assert.deepInclude((await weft.schedules.list()).items[0], { schedule_id: event_id, var: "plain" })
    const [upcoming] = (await weft.schedules.upcoming({ days: 2 })).items
    assert.strictEqual(upcoming?.cron, "0 3 * * *")
    assert.isAtLeast(upcoming?.ticks.length ?? 0, 1)
    await weft.schedules.remove(event_id)
    assert.strictEqual((await weft.schedules.list()).total, 0)
  })

  it("sets context variables, and never receives their values", async () => {
    await weft.context.create("shop", { key: "TOKEN", value: "a secret" })
    await weft.context.update("shop", "TOKEN", { description: "of the bank" })
    const [variable] = (await weft.context.list("shop")).items
    assert.deepInclude(variable, { key: "TOKEN", description: "of the bank" })
    assert.notProperty(variable, "value")
    await weft.context.remove("shop", "TOKEN")
  })

  it("publishes events and reads their runs", async () => {
    const event = await weft.events.publish({ event_type: "order:created", event_data: { total: 21 } })
    assert.deepStrictEqual((await weft.events.get(event.event_id)).event_data, { total: 21 })
    assert.strictEqual((await weft.events.list({ limit: 1 })).items[0]?.event_id, event.event_id)
    let runs = await weft.events.runs(event.event_id)
    while (runs.items[0]?.status !== "succeeded") runs = await weft.events.runs(event.event_id)
    const { run_id } = runs.items[0]
    assert.deepStrictEqual((await weft.runs.get(run_id)).result, { doubled: 42 })
    assert.isNumber((await weft.runs.usage(run_id)).wall_ms)
    assert.strictEqual((await weft.runs.logs(run_id)).total, 0)
    assert.isAbove((await weft.runs.stats()).succeeded, 0)
    const activity = await weft.runs.activity({ time_range: "PT1H" })
    assert.isAbove(
      activity.minutes.reduce((sum, minute) => sum + minute.succeeded, 0),
      0
    )
    const series = await weft.runs.series({ from: new Date(Date.now() - 3_600_000).toISOString(), step: "5m" })
    assert.strictEqual(series.step_seconds, 300)
    const listed = await weft.runs.list({ status: "succeeded", type: "event", time_range: "P1D" })
    assert.isTrue(listed.items.some((run) => run.run_id === run_id))
    assert.strictEqual(begun(await weft.runs.replay(run_id, { build: "deployed" })).origin_run_id, run_id)
    const other = begun(await weft.runs.replay(run_id, { build: "deployed", event_data: { other: true } }))
    assert.strictEqual(other.origin_run_id, run_id)
    assert.deepStrictEqual((await weft.events.get(other.event_id ?? "")).event_data, { other: true })
  })

  it("calls functions and cancels runs", async () => {
    const called = begun(await weft.calls.call({ fn: "main/plain", args: [1], wait: 20 }))
    assert.deepStrictEqual(called.result, { value: 1 })
    const hanging = begun(await weft.calls.call({ fn: "main/hang" }))
    assert.strictEqual((await weft.runs.cancel(hanging.run_id)).status, "cancelled")
    await weft.calls.call({ fn: "main/hang" })
    assert.deepStrictEqual(await weft.runs.cancelAll({ type: "call" }), { cancelled: 1 })
    assert.strictEqual((await weft.deliveries.list({ fn: "main/hang" })).total, 0)
    assert.deepStrictEqual((await weft.deliveries.why(hanging.run_id)).items, [])
    assert.deepStrictEqual(await weft.deliveries.cancel({ fn: "main/hang" }), { cancelled: 0 })
  })

  it("lists recordings, and reports a run without one", async () => {
    assert.strictEqual((await weft.recordings.list({ fn: "main/onOrder" })).total, 0)
    const missing = await weft.recordings.get("01890000-0000-7000-8000-000000000000").catch((error: unknown) => error)
    assert.strictEqual(missing instanceof WeftError ? missing.code : "", "not_found")
  })

  it("starts a canary of a build and rolls it back", async () => {
    const base = await weft.builds.deployed("shop")
    const { build_id } = await weft.builds.upload("shop", zip)
    const { capabilities, compared } = await weft.builds.capabilities("shop", build_id, { compare: "deployed" })
    assert.isNotEmpty(capabilities.handles)
    assert.isEmpty(compared?.added.handles)
    await weft.builds.deploy("shop", build_id, { canary: { share: 0.1, promote: "manual" } })
    const canary = await weft.canaries.get("shop")
    assert.deepInclude(canary, { build_id, base_build_id: base.build_id, state: "active" })
    assert.strictEqual((await weft.canaries.rollback("shop")).state, "rolled_back")
    await weft.builds.deploy("shop", build_id, { canary: { share: 0.1 } })
    assert.strictEqual((await weft.canaries.promote("shop")).state, "promoted")
    await weft.builds.deploy("shop", base.build_id)
  })

  it("deploys a preview, acts inside of it and removes it", async () => {
    const { build_id } = await weft.builds.deployed("shop")
    const preview = await weft.previews.deploy("shop", "pr-42", { build_id, ttl: "1h" })
    assert.deepInclude(preview, { name: "pr-42", build_id, schedules: false, secrets: "project" })
    assert.strictEqual((await weft.previews.list("shop")).total, 1)
    const inside = server.client({ preview: "pr-42" })
    assert.strictEqual((await inside.weft.env.get()).env_id, preview.env_id)
    const extended = await weft.previews.extend("shop", "pr-42", { ttl: "2h" })
    assert.isAbove(Date.parse(extended.expires_at), Date.parse(preview.expires_at))
    assert.strictEqual((await weft.previews.get("shop", "pr-42")).expires_at, extended.expires_at)
    await weft.previews.remove("shop", "pr-42")
    assert.strictEqual((await weft.previews.list("shop")).total, 0)
  })

  it("lists, redrives and discards dead letters", async () => {
    const fn = "main/none"
    assert.strictEqual((await weft.deadLetters.list({ fn })).total, 0)
    const nothing = { skipped: [], next: null }
    assert.deepStrictEqual(await weft.deadLetters.redrive({ fn, build: "deployed" }), { redriven: 0, ...nothing })
    const preview = await weft.deadLetters.discard({ fn, dry_run: true })
    assert.deepStrictEqual(preview, { discarded: 0, matched: 0, ...nothing })
  })

  it("creates, changes, tests and removes an alert rule", async () => {
    const condition = { type: "failure_share", share: 0.5, min_runs: 10, window_minutes: 5 } as const
    const actions = [{ type: "event" }] as const
    const { alert_id, webhook_secret } = await weft.alerts.create({
      name: "fails",
      project: "shop",
      condition,
      actions
    })
    assert.match(webhook_secret, /^whsec_/)
    assert.strictEqual((await weft.alerts.list()).items[0]?.alert_id, alert_id)
    assert.deepStrictEqual((await weft.alerts.get(alert_id)).condition, condition)
    assert.isFalse((await weft.alerts.update(alert_id, { enabled: false })).enabled)
    assert.deepStrictEqual((await weft.alerts.test(alert_id)).results, [{ action: { type: "event" }, error: null }])
    await weft.alerts.remove(alert_id)
    assert.strictEqual((await weft.alerts.list()).total, 0)
  })

  it("pauses a function and resumes it", async () => {
    const { pause_id } = await weft.pauses.create({ project: "shop", fn: "main/plain", schedules: "skip" })
    const [listed] = (await weft.pauses.list()).items
    assert.deepInclude(listed, { pause_id, project_name: "shop", ns: "main", var: "plain", schedules: "skip" })
    assert.deepStrictEqual((await weft.pauses.get(pause_id)).runs, { executing: 0, suspended: 0 })
    await weft.pauses.remove(pause_id)
    assert.strictEqual((await weft.pauses.list()).total, 0)
  })

  it("replays runs in the background, waits for the end, and cancels an operation", async () => {
    const input = { kind: "replay", filter: { status: "succeeded", fn: "main/plain" } } as const
    const { matched } = await weft.operations.create({ ...input, dry_run: true })
    assert.isAbove(matched, 0)
    const { operation_id } = await weft.operations.create(input, { idempotencyKey: "once" })
    const seen: Array<string> = []
    const onProgress = ({ state }: { state: string }) => void seen.push(state)
    const ended = await weft.operations.wait(operation_id, { onProgress, intervalMs: 20 })
    assert.deepInclude(ended, { state: "succeeded", total: matched, done: matched })
    assert.strictEqual(seen.at(-1), "succeeded")
    assert.strictEqual((await weft.operations.create(input, { idempotencyKey: "once" })).operation_id, operation_id)
    for await (const state of weft.operations.watch(operation_id)) assert.deepStrictEqual(state, ended)
    const slow = await weft.operations.create({ ...input, options: { rate: 1 } })
    assert.strictEqual((await weft.operations.cancel(slow.operation_id)).state, "cancelled")
    assert.strictEqual((await weft.operations.list({ state: "cancelled" })).total, 1)
    assert.strictEqual((await weft.operations.get(operation_id)).done, matched)
  })

  it("runs functions of a build, and source text", async () => {
    const { build_id } = await weft.builds.deployed("shop")
    const run = begun(await weft.builds.run("shop", build_id, { fn: "main/plain", args: [1], wait: 20 }))
    assert.deepInclude(run, { run_type: "run", build_id, result: { value: 1 } })
    const evaluation = await weft.eval.run({ source: "args[0] + 1", args: [1], timeout: 5 })
    assert.deepInclude(evaluation, { run_type: "eval", status: "succeeded", result: 2 })
    assert.lengthOf(evaluation.logs, 1)
    const session = await weft.repl.open()
    assert.deepInclude(await session.input("const sum = 1"), { run_type: "repl", status: "succeeded", text: "" })
    assert.deepInclude(await session.input({ source: "sum + 1", timeout: 5 }), { result: 2, text: "2", ended: null })
    assert.deepStrictEqual(await session.complete("su"), { from: 0, candidates: ["sum"] })
    assert.strictEqual((await weft.repl.list()).items[0]?.repl_id, session.repl_id)
    await session.close()
  })

  it("completes the token of a durable run", async () => {
    const { event_id } = await weft.events.publish({ event_type: "expense", event_data: null })
    let [run] = (await weft.events.runs(event_id)).items
    while (run?.waiting?.for !== "token") [run] = (await weft.events.runs(event_id)).items
    const { run_id } = run
    const token = await weft.runs.completeToken(run_id, "approval", { data: { by: "ann" } })
    assert.deepInclude(token, { run_id, name: "approval" })
    let approved = await weft.runs.get(run_id)
    while (approved.status === "running") approved = await weft.runs.get(run_id)
    assert.deepStrictEqual(approved.result, { ok: true, data: { by: "ann" } })
  })

  it("reads the steps and waits of a durable run, and ends its sleep", async () => {
    const { event_id } = await weft.events.publish({ event_type: "nap", event_data: null })
    let [run] = (await weft.events.runs(event_id)).items
    while (run?.waiting?.for !== "timer") [run] = (await weft.events.runs(event_id)).items
    const { run_id } = run
    assert.deepInclude(run, { durable: true, steps: 3, activations: 1 })
    const { items, waits, has_more } = await weft.runs.steps(run_id, { limit: 2 })
    assert.deepStrictEqual(
      [items.map(({ name, result }) => [name, result]), has_more],
      [
        [
          ["a", "a"],
          ["b", "b"]
        ],
        true
      ]
    )
    assert.deepInclude(waits[0], { kind: "sleep", name: "nap", event_type: null })
    const names: Array<string> = []
    for await (const { name } of weft.runs.steps(run_id, { limit: 2 })) names.push(name)
    assert.deepStrictEqual(names, ["a", "b", "c"])
    assert.strictEqual((await weft.runs.list({ waiting: "timer" })).items[0]?.run_id, run_id)
    assert.strictEqual((await weft.runs.wake(run_id)).run_id, run_id)
    let woken = await weft.runs.get(run_id)
    while (woken.status === "running") woken = await weft.runs.get(run_id)
    assert.deepInclude(woken, { status: "succeeded", result: "rested", waiting: null })
  })

  it("creates and revokes sessions and service keys", async () => {
    const session = await weft.sessions.create({ permissions: { "event:*": ["read"] }, expires_in: 60 })
    const { weft: limited } = server.client({ token: () => Promise.resolve(session.token) })
    assert.isAbove((await limited.events.list()).total, 0)
    const refused = await limited.env.get().catch((error: unknown) => error)
    assert.instanceOf(refused, WeftError)
    assert.deepInclude({ ...refused }, { code: "forbidden", status: 403, retryAfter: null })
    assert.strictEqual((await weft.sessions.list()).items[0]?.session_id, session.session_id)
    await weft.sessions.revoke(session.session_id)
    assert.deepStrictEqual(await weft.sessions.revokeAll(), { revoked_count: 0 })

    const key = await weft.serviceKeys.create({ name: "bot", permissions: {}, metadata: { team: 7 } })
    assert.deepStrictEqual((await weft.serviceKeys.get(key.service_key_id)).metadata, { team: 7 })
    await weft.serviceKeys.revoke(key.service_key_id)
    assert.strictEqual((await weft.serviceKeys.list()).items[0]?.active, false)
    assert.deepStrictEqual(await weft.serviceKeys.revokeAll(), { revoked_count: 0 })
  })

  it("uploads, lists and downloads files, also through links", async () => {
    const put = await weft.files.put("a/b c.txt", "hello", { contentType: "text/plain" })
    assert.deepInclude(await weft.files.get(put.file_id), { path: "a/b c.txt", size: 5, content_type: "text/plain" })
    assert.deepInclude(await weft.files.list({ prefix: "a/" }), { total: 1, limit: 20, offset: 0, has_more: false })
    assert.strictEqual(await (await weft.files.download(put.file_id)).text(), "hello")
    const part = await weft.files.download(put.file_id, { range: { start: 1, end: 3 } })
    assert.strictEqual(await part.text(), "el")
    assert.strictEqual((await weft.files.download(put.file_id, { ifNoneMatch: put.etag })).status, 304)
    const unsigned = await weft.links.open(put.file_id).catch((error: unknown) => error)
    assert.deepInclude({ ...Object(unsigned) }, { code: "unauthorized", status: 401 })
    const { url } = await weft.files.link(put.file_id, { expires_in: 60 })
    const [env_id, expires, signature] = ["env_id", "expires", "signature"].map(
      (name) => new URL(url).searchParams.get(name) ?? ""
    )
    assert.strictEqual(await (await weft.links.open(put.file_id, { env_id, expires, signature })).text(), "hello")
    await weft.files.remove(put.file_id)

    const upload = await weft.files.initiate({ path: "a/parts" })
    assert.strictEqual((await weft.files.putPart(upload.upload_id, 1, new Uint8Array(5))).size, 5)
    assert.strictEqual((await weft.files.complete(upload.upload_id)).size, 5)
    const other = await weft.files.initiate({ path: "a/other" })
    assert.isUndefined(await weft.files.abort(other.upload_id))
  })

  it("subscribes to streams and the environment", async () => {
    const env = weft.streams.watchEnv()
    const first = env.next()
    const names: Array<string> = []
    let stream = ""
    for await (const message of weft.streams.publishAndWatch({ event_type: "import", event_data: { steps: 2 } })) {
      names.push(message.event)
      if (message.event === "event:published") stream = message.data.stream_id
    }
    assert.deepStrictEqual(names, [
      "event:published",
      "run:start",
      "stream:data",
      "stream:data",
      "run:stop",
      "stream:complete"
    ])
    assert.isDefined((await first).value)
    await env.return()
    for await (const message of weft.streams.watch(stream)) assert.strictEqual(message.event, "stream:complete")
  })

  it("reads the environment, its domains and the server's status", async () => {
    assert.strictEqual((await weft.env.get()).env_id, server.envId)
    assert.isAbove((await weft.env.usage()).usage.call_count, 0)
    const domain = await weft.domains.add({ domain: "hooks.example.com" })
    assert.strictEqual((await weft.domains.get(domain.domain_id)).status, "pending_validation")
    assert.strictEqual((await weft.domains.verify(domain.domain_id)).domain, "hooks.example.com")
    assert.strictEqual((await weft.domains.list()).total, 1)
    await weft.domains.remove(domain.domain_id)
    assert.strictEqual((await weft.status.get()).version, "1.2.3")
    assert.strictEqual((await weft.status.openapi()).openapi, "3.1.0")
    assert.include(await weft.status.metrics(), "# TYPE")
    assert.deepStrictEqual(await weft.status.healthz(), { status: "ok" })
    assert.deepStrictEqual(await weft.status.readyz(), { status: "ok" })
  })

  it("administers organizations, environments and keys", async () => {
    const org = await weft.admin.createOrg({ slug: "umbrella", plan: "Pro" })
    assert.strictEqual((await weft.admin.updateOrg("umbrella", { members: 3 })).members, 3)
    assert.strictEqual((await weft.admin.listOrgs({ limit: 1 })).items[0]?.org_id, org.org_id)
    const usage = await weft.admin.getOrgUsage("umbrella")
    assert.deepInclude(usage.usage, { team_members: 3, call_count: 0 })
    const plans = (await weft.admin.listPlans()).items
    assert.deepStrictEqual(plans.find(({ name }) => name === "Pro")?.limits.runs_per_month, usage.limits.runs_per_month)
    assert.strictEqual((await weft.admin.getNode()).version, "1.2.3")
    const nodes = (await weft.admin.listNodes()).items
    assert.deepStrictEqual(
      nodes.map(({ version }) => version),
      ["1.2.3"]
    )
    assert.deepInclude((await weft.admin.getDiagnosis()).checks[0], { name: "database", status: "ok" })
    const env = await weft.admin.createEnv("umbrella", { name: "test" })
    const { env_id: owner } = await weft.env.get()
    assert.isUndefined(await weft.admin.releaseBuild(owner, build))
    assert.strictEqual((await weft.admin.listEnvs("umbrella")).items[0]?.env_id, env.env_id)
    const key = await weft.admin.createApiKey(env.env_id)
    const { weft: theirs } = server.client({ token: key.token })
    assert.strictEqual((await theirs.env.get()).env_id, env.env_id)
    const changed = await weft.admin.updateApiKey(env.env_id, key.api_key_id, { enabled: false })
    assert.strictEqual(changed.enabled, false)
    assert.strictEqual((await weft.admin.listApiKeys(env.env_id)).total, 1)
    await weft.admin.removeApiKey(env.env_id, key.api_key_id)
    const done = await weft.admin.listAudit({ env_id: env.env_id })
    assert.sameMembers(
      done.items.map(({ action }) => action),
      ["env.create", "api_key.create", "api_key.update", "api_key.remove"]
    )
    assert.deepInclude((await weft.audit.list({ action: "build.deploy" })).items[0], { outcome: "done", count: 1 })
    assert.strictEqual((await weft.admin.resealSecrets()).unreadable, 0)
  })

  it("has a method for every endpoint of the API", () => {
    const called = new Set(requests.sent.map(endpointOf))
    const all = endpoints().map(({ group, name }) => `${group}.${name}`)
    assert.sameMembers([...called], all)
  })
})
