/** A visit to every corner of a server, carrying secrets that must not stay anywhere. */
import { createHash } from "node:crypto"
import { strToU8, zipSync } from "fflate"
import { expect } from "vitest"
import { z } from "zod"
import { type Canary, canaryOf, freshDigits, tokenCanary } from "./Canary.ts"
import { sweep } from "./Sweep.ts"
import { Visits } from "./Visits.ts"

export interface Place {
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

/** Everything that was answered, and the secrets that were made or sent. */
export const tour = async (place: Place, known: ReadonlyArray<Canary>): Promise<Visits> => {
  const visits = new Visits(place.url)
  const digits = { value: freshDigits(), metadata: freshDigits(), sent: freshDigits(), malformed: freshDigits() }
  visits.canaries.push(
    ...known,
    ...Object.entries(digits).map(([name, value]) => canaryOf(name, value)),
    tokenCanary("api key", place.apiKey)
  )
  await deployVault(visits, place)
  await manageSecrets(visits, place, digits.value)
  const tokens = await handOut(visits, place, digits.metadata)
  await callWebhooks(visits, place, [place.apiKey, ...tokens], digits.sent)
  await publish(visits, place)
  await administer(visits, place)
  await sweep(visits, place, { sent: digits.sent, malformed: digits.malformed })
  return visits
}

const deployVault = async (visits: Visits, { apiKey: token }: Place): Promise<void> => {
  expect((await visits.ask("POST", "/v1/projects", { token, json: { name: "vault" } })).status).toBe(201)
  const zip = zipSync({ "index.js": strToU8(source) })
  const form = new FormData()
  form.set("hash", createHash("sha256").update(zip).digest("hex"))
  form.set("file", new Blob([Buffer.from(zip)]), "build.zip")
  const uploaded = await visits.ask("POST", "/v1/projects/vault/builds", { token, body: form })
  const build = Id("build_id").parse(uploaded.json)
  expect((await visits.ask("POST", `/v1/projects/vault/builds/${build}/deploy`, { token })).status).toBe(200)
}

const manageSecrets = async (visits: Visits, { apiKey: token }: Place, digits: string): Promise<void> => {
  const path = "/v1/projects/vault/context"
  const value = `"${digits}"\n\\æ`
  const create = () => visits.ask("POST", path, { token, json: { key: "TOKEN", value, description: "d" } })
  expect((await create()).status).toBe(201)
  expect((await create()).status).toBe(400)
  expect((await visits.ask("POST", path, { token, json: { key: `K${"x".repeat(200)}`, value } })).status).toBe(400)
  expect((await visits.ask("PUT", `${path}/TOKEN`, { token, json: { value } })).status).toBe(200)
  expect((await visits.ask("PUT", `${path}/NONE`, { token, json: { value } })).status).toBe(404)
  expect((await visits.ask("PUT", `${path}/TOKEN`, { token, json: { value: [value] } })).status).toBe(400)
  expect((await visits.ask("PUT", `${path}/TOKEN`, { token, json: { value: value.repeat(3000) } })).status).toBe(400)
  expect((await visits.ask("GET", path, { token })).status).toBe(200)
}

/** The tokens of a session and a service key. */
const handOut = async (visits: Visits, { apiKey: token }: Place, digits: string): Promise<ReadonlyArray<string>> => {
  const json = { name: "tour", permissions: { "webhook:*": ["execute"] }, metadata: { tenant: digits } }
  const tokens: Array<string> = []
  for (const [name, path] of [
    ["session token", "/v1/sessions"],
    ["service key token", "/v1/service-keys"]
  ] as const) {
    const made = await visits.ask("POST", path, { token, json, shows: [name, "metadata"] })
    expect(made.status).toBe(201)
    const handed = Token.parse(made.json).data.token
    visits.canaries.push(tokenCanary(name, handed))
    tokens.push(handed)
    expect((await visits.ask("GET", path, { token, shows: ["metadata"] })).status).toBe(200)
    expect((await visits.ask("GET", path, { token: handed })).status).toBe(403)
    expect((await visits.ask("GET", path, { token: `${handed}x` })).status).toBe(401)
  }
  return tokens
}

const callWebhooks = async (
  visits: Visits,
  { webhooks }: Place,
  tokens: ReadonlyArray<string>,
  sent: string
): Promise<void> => {
  const headers = { authorization: `Bearer ${sent}`, cookie: `session=${sent}`, "x-signature": `sha256=${sent}` }
  const post = (path: string, asking: Parameters<Visits["ask"]>[2] = {}) =>
    visits.ask("POST", `${webhooks}/vault${path}`, { body: "{}", headers, ...asking })
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

/** An event whose handler fails twice; then everything that there is to read of runs. */
const publish = async (visits: Visits, { apiKey: token }: Place): Promise<void> => {
  const before = Stats.parse((await visits.ask("GET", "/v1/runs/stats", { token })).json).data.failed
  const json = { event_type: "tour", event_data: { harmless: true } }
  expect((await visits.ask("POST", "/v1/events", { token, json })).status).toBe(201)
  for (;;) {
    const { data } = Stats.parse((await visits.ask("GET", "/v1/runs/stats", { token })).json)
    if (data.failed >= before + 2 && data.running === 0) break
  }
  const { data } = Runs.parse((await visits.ask("GET", "/v1/runs?limit=100", { token })).json)
  for (const { run_id } of data) {
    for (const part of ["", "/logs", "/usage"]) await visits.ask("GET", `/v1/runs/${run_id}${part}`, { token })
  }
  await visits.ask("GET", "/v1/events", { token })
}

const Page = z.object({ pagination: z.object({ total: z.number() }) })

/** Reads the whole audit log, and gives how often somebody was refused. */
const refusedOnes = async (visits: Visits, token: string): Promise<number> => {
  expect((await visits.ask("GET", "/admin/audit?limit=100", { token })).status).toBe(200)
  const refused = await visits.ask("GET", "/admin/audit?limit=100&outcome=refused", { token })
  return Page.parse(refused.json).pagination.total
}

const administer = async (visits: Visits, { apiKey, adminToken: token }: Place): Promise<void> => {
  const org = await visits.ask("POST", "/admin/orgs", { token, json: { slug: "visited" } })
  const orgId = Id("org_id").parse(org.json)
  const env = await visits.ask("POST", `/admin/orgs/${orgId}/envs`, { token, json: { name: "tour" } })
  const keys = `/admin/envs/${Id("env_id").parse(env.json)}/api-keys`
  const made = await visits.ask("POST", keys, { token, json: {}, shows: ["other API key"] })
  const other = Token.parse(made.json).data.token
  visits.canaries.push(tokenCanary("other API key", other))
  expect((await visits.ask("GET", "/v1/env", { token: other })).status).toBe(200)
  expect((await visits.ask("GET", keys, { token })).status).toBe(200)
  const one = `${keys}/${Id("api_key_id").parse(made.json)}`
  expect((await visits.ask("PATCH", one, { token, json: { enabled: false } })).status).toBe(200)
  expect((await visits.ask("GET", "/v1/env", { token: other })).status).toBe(401)
  expect((await visits.ask("DELETE", one, { token })).status).toBe(204)
  expect((await visits.ask("POST", "/admin/secrets/reseal", { token })).status).toBe(200)
  expect((await visits.ask("GET", "/v1/audit?limit=100", { token: apiKey })).status).toBe(200)
  // Refusals are written once a second.
  await expect.poll(() => refusedOnes(visits, token), { timeout: 10_000 }).toBeGreaterThan(0)
}
