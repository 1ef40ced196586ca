import { assert, describe, it } from "@effect/vitest"
import { NotFound, StoreUnavailable, start, type WeftInstance } from "@weft/core"
import { EventStore, ProjectStore, TenantStore } from "@weft/core/adapter"
import { MemoryStores, trustedSandbox } from "@weft/core/testing"
import type { Listening } from "@weft/http"
import * as Http from "@weft/http"
import { Effect, Layer, Logger, Redacted } from "effect"
import { afterAll, beforeAll } from "vitest"
import { checkEnvelope, masterKeys, type Reply, replyOf } from "./server/TestServer.ts"

let weft: WeftInstance
let listening: Listening
let token: string
const logged: Array<string> = []

const down = Effect.fail(new StoreUnavailable({ operation: "get", cause: new Error("password=hunter2") }))

const logs = Logger.layer([Logger.map(Logger.formatLogFmt, (line) => void logged.push(line))])

/** A store whose projects are unavailable and whose events have a bug. The rest works. */
const broken = Layer.mergeAll(
  MemoryStores.database,
  Layer.succeed(
    ProjectStore,
    ProjectStore.of({
      insert: () => down,
      get: () => down,
      list: () => down,
      update: () => down,
      remove: () => down,
      removals: () => Effect.succeed([]),
      markSwept: () => down,
      forgetRemovals: () => Effect.void
    })
  ),
  Layer.succeed(
    EventStore,
    EventStore.of({
      get: () => Effect.fail(new NotFound({ resource: "event" })),
      getMany: () => Effect.succeed([]),
      list: () => Effect.die(new Error("password=hunter2 in our own SQL"))
    })
  ),
  logs
)

beforeAll(async () => {
  weft = await start({ database: broken, blobs: MemoryStores.blobs, sandbox: trustedSandbox({}), masterKeys })
  await weft.orgs.create({ slug: "acme" })
  const env = await weft.envs.create("acme", { name: "prod" })
  token = Redacted.value((await weft.apiKeys.create(env.env_id, {})).token)
  listening = await Http.listen(weft, { port: 0 })
})
afterAll(async () => {
  await listening.close()
  await weft.close()
})

const get = async (path: string): Promise<Reply> =>
  checkEnvelope(
    await replyOf(await fetch(`${listening.url}${path}`, { headers: { authorization: `Bearer ${token}` } }))
  )

const checkSilent = (reply: Reply): void => {
  assert.strictEqual(reply.status, 500)
  assert.strictEqual(reply.json.error.code, "internal_server_error")
  assert.notInclude(reply.text, "hunter2")
  assert.notInclude(reply.text, "    at ")
}

describe("an outage of the store", () => {
  it("returns 500 with Retry-After, and is logged with the request's id", async () => {
    const reply = await get("/v1/projects")
    checkSilent(reply)
    assert.match(reply.headers.get("retry-after") ?? "", /^[1-9]\d*$/)
    const line = logged.find((one) => one.includes(reply.json.error.request_id))
    assert.include(line ?? "", "hunter2")
  })
})

describe("an internal error", () => {
  it("returns 500 without details, and is logged with the request's id", async () => {
    const reply = await get("/v1/events")
    checkSilent(reply)
    assert.isNull(reply.headers.get("retry-after"))
    const line = logged.find((one) => one.includes(reply.json.error.request_id))
    assert.include(line ?? "", "our own SQL")
  })
})

describe("readiness", () => {
  it("fails with the store, while health does not", async () => {
    // The start needs the store.
    let isDown = false
    const store = Layer.effect(
      TenantStore,
      Effect.map(TenantStore, (real) =>
        TenantStore.of({ ...real, listOrgs: (page) => (isDown ? down : real.listOrgs(page)) })
      )
    ).pipe(Layer.provide(MemoryStores.database))
    const other = await start({
      database: Layer.mergeAll(MemoryStores.database, store, logs),
      blobs: MemoryStores.blobs,
      sandbox: trustedSandbox({}),
      masterKeys
    })
    const mounted = Http.fetch(other)
    isDown = true
    const reply = checkEnvelope(await replyOf(await mounted(new Request("http://weft/readyz"))))
    assert.deepInclude(
      { status: reply.status, code: reply.json.error.code },
      { status: 503, code: "internal_server_error" }
    )
    assert.match(reply.headers.get("retry-after") ?? "", /^[1-9]\d*$/)
    assert.strictEqual((await mounted(new Request("http://weft/healthz"))).status, 200)
    await mounted.close()
    await other.close()
  })
})
