/** Tenants and credentials in the promise API of a host without Effect, on an instance in memory. */
import { assert, describe, it } from "@effect/vitest"
import {
  firstPage,
  type HostProvisioning,
  type StartOptions,
  start,
  type WeftInstance,
  type WeftTenant
} from "@weft/core"
import { Credentials } from "@weft/core/internal"
import { MemoryStores, trustedSandbox } from "@weft/core/testing"
import { Redacted } from "effect"
import { onTestFinished } from "vitest"
import { masterKeys } from "../../world.ts"

const started = async (provisioning?: HostProvisioning): Promise<WeftInstance> => {
  const options: StartOptions = {
    database: MemoryStores.database,
    blobs: MemoryStores.blobs,
    sandbox: trustedSandbox({}),
    masterKeys
  }
  const weft = await start({ ...options, ...(provisioning === undefined ? {} : { provisioning }) })
  onTestFinished(() => weft.close())
  return weft
}

/** Returns the code of the error with which a promise must reject. */
const refusal = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => "nothing",
    (error) => error.code
  )

describe("tenants of a host", () => {
  it("are ensured with all operations in them", async () => {
    const weft = await started()
    const [acme, same] = await Promise.all([
      weft.tenants.ensure({ org: "acme", env: "production", plan: "Pro" }),
      weft.tenants.ensure({ org: "acme", env: "production", plan: "Pro" })
    ])
    assert.deepStrictEqual([same?.org, same?.env], [acme?.org, acme?.env])
    const { event_id } = await acme.events.publish({ type: "hello", data: 1 })
    assert.strictEqual((await weft.env(acme.env.env_id).events.get(event_id)).event_type, "hello")
    assert.strictEqual(await refusal(weft.tenants.ensure({ org: "A", env: "production" })), "bad_request")
  })

  it("are admitted and passed to hooks that return promises, return values or throw", async () => {
    const notified: Array<WeftTenant> = []
    const orgs: Array<string> = []
    const weft = await started({
      admit: ({ org }) => (org === "acme" ? Promise.resolve({ plan: "Pro" }) : null),
      onOrgCreated: (org) => {
        orgs.push(org.slug)
        throw new Error("a mistake that the tenant does not suffer from")
      },
      onEnvCreated: async (tenant) => {
        await tenant.projects.create({ name: "starter" })
        notified.push(tenant)
      }
    })
    const acme = await weft.tenants.ensure({ org: "acme", env: "production" })
    assert.deepStrictEqual(orgs, ["acme"])
    assert.deepStrictEqual(
      notified.map(({ org, env }) => [org, env]),
      [[acme.org, acme.env]]
    )
    assert.strictEqual((await acme.projects.get("starter")).name, "starter")
  })
})

describe("credentials that a host creates", () => {
  const withKey = async (permissions?: unknown) => {
    const weft = await started()
    const acme = await weft.tenants.ensure({ org: "acme", env: "production" })
    const { key } = await weft.apiKeys.create(acme.env.env_id, permissions === undefined ? {} : { permissions })
    const who = async (token: Redacted.Redacted<string>): Promise<ReadonlyArray<unknown>> => {
      const found = Credentials.use((credentials) => credentials.authenticate(Redacted.value(token)))
      const { type, id, permissions, metadata } = await weft.runtime.runPromise(found)
      return [type, id, permissions, metadata]
    }
    return { weft, acme, id: key.api_key_id, who }
  }

  it("are sessions and service keys of its API keys, whose tokens it does not need", async () => {
    const { acme, id, who } = await withKey()
    const permissions = { "run:*": ["read"] }
    const { session, token } = await acme.sessions.create(id, { permissions, metadata: { user: 7 }, expires_in: 60 })
    assert.deepStrictEqual(await who(token), ["session", session.session_id, permissions, { user: 7 }])
    assert.deepStrictEqual(session.metadata, { user: 7 })
    assert.deepStrictEqual(await acme.sessions.list(id), { items: [session], total: 1 })

    const made = await acme.serviceKeys.create(id, { name: "robot", permissions, metadata: ["a"] })
    assert.deepStrictEqual(await who(made.token), ["service-key", made.key.service_key_id, permissions, ["a"]])
    assert.deepStrictEqual(await acme.serviceKeys.get(id, made.key.service_key_id), made.key)
    assert.deepStrictEqual((await acme.serviceKeys.list(id, firstPage)).items, [made.key])
    assert.deepStrictEqual(made.key.metadata, ["a"])

    await acme.sessions.revoke(id, session.session_id)
    await acme.serviceKeys.revoke(id, made.key.service_key_id)
    assert.strictEqual(await refusal(who(token)), "unauthorized")
    assert.strictEqual(await refusal(who(made.token)), "unauthorized")
    await acme.sessions.create(id, { permissions })
    await acme.serviceKeys.create(id, { permissions })
    assert.strictEqual(await acme.sessions.revokeAll(id), 1)
    assert.strictEqual(await acme.serviceKeys.revokeAll(id), 1)
  })

  it("never exceed the key, and need the key's permission to create them", async () => {
    const { acme, id } = await withKey({ "run:*": ["read"], "session:*": ["create"] })
    assert.strictEqual(await refusal(acme.sessions.create(id, { permissions: { "run:*": ["read"] } })), "nothing")
    const more = { permissions: { "event:*": ["create"] } }
    assert.strictEqual(await refusal(acme.sessions.create(id, more)), "permission_escalation")
    assert.strictEqual(await refusal(acme.sessions.list(id)), "forbidden")
    assert.strictEqual(await refusal(acme.serviceKeys.create(id, { permissions: {} })), "forbidden")
    assert.strictEqual(await refusal(acme.sessions.create(id, { permissions: { "run:*": ["fly"] } })), "bad_request")
  })

  it("cannot be created for keys that are disabled, removed or of another environment", async () => {
    const { weft, acme, id } = await withKey()
    const other = await weft.tenants.ensure({ org: "acme", env: "staging" })
    assert.strictEqual(await refusal(other.sessions.create(id, { permissions: {} })), "not_found")
    assert.strictEqual(await refusal(acme.sessions.create("nothing", { permissions: {} })), "not_found")
    await weft.apiKeys.update(acme.env.env_id, id, { enabled: false })
    assert.strictEqual(await refusal(acme.sessions.create(id, { permissions: {} })), "unauthorized")
    assert.strictEqual(await refusal(acme.serviceKeys.list(id)), "unauthorized")
    await weft.apiKeys.remove(acme.env.env_id, id)
    assert.strictEqual(await refusal(acme.sessions.list(id)), "not_found")
  })
})

describe("closing", () => {
  it("ends pending calls of the host, and rejects new ones", async () => {
    const weft = await started()
    const tenant = await weft.tenants.ensure({ org: "acme", env: "production" })
    let signal = () => {}
    const calledBack = new Promise<void>((resolve) => {
      signal = resolve
    })
    const uploading = tenant.files.upload("endless", {
      [Symbol.asyncIterator]: () => ({
        next: () => {
          signal()
          return new Promise(() => undefined)
        }
      })
    })
    const ended = refusal(uploading)
    await calledBack
    await weft.close()
    assert.notStrictEqual(await ended, "nothing")
    assert.notStrictEqual(await refusal(tenant.projects.list()), "nothing")
  })
})
