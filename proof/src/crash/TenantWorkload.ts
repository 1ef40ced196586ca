/** Operations on code, secrets, credentials, domains and tenants. */
import { randomUUID } from "node:crypto"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { bundle, sha256 } from "@weft/bench/instruments"
import { versionSource } from "./Guest.ts"
import { at, type Harness, textAt } from "./Harness.ts"
import { ifAnswered, until } from "./RunExpectations.ts"
import type { Operation } from "./RunWorkload.ts"

const form = (zip: Uint8Array, buildId: string): FormData => {
  const fields = new FormData()
  fields.set("hash", sha256(zip))
  fields.set("build_id", buildId)
  fields.set("file", new Blob([Buffer.from(zip)]), "build.zip")
  return fields
}

/** Uploads and deploys a build; returns true if both were acknowledged. */
export const deploy = async (harness: Harness, project: string, source: string): Promise<boolean> => {
  const zip = bundle(source)
  const buildId = randomUUID()
  const path = `/v1/projects/${project}/builds`
  const uploaded = await ifAnswered(harness.request("POST", path, { body: form(zip, buildId) }))
  if (uploaded !== null) {
    harness.expect(`build ${buildId}`, async () => {
      const { status, bytes } = await harness.request("GET", `${path}/${buildId}/download`, { expected: [404] })
      return status === 200 && bytes.equals(zip) ? null : `the download returns ${status} with ${bytes.length} bytes`
    })
  }
  return uploaded !== null && (await ifAnswered(harness.request("POST", `${path}/${buildId}/deploy`))) !== null
}

const deployingVersions = (): Operation => {
  /** Versions that may be deployed; several if a deployment got no response. */
  let versions: ReadonlyArray<number | null> = [null]
  return async (harness) => {
    const n = harness.next()
    const isDeployed = await deploy(harness, "versions", versionSource(n))
    versions = isDeployed ? [n] : [...versions, n]
    const allowed = versions
    const check = async (): Promise<string | null> => {
      const path = "/webhook/default/production/version/"
      const { status, body } = await harness.request("GET", path, { expected: [404] })
      const found = status === 404 ? null : at(body, "n")
      if (allowed.some((version) => version === found)) return null
      return `version ${found} responds instead of ${allowed}`
    }
    harness.expect(`deployed version ${n}`, check, "until the next check")
  }
}

const read = async (harness: Harness, key: string): Promise<unknown> =>
  at((await harness.request("POST", "/webhook/default/production/crash/read", { body: { key } })).body, "value")

const hasOneOf = (harness: Harness, key: string, values: ReadonlyArray<string | null>) => async () => {
  const found = await read(harness, key)
  return values.some((value) => value === found) ? null : `it is ${found}`
}

const path = "/v1/projects/crash/context"

const secret: Operation = async (harness) => {
  const key = `KEY_${harness.next()}`
  const made = await ifAnswered(harness.request("POST", path, { body: { key, value: "first", description: "" } }))
  if (made === null) return harness.expect(`secret ${key}`, hasOneOf(harness, key, [null, "first"]))
  const changed = await ifAnswered(harness.request("PUT", `${path}/${key}`, { body: { value: "second" } }))
  const values = changed === null ? ["first", "second"] : ["second"]
  harness.expect(`changed secret ${key}`, hasOneOf(harness, key, values))
}

const removedSecret: Operation = async (harness) => {
  const key = `GONE_${harness.next()}`
  const made = await ifAnswered(harness.request("POST", path, { body: { key, value: "gone", description: "" } }))
  if (made === null) return
  const removed = await ifAnswered(harness.request("DELETE", `${path}/${key}`))
  harness.expect(`removed secret ${key}`, hasOneOf(harness, key, removed === null ? [null, "gone"] : [null]))
}

const credential =
  (collection: string, id: string, isRevoked: boolean): Operation =>
  async (harness) => {
    const body = { permissions: { "env:*": ["read"] }, metadata: { n: harness.next() } }
    const made = await ifAnswered(harness.request("POST", `/v1/${collection}`, { body }))
    if (made === null) return
    const token = textAt(made.body, "data", "token")
    const opens = (statuses: ReadonlyArray<number>) => async () => {
      const { status } = await harness.request("GET", "/v1/env", { token, expected: [401] })
      return statuses.includes(status) ? null : `it returns ${status}`
    }
    const name = textAt(made.body, "data", id)
    if (!isRevoked) return harness.expect(`${id} ${name}`, opens([200]))
    const revoked = await ifAnswered(harness.request("DELETE", `/v1/${collection}/${name}`))
    harness.expect(`revoked ${id} ${name}`, opens(revoked === null ? [200, 401] : [401]))
  }

/** Adds a CNAME record to the DNS of the servers. */
const setName = (file: string, name: string, value: string): void => {
  const names: Record<string, string> = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {}
  writeFileSync(file, JSON.stringify({ ...names, [name]: value }))
}

const domain =
  (names: string, isRemoved: boolean): Operation =>
  async (harness) => {
    const host = `crash-${harness.next()}.example.com`
    const made = await ifAnswered(harness.request("POST", "/v1/domains", { body: { domain: host } }))
    if (made === null) return
    const data = at(made.body, "data")
    const id = textAt(data, "domain_id")
    setName(names, textAt(data, "validation_cname_name"), textAt(data, "validation_cname_value"))
    const verified = await ifAnswered(harness.request("POST", `/v1/domains/${id}/verify`))
    const readStatus = async () => {
      const { status, body } = await harness.request("GET", `/v1/domains/${id}`, { expected: [404] })
      return status === 404 ? "gone" : at(body, "data", "status")
    }
    const isValidated = (status: unknown) => status !== "pending_validation" && status !== "gone"
    if (verified === null || !isRemoved) {
      return harness.expect(`domain ${host}`, async () => {
        const status = await until(readStatus, (found) => verified === null || isValidated(found), 3_000)
        return isValidated(status) || (verified === null && status !== "gone") ? null : `it is ${status}`
      })
    }
    const removed = await ifAnswered(harness.request("DELETE", `/v1/domains/${id}`))
    if (removed === null) return
    harness.expect(`removed domain ${host}`, async () => {
      const status = await readStatus()
      return status === "gone" || status === "deleting" ? null : `it is ${status}`
    })
  }

const project: Operation = async (harness) => {
  const name = `project-${harness.next()}`
  const made = await ifAnswered(harness.request("POST", "/v1/projects", { body: { name } }))
  if (made === null) return
  const id = textAt(made.body, "data", "project_id")
  const renamed = await ifAnswered(harness.request("PATCH", `/v1/projects/${id}`, { body: { name: `${name}-b` } }))
  const removed = renamed === null ? null : await ifAnswered(harness.request("DELETE", `/v1/projects/${id}`))
  harness.expect(`project ${id}`, async () => {
    const { status, body } = await harness.request("GET", `/v1/projects/${id}`, { expected: [404] })
    if (removed !== null) return status === 404 ? null : "it exists although it was removed"
    // An unacknowledged removal may have taken effect.
    if (status === 404) return renamed === null ? "it does not exist" : null
    const found = at(body, "data", "name")
    return found === `${name}-b` || (renamed === null && found === name) ? null : `its name is ${found}`
  })
}

const tenant: Operation = async (harness) => {
  const slug = `org-${harness.next()}`
  const org = await ifAnswered(harness.request("POST", "/admin/orgs", { body: { slug } }))
  if (org === null) return
  const env = await ifAnswered(harness.request("POST", `/admin/orgs/${slug}/envs`, { body: { name: "test" } }))
  harness.expect(`organization ${slug}`, async () => {
    const { status, body } = await harness.request("GET", `/admin/orgs/${slug}/envs`, { expected: [404] })
    if (status === 404) return "it does not exist"
    const [found] = Object.values(at(body, "data") ?? [])
    return env === null || at(found, "name") === "test" ? null : "its environment does not exist"
  })
  if (env === null) return
  const keys = `/admin/envs/${textAt(env.body, "data", "env_id")}/api-keys`
  const key = await ifAnswered(harness.request("POST", keys, { body: { name: "key", permissions: { "*:*": ["*"] } } }))
  if (key === null) return
  const token = textAt(key.body, "data", "token")
  const removed = await ifAnswered(harness.request("DELETE", `${keys}/${textAt(key.body, "data", "api_key_id")}`))
  harness.expect(`API key of ${slug}`, async () => {
    const { status } = await harness.request("GET", "/v1/env", { token, expected: [401] })
    return status === 401 || (removed === null && status === 200) ? null : `it returns ${status}`
  })
}

/** Returns the operations; `names` is the file of `setName`. */
export const tenantWorkload = (names: string): Readonly<Record<string, Operation>> => ({
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

/** Re-encrypts all data of former master keys. */
export const rotateKeys: Operation = async (harness) => {
  const answer = await ifAnswered(harness.request("POST", "/admin/secrets/reseal"))
  harness.expect(
    "all data is encrypted with the new key",
    async () => {
      const { body } = answer ?? (await harness.request("POST", "/admin/secrets/reseal"))
      const unreadable = at(body, "data", "unreadable")
      return unreadable === 0 ? null : `${unreadable} values are unreadable`
    },
    "until the next check"
  )
  harness.expect("the permanent secret", hasOneOf(harness, "KEPT", ["kept"]))
}
