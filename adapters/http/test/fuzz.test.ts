/**
 * Thousands of requests, derived from the OpenAPI document and then mutated, from several clients at once. Every response is
 * 2xx or 4xx in the envelope, and the server keeps running.
 *
 * The requests of a client derive from its seed. A failure prints the seed and the path to the smallest failing request.
 */
import { assert, it } from "@effect/vitest"
import { errorStatus } from "@weft/api"
import { localZones } from "@weft/core"
import { Dns } from "@weft/core/adapter"
import { Effect, Layer } from "effect"
import fc from "fast-check"
import { afterAll, beforeAll } from "vitest"
import { onBackendOfRun } from "./conformance/Backends.ts"
import { marker } from "./fuzz/Bodies.ts"
import { type Client, openClient } from "./fuzz/Client.ts"
import { type FuzzRequest, fuzzRequest } from "./fuzz/Requests.ts"
import { createResources, type Tenant } from "./isolation/Tenant.ts"
import { backendOfRun } from "./server/Backend.ts"
import { modules } from "./server/functions.ts"
import { adminToken, checkEnvelope, type Reply } from "./server/TestServer.ts"

/** Fewer requests, from other seeds, on the third backend, because the layers above the stores are already tested. */
const isThird = backendOfRun === "PostgreSQL and S3"
const seed = isThird ? 20_260_207 : 20_260_131
/** Clients that send at the same time, because most of the time is spent waiting for the disk. */
const clients = 4
const requestsPerClient = isThird ? 500 : 1000
/** Requests after which deleted resources are created again. */
const life = 250

const isCode = (code: string): code is keyof typeof errorStatus => Object.hasOwn(errorStatus, code)

/** The response of a webhook while its environment is paused, which a request may do. */
const ofPauses = "503 paused"

/** Requests with unsatisfiable ranges and failing `If-Match`. */
const ofPreconditions = new Set(["416 bad_request", "412 bad_request"])

const check = (reply: Reply): void => {
  checkEnvelope(reply)
  const { status, json, text } = reply
  const isPaused = status >= 400 && `${status} ${json.error.code}` === ofPauses
  assert.isTrue((status >= 200 && status < 300) || status === 304 || (status >= 400 && status < 500) || isPaused, text)
  if (status < 400) return
  const { code, message } = json.error
  assert.isTrue(isCode(code) && (errorStatus[code] === status || ofPreconditions.has(`${status} ${code}`)), text)
  assert.isNotEmpty(message)
  assert.notInclude(text, marker, `an error quotes the body: ${text}`)
}

/** A DNS that finds no name, without errors. */
const quietDns = Layer.succeed(Dns, {
  resolveCname: () => Effect.succeed([]),
  resolveAddresses: () => Effect.succeed([])
})
const options = { modules, http: { bodyBytes: 64 * 1024 }, weft: { domains: { ...localZones, dns: quietDns } } }

onBackendOfRun(options, ({ server }) => {
  let client: Client
  let admin: ReadonlyMap<string, string>

  /** A separate environment for the admin routes, which can delete everything. */
  beforeAll(async () => {
    client = openClient(server().listening.url)
    const org = await server().weft.orgs.create({ slug: "fuzzed" })
    const env = await server().weft.envs.create("fuzzed", { name: "prod" })
    const { key } = await server().weft.apiKeys.create(env.env_id, {})
    admin = new Map([
      ["org", org.slug],
      ["env_id", env.env_id],
      ["api_key_id", key.api_key_id]
    ])
  })
  afterAll(() => client.close())

  /** The names of a webhook whose function accepts any request. */
  const webhook = new Map([
    ["org", "acme"],
    ["env", "prod"],
    ["service", "shop"],
    ["path", "item/deep"]
  ])

  const send = (tenant: Tenant, { method, path, headers, body, credential }: FuzzRequest): Promise<Reply> => {
    const isAdmin = path.startsWith("/admin")
    const names = path.startsWith("/webhook") ? webhook : isAdmin ? admin : tenant.ids
    const token = isAdmin ? adminToken : server().token
    const authorization = credential === "right" ? `Bearer ${token}` : `Bearer ${token}x`
    return client.send({
      method,
      path: path.replace(/\{(\w+)\}/g, (_, name: string) => names.get(name) ?? name),
      headers: { ...headers, ...(credential === "none" ? {} : { authorization }) },
      body
    })
  }

  /** Sends the requests of one client, each to resources of its own. */
  const sendAll = async (number: number): Promise<void> => {
    let tenant: Tenant
    let sent = 0
    await fc.assert(
      fc.asyncProperty(fuzzRequest, async (request) => {
        if (sent % life === 0) tenant = await createResources(server(), server().token, `fuzz-${number}-${sent / life}`)
        sent++
        const reply = await send(tenant, request)
        if (request.method === "HEAD") return assert.isNotNull(reply.headers.get("x-request-id"))
        check(reply)
      }),
      { seed: seed + number, numRuns: requestsPerClient, endOnFailure: false }
    )
  }

  it(`answers ${clients * requestsPerClient} requests with 2xx or 4xx in the envelope, and keeps running`, {
    timeout: 120_000
  }, async () => {
    await server().deploy("hooks", "shop")
    await Promise.all(Array.from({ length: clients }, (_, number) => sendAll(number)))
    assert.strictEqual((await server().call("GET", "/readyz")).status, 200)
    assert.strictEqual((await server().call("GET", "/v1/env")).status, 200)
  })
})
