/** Sends secrets through all parts of a server. None of them may remain anywhere in plain text. */
import { createHash } from "node:crypto"
import { strToU8, zipSync } from "fflate"
import { expect } from "vitest"
import { z } from "zod"
import { type Canary, freshDigits, makeCanary, tokenCanary } from "./Canary.ts"
import { sweep } from "./Sweep.ts"
import { Visits } from "./Visits.ts"

export interface Target {
  readonly url: string
  /** `/webhook/{org}/{env}` */
  readonly webhooks: string
  readonly apiKey: string
  readonly adminToken: string
}

const source = `
const webhook = (path, more) => ({ webhook: { service: "vault", path, method: "POST", ...more }, "secret-headers": ["x-signature"] })
export const read = async (request, svc) => (await svc.context.get("TOKEN")).length
read.meta = webhook("/read")
export const fails = async (request, svc) => {
  const all = await svc.context.all()
  console.log("all:", all, JSON.stringify(all))
  svc.log.error("it is " + all.TOKEN, { nested: [{ all }] })
  throw new TypeError("cannot use " + JSON.stringify(all))
}
fails.meta = webhook("/fails")
export const who = (request, svc) => [request.auth.type, svc.caller.type]
who.meta = webhook("/who", { auth: "required" })
export const onEvent = async (event, svc) => {
  svc.log.info("read", await svc.context.get("TOKEN"))
  throw new Error(await svc.context.get("TOKEN"))
}
onEvent.meta = { event: "tour", retry: { attempts: 2, delay: "10ms", jitter: false } }
`

const Token = z.object({ data: z.object({ token: z.string() }) })
const Id = (name: string) =>
  z.object({ data: z.looseObject({ [name]: z.string() }) }).transform(({ data }) => z.string().parse(data[name]))

/** Returns all responses, and the created and sent secrets. */
export const tour = async (target: Target, known: ReadonlyArray<Canary>): Promise<Visits> => {
  const visits = new Visits(target.url)
  const digits = { value: freshDigits(), metadata: freshDigits(), sent: freshDigits(), malformed: freshDigits() }
  visits.canaries.push(
    ...known,
    ...Object.entries(digits).map(([name, value]) => makeCanary(name, value)),
    tokenCanary("api key", target.apiKey)
  )
  await deployVault(visits, target)
  await manageSecrets(visits, target, digits.value)
  const tokens = await createCredentials(visits, target, digits.metadata)
  await callWebhooks(visits, target, [target.apiKey, ...tokens], digits.sent)
  await publish(visits, target)
  await administer(visits, target)
  await sweep(visits, target, { sent: digits.sent, malformed: digits.malformed })
  return visits
}

const deployVault = async (visits: Visits, { apiKey: token }: Target): Promise<void> => {
  expect((await visits.request("POST", "/v1/projects", { token, json: { name: "vault" } })).status).toBe(201)
  const zip = zipSync({ "index.js": strToU8(source) })
  const form = new FormData()
  form.set("hash", createHash("sha256").update(zip).digest("hex"))
  form.set("file", new Blob([Buffer.from(zip)]), "build.zip")
  const uploaded = await visits.request("POST", "/v1/projects/vault/builds", { token, body: form })
  const build = Id("build_id").parse(uploaded.json)
  expect((await visits.request("POST", `/v1/projects/vault/builds/${build}/deploy`, { token })).status).toBe(200)
}

const manageSecrets = async (visits: Visits, { apiKey: token }: Target, digits: string): Promise<void> => {
  const path = "/v1/projects/vault/context"
  const value = `"${digits}"\n\\æ`
  const create = () => visits.request("POST", path, { token, json: { key: "TOKEN", value, description: "d" } })
  expect((await create()).status).toBe(201)
  expect((await create()).status).toBe(400)
  expect((await visits.request("POST", path, { token, json: { key: `K${"x".repeat(200)}`, value } })).status).toBe(400)
  expect((await visits.request("PUT", `${path}/TOKEN`, { token, json: { value } })).status).toBe(200)
  expect((await visits.request("PUT", `${path}/NONE`, { token, json: { value } })).status).toBe(404)
  expect((await visits.request("PUT", `${path}/TOKEN`, { token, json: { value: [value] } })).status).toBe(400)
  expect((await visits.request("PUT", `${path}/TOKEN`, { token, json: { value: value.repeat(3000) } })).status).toBe(
    400
  )
  expect((await visits.request("GET", path, { token })).status).toBe(200)
}

/** Creates a session and a service key, and returns their tokens. */
const createCredentials = async (
  visits: Visits,
  { apiKey: token }: Target,
  digits: string
): Promise<ReadonlyArray<string>> => {
  const json = { name: "tour", permissions: { "webhook:*": ["execute"] }, metadata: { tenant: digits } }
  const tokens: Array<string> = []
  for (const [name, path] of [
    ["session token", "/v1/sessions"],
    ["service key token", "/v1/service-keys"]
  ] as const) {
    const made = await visits.request("POST", path, { token, json, shows: [name, "metadata"] })
    expect(made.status).toBe(201)
    const credential = Token.parse(made.json).data.token
    visits.canaries.push(tokenCanary(name, credential))
    tokens.push(credential)
    expect((await visits.request("GET", path, { token, shows: ["metadata"] })).status).toBe(200)
    expect((await visits.request("GET", path, { token: credential })).status).toBe(403)
    expect((await visits.request("GET", path, { token: `${credential}x` })).status).toBe(401)
  }
  return tokens
}

const callWebhooks = async (
  visits: Visits,
  { webhooks }: Target,
  tokens: ReadonlyArray<string>,
  sent: string
): Promise<void> => {
  const headers = { authorization: `Bearer ${sent}`, cookie: `session=${sent}`, "x-signature": `sha256=${sent}` }
  const post = (path: string, options: Parameters<Visits["request"]>[2] = {}) =>
    visits.request("POST", `${webhooks}/vault${path}`, { body: "{}", headers, ...options })
  expect((await post("/read")).status).toBe(200)
  expect((await post("/fails")).status).toBe(500)
  expect((await post("/who")).status).toBe(401)
  expect((await post("/none")).status).toBe(404)
  for (const token of tokens) {
    const { authorization: _, ...others } = headers
    expect((await post("/who", { token, headers: others })).status).toBe(200)
    expect((await post("/fails", { token, headers: others })).status).toBe(500)
  }
}

const Stats = z.object({ data: z.object({ failed: z.number(), running: z.number() }) })
const Runs = z.object({ data: z.array(z.object({ run_id: z.string() })) })

/** Publishes an event whose handler fails twice, then reads all records of runs. */
const publish = async (visits: Visits, { apiKey: token }: Target): Promise<void> => {
  const before = Stats.parse((await visits.request("GET", "/v1/runs/stats", { token })).json).data.failed
  const json = { event_type: "tour", event_data: { harmless: true } }
  expect((await visits.request("POST", "/v1/events", { token, json })).status).toBe(201)
  for (;;) {
    const { data } = Stats.parse((await visits.request("GET", "/v1/runs/stats", { token })).json)
    if (data.failed >= before + 2 && data.running === 0) break
  }
  const { data } = Runs.parse((await visits.request("GET", "/v1/runs?limit=100", { token })).json)
  for (const { run_id } of data) {
    for (const part of ["", "/logs", "/usage"]) await visits.request("GET", `/v1/runs/${run_id}${part}`, { token })
  }
  await visits.request("GET", "/v1/events", { token })
}

const Page = z.object({ pagination: z.object({ total: z.number() }) })

/** Reads the whole audit log and returns the number of refused requests. */
const countRefusals = async (visits: Visits, token: string): Promise<number> => {
  expect((await visits.request("GET", "/admin/audit?limit=100", { token })).status).toBe(200)
  const refused = await visits.request("GET", "/admin/audit?limit=100&outcome=refused", { token })
  return Page.parse(refused.json).pagination.total
}

const administer = async (visits: Visits, { apiKey, adminToken: token }: Target): Promise<void> => {
  const org = await visits.request("POST", "/admin/orgs", { token, json: { slug: "visited" } })
  const orgId = Id("org_id").parse(org.json)
  const env = await visits.request("POST", `/admin/orgs/${orgId}/envs`, { token, json: { name: "tour" } })
  const keys = `/admin/envs/${Id("env_id").parse(env.json)}/api-keys`
  const made = await visits.request("POST", keys, { token, json: {}, shows: ["other API key"] })
  const other = Token.parse(made.json).data.token
  visits.canaries.push(tokenCanary("other API key", other))
  expect((await visits.request("GET", "/v1/env", { token: other })).status).toBe(200)
  expect((await visits.request("GET", keys, { token })).status).toBe(200)
  const one = `${keys}/${Id("api_key_id").parse(made.json)}`
  expect((await visits.request("PATCH", one, { token, json: { enabled: false } })).status).toBe(200)
  expect((await visits.request("GET", "/v1/env", { token: other })).status).toBe(401)
  expect((await visits.request("DELETE", one, { token })).status).toBe(204)
  expect((await visits.request("POST", "/admin/secrets/reseal", { token })).status).toBe(200)
  expect((await visits.request("GET", "/v1/audit?limit=100", { token: apiKey })).status).toBe(200)
  // Refusals are written once a second.
  await expect.poll(() => countRefusals(visits, token), { timeout: 10_000 }).toBeGreaterThan(0)
}
