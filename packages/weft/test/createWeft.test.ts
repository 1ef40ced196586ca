/** `createWeft` as a host uses it: a folder, isolates, a real HTTP server, nothing of Effect. */
import { createHash } from "node:crypto"
import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { zipSync } from "fflate"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import {
  createWeft,
  type EnvHandle,
  HostRefused,
  type HttpOptions,
  hostFunction,
  type TenantHandle,
  type Weft,
  WeftError
} from "weft"
import { z } from "zod"

const code = `
export const hello = async (request) => ({ status: 200, body: { hi: request.query.name } })
hello.meta = { webhook: { service: "greeter", path: "/hello", method: "GET" } }

export const count = async (event, svc) => {
  svc.log.info("counted", { letters: event.event_data.name.length })
  return { letters: event.event_data.name.length, plan: await svc.host.shop.plan({ of: event.event_data.name }) }
}
count.meta = { event: "greeted" }

export const nap = async (event, svc) => {
  await svc.step("prepare", () => ({ ready: true }))
  await svc.sleep("nap", "2h")
  return "rested"
}
nap.meta = { event: "tired", durable: true }

export const shop = { ask: () => svc.host.shop.plan({ of: "nobody" }) }
`

const host = {
  "shop.plan": hostFunction(
    { input: z.object({ of: z.string() }), output: z.object({ plan: z.string(), org: z.string() }) },
    ({ of }, { org, run }) => {
      if (of === "nobody") throw new HostRefused("NoSuchShop", `${run.ns}/${run.var} asks for nobody`)
      return { plan: org.plan, org: org.slug }
    }
  )
}

const deploy = async (env: EnvHandle, source: string): Promise<void> => {
  const zip = zipSync({ "index.js": new TextEncoder().encode(source) })
  await env.projects.create({ name: "shop" })
  const hash = createHash("sha256").update(zip).digest("hex")
  const { build } = await env.builds.upload("shop", { zip, hash })
  await env.builds.deploy("shop", build.id)
}

let dataDir: string
let weft: Weft
let tenant: TenantHandle

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "weft-embedded-"))
  weft = await createWeft({ dataDir: join(dataDir, "data"), host, http: { adminToken: "admin-token-of-the-test" } })
  tenant = await weft.tenants.ensure({ org: "acme", name: "Acme", plan: "Pro" })
  await deploy(tenant, code)
})

afterAll(async () => {
  await weft?.close()
  rmSync(dataDir, { recursive: true, force: true })
})

describe("createWeft with a data directory", () => {
  it("creates the database, the blob folder and the master key in it", () => {
    const names = ["weft.db", "blobs", "master.key"]
    expect(names.filter((name) => existsSync(join(dataDir, "data", name)))).toEqual(names)
  })

  it("returns records with camelCase fields, ids as text and instants as dates", async () => {
    expect(tenant.org).toMatchObject({ slug: "acme", name: "Acme", plan: "Pro" })
    expect(tenant.env).toMatchObject({ id: tenant.id, orgId: tenant.org.id, name: "production", active: true })
    expect(tenant.env.createdAt).toBeInstanceOf(Date)
    const again = await weft.tenants.ensure("acme")
    expect(again.env.id).toBe(tenant.env.id)
  })

  it("runs a handler in an isolate, which calls a host function with the tenant's facts", async () => {
    const event = await weft.env(tenant.id).events.publish({ type: "greeted", data: { name: "Ada" } })
    const run = await ended(event.id)
    expect(run).toMatchObject({ type: "event", status: "succeeded", projectName: "shop", eventId: event.id })
    expect(run?.result).toEqual({ letters: 3, plan: { plan: "Pro", org: "acme" } })
    const { items } = await tenant.runs.logs(run?.id ?? "")
    expect(items).toMatchObject([{ seq: 0, level: "info", message: "counted", data: { letters: 3 } }])
  })

  it("lists the steps and waits of a durable run, and ends its sleep", async () => {
    const activity = tenant.activity()[Symbol.asyncIterator]()
    const first = activity.next()
    const event = await tenant.events.publish({ type: "tired", data: null })
    const seen: Array<string> = []
    for (let item = await first; !item.done; item = await activity.next()) {
      seen.push(item.value.type)
      if (item.value.type === "run:waiting") {
        expect(item.value.waiting).toMatchObject({ for: "timer", name: "nap", until: expect.any(Date) })
        break
      }
    }
    await activity.return?.()
    expect(seen).toContain("run:step")
    const [run] = (await tenant.runs.list({ waiting: "timer" })).items
    expect(run).toMatchObject({ eventId: event.id, steps: 1, activations: 1, waiting: { for: "timer", name: "nap" } })
    const id = run?.id ?? ""
    const { items, total, waits } = await tenant.runs.steps(id)
    expect(total).toBe(1)
    expect(items).toMatchObject([{ position: 0, kind: "step", name: "prepare", ok: true, result: { ready: true } }])
    expect(items[0]?.endedAt).toBeInstanceOf(Date)
    expect(waits).toMatchObject([{ kind: "sleep", name: "nap", eventType: null, until: expect.any(Date) }])
    expect(await tenant.runs.wake(id)).toMatchObject({ id })
    expect(await ended(event.id)).toMatchObject({ status: "succeeded", result: "rested", steps: 2 })
    await expect(tenant.runs.wake(id)).rejects.toMatchObject({ code: "bad_request" })
  })

  it("deploys a preview, extends it and removes it", async () => {
    const [base] = (await tenant.builds.list()).items
    const preview = await tenant.previews.deploy("shop", "pr-42", { buildId: base?.id ?? "", copyEvents: true })
    expect(preview).toMatchObject({ name: "pr-42", buildId: base?.id, schedules: false, copyEvents: true })
    expect((await weft.envs.get(preview.envId)).preview).toEqual({ name: "pr-42", parentEnvId: tenant.env.id })
    const extended = await tenant.previews.extend("shop", "pr-42", "30d")
    expect(extended.expiresAt.getTime()).toBeGreaterThan(preview.expiresAt.getTime())
    expect((await tenant.previews.list("shop")).items).toEqual([extended])
    expect(await tenant.previews.get("shop", "pr-42")).toEqual(extended)
    await tenant.previews.remove("shop", "pr-42")
    await expect(tenant.previews.get("shop", "pr-42")).rejects.toMatchObject({ code: "not_found" })
  })

  it("starts a canary, shows it and rolls it back", async () => {
    const [base] = (await tenant.builds.list()).items
    const zip = zipSync({ "index.js": new TextEncoder().encode(`${code}export const more = () => 1`) })
    const hash = createHash("sha256").update(zip).digest("hex")
    const { build } = await tenant.builds.upload("shop", { zip, hash })
    const { capabilities, added, removed } = await tenant.builds.capabilities("shop", build.id)
    expect(capabilities).toMatchObject({ hostFunctions: ["shop.plan"], handles: ["greeted", "tired"] })
    expect([added.hostFunctions, removed.hostFunctions]).toEqual([[], []])
    await tenant.builds.deploy("shop", build.id, { canary: { share: 0.01, minRuns: 500, maxFailureShare: 0.1 } })
    const canary = await tenant.canaries.get("shop")
    expect(canary).toMatchObject({ buildId: build.id, baseBuildId: base?.id, state: "active", minRuns: 500 })
    await expect(tenant.builds.deploy("shop", build.id)).rejects.toMatchObject({ code: "canary_active" })
    expect(await tenant.canaries.rollback("shop")).toMatchObject({ state: "rolled_back", endedAt: expect.any(Date) })
  })

  it("pauses a function: its events are kept, its runs counted, and the end of the pause starts them", async () => {
    const paused = await tenant.pauses.create({ fn: "shop:main/count" })
    expect(paused).toMatchObject({ ns: "main", var: "count", schedules: "late", pausedBy: "host" })
    const { id } = await tenant.events.publish({ type: "greeted", data: { name: "Bo" } })
    expect((await tenant.pauses.list()).items).toEqual([paused])
    expect(await tenant.pauses.get(paused.id)).toEqual({ ...paused, runs: { executing: 0, suspended: 0 } })
    expect(await tenant.events.runs(id)).toEqual([])
    await tenant.pauses.remove(paused.id)
    expect(await ended(id)).toMatchObject({ status: "succeeded" })
  })

  it("replays runs in the background", async () => {
    const replay = { kind: "replay", filter: { status: "succeeded", fn: "main/count", withinMs: 3_600_000 } } as const
    const total = await tenant.operations.preview(replay)
    expect(total).toBeGreaterThan(0)
    const { id, createdBy } = await tenant.operations.create({ ...replay, build: "deployed", rate: 100 })
    let operation = await tenant.operations.get(id)
    while (operation.endedAt === null) {
      await new Promise((resolve) => setTimeout(resolve, 20))
      operation = await tenant.operations.get(id)
    }
    expect(operation).toMatchObject({ kind: "replay", state: "succeeded", total, done: total, failures: [] })
    expect(createdBy).toBe("host")
    expect((await tenant.operations.list({ state: "succeeded" })).items).toEqual([operation])
    await expect(tenant.operations.cancel(id)).rejects.toMatchObject({ code: "bad_request" })
  })

  it("lets a host function refuse a call with a name and a message for the guest", async () => {
    const { run } = await tenant.call({ fn: "shop/ask", waitSeconds: 10 })
    expect(run?.status).toBe("failed")
    expect(JSON.stringify(run?.result)).toContain("shop/ask asks for nobody")
  })

  it("streams what happens in the environment", async () => {
    const seen: Array<string> = []
    const activity = tenant.activity()[Symbol.asyncIterator]()
    const first = activity.next()
    const { id } = await tenant.events.publish({ type: "greeted", data: { name: "Grace" } })
    for (let item = await first; !item.done; item = await activity.next()) {
      if ("eventId" in item.value && item.value.eventId === id) seen.push(item.value.type)
      if (item.value.type === "run:stop") break
    }
    expect(seen).toContain("event:created")
    await activity.return?.()
  })

  it("hands out sessions under an API key, with tokens as text", async () => {
    const { key, token } = await weft.apiKeys.create(tenant.id, { name: "browsers" })
    expect(token).toMatch(/^svc_/)
    const session = await tenant.sessions.create(key.id, { permissions: { "run:*": ["read"] }, metadata: { user: 7 } })
    expect(session.session).toMatchObject({ metadata: { user: 7 }, permissions: { "run:*": ["read"] } })
    expect(await tenant.sessions.revokeAll(key.id)).toBe(1)
  })

  it("stores files and streams them back", async () => {
    const file = await tenant.files.upload("notes/a.txt", new TextEncoder().encode("hello"), {
      contentType: "text/plain"
    })
    expect(file).toMatchObject({ path: "notes/a.txt", size: 5, contentType: "text/plain" })
    const chunks: Array<Uint8Array> = []
    for await (const chunk of tenant.files.download(file.id)) chunks.push(chunk)
    expect(Buffer.concat(chunks).toString()).toBe("hello")
  })

  it("rejects with a WeftError that has the code of the HTTP API", async () => {
    await expect(tenant.projects.get("nowhere")).rejects.toThrow(WeftError)
    await expect(tenant.projects.get("nowhere")).rejects.toMatchObject({ name: "WeftError", code: "not_found" })
    await expect(weft.env("no-such-environment").projects.list()).resolves.toMatchObject({ items: [], total: 0 })
  })

  it("returns how many secrets a key rotation encrypted", async () => {
    await tenant.secrets.create("shop", { key: "TOKEN", value: "hidden" })
    expect(await weft.secrets.rotateKeys()).toMatchObject({ rotated: 0, unreadable: 0 })
  })
})

describe("the mounts of an instance", () => {
  it("answer through Express middleware below a prefix, and pass other requests on", async () => {
    const middleware = weft.express({ prefix: "/automation" })
    const server = createServer((request, response) =>
      middleware(request, response, () => response.writeHead(418).end())
    )
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const address = server.address()
    const origin = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`
    const answer = await fetch(`${origin}/automation/webhook/acme/production/greeter/hello?name=Ada`)
    expect(await answer.json()).toEqual({ hi: "Ada" })
    expect((await fetch(`${origin}/other`)).status).toBe(418)
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })

  it("answer through a Hono handler", async () => {
    const request = new Request("http://localhost/webhook/acme/production/greeter/hello?name=Alan")
    const answer = await weft.hono()({ req: { raw: request } })
    expect(await answer.json()).toEqual({ hi: "Alan" })
  })

  it("listen on a port of their own, with the admin token given once", async () => {
    const { url } = await weft.listen({ port: 0 })
    const answer = await fetch(`${url}/admin/orgs`, { headers: { authorization: "Bearer admin-token-of-the-test" } })
    expect(answer.status).toBe(200)
    expect((await fetch(`${url}/admin/orgs`)).status).toBe(401)
  })
})

describe("createWeft", () => {
  it("rejects a missing data directory and names the option", async () => {
    await expect(createWeft({})).rejects.toThrow(/`dataDir` is missing/)
  })

  it("rejects a master key of the wrong size", async () => {
    const masterKeys = ["c2hvcnQ"] as const
    await expect(createWeft({ dataDir: join(dataDir, "other"), masterKeys })).rejects.toThrow(
      "`masterKeys[0]` must have 32 bytes (got 5)"
    )
  })

  it("rejects another master key over existing secrets, and starts with the former key or its id as lost", async () => {
    const [first, second] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
    const folder = join(dataDir, "keys")
    const withSecret = await createWeft({ dataDir: folder, masterKeys: [first] })
    const { projects, secrets } = await withSecret.tenants.ensure("acme")
    await projects.create({ name: "shop" })
    await secrets.create("shop", { key: "TOKEN", value: "hidden" })
    const { keyId } = await withSecret.secrets.rotateKeys()
    await withSecret.close()

    const refused = createWeft({ dataDir: folder, masterKeys: [second] })
    await expect(refused).rejects.toThrow(`need the master key with the id ${keyId}, but the current one has the id `)
    for (const keys of [
      { masterKeys: [second, first] as const },
      { masterKeys: [second] as const, lostMasterKeys: [keyId] }
    ]) {
      await (await createWeft({ dataDir: folder, ...keys })).close()
    }
  })

  it("rejects an empty database next to existing blobs, unless a new installation is intended", async () => {
    const [folder, other] = [join(dataDir, "blobs-only"), join(dataDir, "blobs-moved")]
    const withBlobs = await createWeft({ dataDir: folder })
    await deploy(await withBlobs.tenants.ensure("acme"), code)
    await withBlobs.close()
    cpSync(join(folder, "blobs"), join(other, "blobs"), { recursive: true })
    await expect(createWeft({ dataDir: other })).rejects.toThrow("The database is empty, but the blob store has blobs")
    await (await createWeft({ dataDir: other, newInstallation: true })).close()
  })

  it("rejects tokens of the host's routes that are short or that no client can send", async () => {
    const rule = "must be 16 to 512 visible ASCII characters without spaces"
    const start = (http: HttpOptions) => createWeft({ dataDir: join(dataDir, "other"), http })
    await expect(start({ adminToken: "short" })).rejects.toThrow(`\`http.adminToken\` ${rule}`)
    await expect(start({ metricsToken: "a token with spaces" })).rejects.toThrow(`\`http.metricsToken\` ${rule}`)
  })

  it("rejects a host function that hostFunction did not make", async () => {
    await expect(createWeft({ dataDir: join(dataDir, "other"), host: { "crm.lookup": {} } })).rejects.toThrow(
      '`host["crm.lookup"]` must be made by hostFunction()'
    )
  })
})

/** Resolves with the run of an event when it has ended. */
const ended = async (eventId: string) => {
  for (;;) {
    const [run] = await tenant.events.runs(eventId)
    if (run !== undefined && run.status !== "running") return run
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
