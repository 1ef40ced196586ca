import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { createClient } from "@weft/client"
import { afterAll, beforeAll } from "vitest"
import { CliHarness } from "./CliHarness.ts"

let harness: CliHarness
beforeAll(async () => {
  harness = await CliHarness.start()
})
afterAll(() => harness.close())

const nobody = "01890000-0000-7000-8000-000000000000"

const clientOf = (token: string) => createClient({ baseUrl: harness.listening.url, token, retry: false })

describe("weft whoami and weft usage", () => {
  it("show the server, the credential and the usage", async () => {
    const [who, text, usage, table, wrong] = await Promise.all([
      harness.json(["whoami"]),
      harness.run(["whoami"]),
      harness.json(["usage"]),
      harness.run(["usage"]),
      harness.run(["whoami"], { env: { WEFT_API_KEY: "svc_wrong" } })
    ])
    assert.deepInclude(who, { url: harness.listening.url, env_id: harness.envId, name: "prod", version: "1.2.3" })
    assert.deepInclude(who.credential, { kind: "API key" })
    assert.notInclude(text.stdout, harness.token)
    assert.match(text.stdout, /^credential +API key [0-9a-f-]{36}$/m)
    assert.strictEqual(usage.plan.name, "Self-Host")
    assert.match(table.stdout, /^runs in this period +\d+ +no limit$/m)
    assert.deepInclude(wrong, { code: 1, stdout: "" })
    assert.notInclude(wrong.stderr, "svc_wrong")
  })
})

describe("weft context", () => {
  const shop = ["--project", "shop"]

  it("creates and replaces a secret from stdin, and never shows it", async () => {
    const first = await harness.run(["context", "set", "TLS_KEY", ...shop, "--description", "of the bank"], {
      stdin: "two\nlines\n"
    })
    assert.deepInclude(first, { code: 0, stdout: "Set TLS_KEY of shop\n", stderr: "" })
    await harness.json(["context", "set", "TLS_KEY", ...shop], { stdin: "other lines" })
    const list = await harness.run(["context", "list", ...shop])
    assert.match(list.stdout, /^KEY +CHANGED +DESCRIPTION\nTLS_KEY +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +of the bank\n$/)
    const unset = await harness.run(["context", "unset", "TLS_KEY", ...shop])
    assert.deepInclude(unset, { code: 0, stdout: "Removed TLS_KEY from shop\n" })
    assert.deepStrictEqual(await harness.json(["context", "list", ...shop]), [])
  })

  it("uses the project of the folder by default", async () => {
    const folder = join(harness.folder, "shop", "src")
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(harness.folder, "shop", "weft.json"), '{"project": "shop", "entry": "src/index.ts"}')
    const set = await harness.run(["context", "set", "TOKEN"], { cwd: folder, stdin: "secret" })
    assert.strictEqual(set.stdout, "Set TOKEN of shop\n")
  })

  it("rejects values in the command line, empty values and a missing project", async () => {
    const [inLine, login, nothing, where, unknown, missing] = await Promise.all([
      harness.run(["context", "set", "TOKEN", "hunter2", "secret", ...shop]),
      harness.run(["login", "svc_secret"]),
      harness.run(["context", "set", "TOKEN", ...shop], { stdin: "" }),
      harness.run(["context", "list"]),
      harness.run(["context", "set", "TOKEN", "--project", "none"], { stdin: "x" }),
      harness.run(["context", "unset", "NONE", ...shop])
    ])
    for (const refused of [inLine, login]) {
      assert.deepInclude(refused, { code: 2, stdout: "" })
      assert.include(refused.stderr, "hint  omit it to get a prompt, or pipe it in")
      assert.notMatch(refused.stderr, /hunter2|secret/)
    }
    assert.deepInclude(nothing, { code: 2 })
    assert.include(where.stderr, "hint  name the project with --project")
    assert.deepInclude(unknown, { code: 1 })
    assert.deepInclude(missing, { code: 1 })
  })
})

describe("weft keys and weft sessions", () => {
  it("create credentials with the given permissions, list and revoke them", async () => {
    const [key, session] = await Promise.all([
      harness.run(["keys", "create", "--name", "ingest", "--allow", "event:order:created=create", "--expires", "90d"]),
      harness.json(["sessions", "create", "--allow", "run:*=read", "--allow", "env:*=read", "--expires", "15m"])
    ])
    const token = key.stdout.trim()
    const event = await clientOf(token).events.publish({ event_type: "order:created", event_data: { total: 1 } })
    assert.isString(event.event_id)
    assert.strictEqual((await clientOf(session.token).env.get()).name, "prod")
    assert.deepStrictEqual(session.permissions, { "run:*": ["read"], "env:*": ["read"] })
    const [keys, sessions] = await Promise.all([harness.run(["keys", "list"]), harness.run(["sessions", "list"])])
    assert.match(keys.stdout, /ingest +active until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d +event:order:created=create\n$/)
    assert.notInclude(keys.stdout, token)
    assert.match(sessions.stdout, /run:\*=read env:\*=read\n$/)
    const [made] = (await harness.client.serviceKeys.list()).items
    const [revoked, all] = await Promise.all([
      harness.run(["keys", "revoke", made?.service_key_id ?? ""]),
      harness.json(["sessions", "revoke", "--all"])
    ])
    assert.strictEqual(revoked.stdout, `Revoked ${made?.service_key_id}\n`)
    assert.deepStrictEqual(all, { revoked_count: 1 })
    assert.match((await harness.run(["keys", "list"])).stdout, /ingest +revoked/)
  })

  it("reject missing permissions, and invalid rules and durations", async () => {
    const [nothing, rule, time, which, missing] = await Promise.all([
      harness.run(["keys", "create", "--name", "ingest"]),
      harness.run(["keys", "create", "--allow", "events"]),
      harness.run(["sessions", "create", "--allow", "run:*=read", "--expires", "soon"]),
      harness.run(["sessions", "revoke"]),
      harness.run(["keys", "revoke", nobody])
    ])
    assert.deepInclude(nothing, { code: 2 })
    assert.include(nothing.stderr, "give --allow at least once")
    assert.include(rule.stderr, "--allow events: write it as type:path=action,action")
    assert.deepInclude(time, { code: 2 })
    assert.include(time.stderr, "Expected: a time such as 15m, 12h or 30d")
    assert.deepInclude(which, { code: 2 })
    assert.deepInclude(missing, { code: 1 })
  })
})

describe("weft domains", () => {
  it("registers, shows by name, verifies and removes", async () => {
    const added = await harness.run(["domains", "add", "hooks.example.com"])
    assert.match(added.stdout, /_acme-challenge\.hooks\.example\.com CNAME /)
    const [list, got, verified, missing] = await Promise.all([
      harness.json(["domains", "list"]),
      harness.json(["domains", "get", "hooks.example.com"]),
      harness.json(["domains", "verify", "hooks.example.com"]),
      harness.run(["domains", "get", "none.example.com"])
    ])
    assert.deepStrictEqual(list, [got])
    assert.deepInclude(verified, { domain: "hooks.example.com", status: "pending_validation" })
    assert.deepInclude(missing, { code: 1 })
    const removed = await harness.run(["domains", "remove", "hooks.example.com"])
    assert.deepInclude(removed, { code: 0 })
  })
})

describe("weft admin", () => {
  it("creates an organization with an environment and a key, and changes them", async () => {
    const org = await harness.json(["admin", "orgs", "create", "umbrella", "--plan", "Pro", "--name", "Umbrella"])
    assert.deepInclude(org, { slug: "umbrella", plan: "Pro" })
    const env = (await harness.run(["admin", "envs", "create", "umbrella", "test"])).stdout.trim()
    const made = await harness.json(["admin", "api-keys", "create", env, "--name", "ci", "--allow", "env:*=read"])
    assert.strictEqual((await clientOf(made.token).env.get()).env_id, env)
    const [updated, disabled] = await Promise.all([
      harness.json(["admin", "orgs", "update", "umbrella", "--members", "3"]),
      harness.json(["admin", "api-keys", "update", env, made.api_key_id, "--no-enabled"])
    ])
    assert.deepInclude(updated, { members: 3, plan: "Pro" })
    assert.deepInclude(disabled, { enabled: false, name: "ci" })
    const [orgs, envs, keys, resealed] = await Promise.all([
      harness.run(["admin", "orgs", "list"]),
      harness.run(["admin", "envs", "list", "umbrella"]),
      harness.run(["admin", "api-keys", "list", env]),
      harness.json(["admin", "reseal"])
    ])
    assert.match(orgs.stdout, /^umbrella +Pro +[0-9a-f-]{36} +Umbrella/m)
    assert.match(envs.stdout, new RegExp(`^test +${env} +yes$`, "m"))
    assert.match(keys.stdout, / no +.+ ci +env:\*=read\n$/)
    assert.strictEqual(resealed.unreadable, 0)
    const removed = await harness.run(["admin", "api-keys", "remove", env, made.api_key_id])
    assert.deepInclude(removed, { code: 0 })
  })

  it("needs the admin token and at least one change", async () => {
    const [without, wrong, nothing, missing] = await Promise.all([
      harness.run(["admin", "orgs", "list"], { env: { WEFT_ADMIN_TOKEN: "" } }),
      harness.run(["admin", "orgs", "list"], { env: { WEFT_ADMIN_TOKEN: "wrong" } }),
      harness.run(["admin", "orgs", "update", "acme"]),
      harness.run(["admin", "envs", "list", "none"])
    ])
    assert.deepInclude(without, { code: 1 })
    assert.include(without.stderr, "WEFT_ADMIN_TOKEN")
    assert.deepInclude(wrong, { code: 1 })
    assert.deepInclude(nothing, { code: 2 })
    assert.deepInclude(missing, { code: 1 })
  })
})
