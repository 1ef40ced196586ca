/** What a client does about code, secrets, credentials, domains and tenants. */
import { randomUUID } from "node:crypto"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { bundle, sha256 } from "../targets/upload.ts"
import { versionSource } from "./Guest.ts"
import type { Deed } from "./RunDeeds.ts"
import { known, until } from "./RunFacts.ts"
import { at, textAt, type World } from "./World.ts"

const form = (zip: Uint8Array, buildId: string): FormData => {
  const fields = new FormData()
  fields.set("hash", sha256(zip))
  fields.set("build_id", buildId)
  fields.set("file", new Blob([Buffer.from(zip)]), "build.zip")
  return fields
}

/** Uploads, and deploys it; whether both were acknowledged. */
export const deploy = async (world: World, project: string, source: string): Promise<boolean> => {
  const zip = bundle(source)
  const buildId = randomUUID()
  const path = `/v1/projects/${project}/builds`
  const uploaded = await known(world.ask("POST", path, { body: form(zip, buildId) }))
  if (uploaded !== null) {
    world.hold(`build ${buildId}`, async () => {
      const { status, bytes } = await world.ask("GET", `${path}/${buildId}/download`, { expected: [404] })
      return status === 200 && bytes.equals(zip) ? null : `downloading it answers ${status}, ${bytes.length} bytes`
    })
  }
  return uploaded !== null && (await known(world.ask("POST", `${path}/${buildId}/deploy`))) !== null
}

const deployingVersions = (): Deed => {
  /** Those that may be deployed: more than one where nobody was told. */
  let versions: ReadonlyArray<number | null> = [null]
  return async (world) => {
    const n = world.next()
    const isDeployed = await deploy(world, "versions", versionSource(n))
    versions = isDeployed ? [n] : [...versions, n]
    const allowed = versions
    const check = async (): Promise<string | null> => {
      const path = "/webhook/default/production/version/"
      const { status, body } = await world.ask("GET", path, { expected: [404] })
      const found = status === 404 ? null : at(body, "n")
      if (allowed.some((version) => version === found)) return null
      return `version ${found} answers, of ${allowed}`
    }
    world.hold(`deployed version ${n}`, check, "until the next look")
  }
}

const read = async (world: World, key: string): Promise<unknown> =>
  at((await world.ask("POST", "/webhook/default/production/crash/read", { body: { key } })).body, "value")

const isOneOf = (world: World, key: string, values: ReadonlyArray<string | null>) => async () => {
  const found = await read(world, key)
  return values.some((value) => value === found) ? null : `it is ${found}`
}

const path = "/v1/projects/crash/context"

const secret: Deed = async (world) => {
  const key = `KEY_${world.next()}`
  const made = await known(world.ask("POST", path, { body: { key, value: "first", description: "" } }))
  if (made === null) return world.hold(`secret ${key}`, isOneOf(world, key, [null, "first"]))
  const changed = await known(world.ask("PUT", `${path}/${key}`, { body: { value: "second" } }))
  const values = changed === null ? ["first", "second"] : ["second"]
  world.hold(`changed secret ${key}`, isOneOf(world, key, values))
}

const removedSecret: Deed = async (world) => {
  const key = `GONE_${world.next()}`
  const made = await known(world.ask("POST", path, { body: { key, value: "gone", description: "" } }))
  if (made === null) return
  const removed = await known(world.ask("DELETE", `${path}/${key}`))
  world.hold(`removed secret ${key}`, isOneOf(world, key, removed === null ? [null, "gone"] : [null]))
}

const credential =
  (collection: string, id: string, isRevoked: boolean): Deed =>
  async (world) => {
    const body = { permissions: { "env:*": ["read"] }, metadata: { n: world.next() } }
    const made = await known(world.ask("POST", `/v1/${collection}`, { body }))
    if (made === null) return
    const token = textAt(made.body, "data", "token")
    const opens = (statuses: ReadonlyArray<number>) => async () => {
      const { status } = await world.ask("GET", "/v1/env", { token, expected: [401] })
      return statuses.includes(status) ? null : `it answers ${status}`
    }
    const name = textAt(made.body, "data", id)
    if (!isRevoked) return world.hold(`${id} ${name}`, opens([200]))
    const revoked = await known(world.ask("DELETE", `/v1/${collection}/${name}`))
    world.hold(`revoked ${id} ${name}`, opens(revoked === null ? [200, 401] : [401]))
  }

/** Names that the DNS of the servers knows. */
export const setName = (file: string, name: string, value: string): void => {
  const names: Record<string, string> = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {}
  writeFileSync(file, JSON.stringify({ ...names, [name]: value }))
}

const domain =
  (names: string, isRemoved: boolean): Deed =>
  async (world) => {
    const host = `crash-${world.next()}.example.com`
    const made = await known(world.ask("POST", "/v1/domains", { body: { domain: host } }))
    if (made === null) return
    const data = at(made.body, "data")
    const id = textAt(data, "domain_id")
    setName(names, textAt(data, "validation_cname_name"), textAt(data, "validation_cname_value"))
    const verified = await known(world.ask("POST", `/v1/domains/${id}/verify`))
    const statusOf = async () => {
      const { status, body } = await world.ask("GET", `/v1/domains/${id}`, { expected: [404] })
      return status === 404 ? "gone" : at(body, "data", "status")
    }
    const isValidated = (status: unknown) => status !== "pending_validation" && status !== "gone"
    if (verified === null || !isRemoved) {
      return world.hold(`domain ${host}`, async () => {
        const status = await until(statusOf, (found) => verified === null || isValidated(found), 3_000)
        return isValidated(status) || (verified === null && status !== "gone") ? null : `it is ${status}`
      })
    }
    const removed = await known(world.ask("DELETE", `/v1/domains/${id}`))
    if (removed === null) return
    world.hold(`removed domain ${host}`, async () => {
      const status = await statusOf()
      return status === "gone" || status === "deleting" ? null : `it is ${status}`
    })
  }

const project: Deed = async (world) => {
  const name = `project-${world.next()}`
  const made = await known(world.ask("POST", "/v1/projects", { body: { name } }))
  if (made === null) return
  const id = textAt(made.body, "data", "project_id")
  const renamed = await known(world.ask("PATCH", `/v1/projects/${id}`, { body: { name: `${name}-b` } }))
  const removed = renamed === null ? null : await known(world.ask("DELETE", `/v1/projects/${id}`))
  world.hold(`project ${id}`, async () => {
    const { status, body } = await world.ask("GET", `/v1/projects/${id}`, { expected: [404] })
    if (removed !== null) return status === 404 ? null : "it is there, and was removed"
    // Where its removal was under way it may be gone.
    if (status === 404) return renamed === null ? "it is gone" : null
    const found = at(body, "data", "name")
    return found === `${name}-b` || (renamed === null && found === name) ? null : `its name is ${found}`
  })
}

const tenant: Deed = async (world) => {
  const slug = `org-${world.next()}`
  const org = await known(world.ask("POST", "/admin/orgs", { body: { slug } }))
  if (org === null) return
  const env = await known(world.ask("POST", `/admin/orgs/${slug}/envs`, { body: { name: "test" } }))
  world.hold(`organization ${slug}`, async () => {
    const { status, body } = await world.ask("GET", `/admin/orgs/${slug}/envs`, { expected: [404] })
    if (status === 404) return "it is gone"
    const [found] = Object.values(at(body, "data") ?? [])
    return env === null || at(found, "name") === "test" ? null : "its environment is gone"
  })
  if (env === null) return
  const keys = `/admin/envs/${textAt(env.body, "data", "env_id")}/api-keys`
  const key = await known(world.ask("POST", keys, { body: { name: "key", permissions: { "*:*": ["*"] } } }))
  if (key === null) return
  const token = textAt(key.body, "data", "token")
  const removed = await known(world.ask("DELETE", `${keys}/${textAt(key.body, "data", "api_key_id")}`))
  world.hold(`API key of ${slug}`, async () => {
    const { status } = await world.ask("GET", "/v1/env", { token, expected: [401] })
    return status === 401 || (removed === null && status === 200) ? null : `it answers ${status}`
  })
}

/** `names`: see `setName`. */
export const tenantDeeds = (names: string): Readonly<Record<string, Deed>> => ({
  deploy: deployingVersions(),
  "make and change a secret": secret,
  "remove a secret": removedSecret,
  "make a session": credential("sessions", "session_id", false),
  "revoke a session": credential("sessions", "session_id", true),
  "make a service key": credential("service-keys", "service_key_id", false),
  "revoke a service key": credential("service-keys", "service_key_id", true),
  "add a domain": domain(names, false),
  "remove a domain": domain(names, true),
  project,
  tenant
})

/** Seals everything anew that a former master key sealed. */
export const reseal: Deed = async (world) => {
  const answer = await known(world.ask("POST", "/admin/secrets/reseal"))
  world.hold(
    "everything is sealed with the new key",
    async () => {
      const { body } = answer ?? (await world.ask("POST", "/admin/secrets/reseal"))
      const unreadable = at(body, "data", "unreadable")
      return unreadable === 0 ? null : `${unreadable} values are unreadable`
    },
    "until the next look"
  )
  world.hold("the secret that is always there", isOneOf(world, "KEPT", ["kept"]))
}
