import { assert, describe, it } from "@effect/vitest"
import type { Env } from "@weft/core"
import { ApiKeys, Caller, Runs, ServiceKeys, Sessions, Webhooks } from "@weft/core"
import { Credentials, type WebhookCall } from "@weft/core/internal"
import type { TrustedFunction } from "@weft/core/testing"
import { Effect, type Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { allRuns, asHost, deployed, settle, world } from "../../world.ts"

const endpoint = (path: string, extra: object, fn: (...args: ReadonlyArray<never>) => unknown): TrustedFunction =>
  Object.assign(fn, {
    meta: { webhook: { service: "greeter", path, method: "POST", ...extra }, "secret-headers": ["x-signature"] }
  })

interface Request {
  readonly body: unknown
  readonly "body-raw": string
  readonly ip: string
  readonly auth?: object
}

const who = () => (request: Request, svc: { readonly caller: unknown; readonly request: Request }) => ({
  auth: request.auth ?? "none",
  caller: svc.caller,
  same: svc.request === request
})

const modules = {
  shop: {
    main: {
      plain: endpoint("/plain", {}, () => ({ hello: 1 })),
      nothing: endpoint("/nothing", {}, () => undefined),
      response: endpoint("/response", {}, () => ({ status: 201, headers: { "x-a": "b" }, body: { made: true } })),
      empty: endpoint("/empty", {}, () => ({ status: 204 })),
      text: endpoint("/text", {}, () => ({ status: 200, headers: { "content-type": "text/plain" }, body: "hi" })),
      throws: endpoint("/throws", {}, () => {
        throw new Error("secret detail")
      }),
      wild: endpoint("/wild", {}, () => ({ status: 99 })),
      echo: endpoint("/echo", {}, (request: Request) => ({
        body: request.body,
        raw: request["body-raw"],
        ip: request.ip
      })),
      closed: endpoint("/closed", { auth: "required" }, (request: Request) => request.auth),
      who: endpoint("/who", { auth: "required" }, who()),
      plainClosed: endpoint("/plain-closed", { auth: "required" }, () => null),
      anyone: endpoint("/anyone", {}, who()),
      never: endpoint("/never", {}, () => new Promise(() => {}))
    }
  }
}

type World = Layer.Success<ReturnType<typeof world>>

const check = <E>(claim: string, body: (env: Env) => Effect.Effect<void, E, World>) =>
  it.effect(claim, () => Effect.provide(Effect.flatMap(deployed("shop"), body), world(modules)))

const call = (path: string, more: Partial<WebhookCall> = {}): WebhookCall => ({
  org: "shop",
  env: "production",
  service: "greeter",
  path,
  method: "POST",
  url: `/webhook/shop/production/greeter${path}`,
  query: {},
  headers: {},
  body: null,
  remoteIp: "127.0.0.1",
  token: null,
  ...more
})

const handle = (path: string, more: Partial<WebhookCall> = {}) =>
  Webhooks.use((webhooks) => webhooks.handle(call(path, more)))

const send = (type: string, text: string) =>
  Effect.map(handle("/echo", { headers: { "content-type": type }, body: new TextEncoder().encode(text) }), (answer) =>
    JSON.parse(String(answer.body))
  )

describe("Webhooks", () => {
  check("send a plain value as 200 JSON, and a response object as it is", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* handle("/plain"), {
        status: 200,
        headers: { "content-type": "application/json" },
        body: '{"hello":1}'
      })
      assert.strictEqual((yield* handle("/nothing")).body, "null")
      const made = yield* handle("/response")
      assert.deepStrictEqual([made.status, made.headers["x-a"], made.body], [201, "b", '{"made":true}'])
      const text = yield* handle("/text")
      assert.deepStrictEqual([text.headers["content-type"], text.body], ["text/plain", "hi"])
    })
  )

  check("store the run before the response", (env) =>
    Effect.gen(function* () {
      yield* handle("/response")
      const [run] = yield* allRuns(env)
      assert.strictEqual(run?.status, "succeeded")
      assert.strictEqual(run?.run_type, "call")
      assert.deepStrictEqual(JSON.parse(run?.result ?? ""), {
        status: 201,
        headers: { "x-a": "b" },
        body: { made: true }
      })
      yield* handle("/empty")
      assert.deepStrictEqual(
        (yield* allRuns(env)).map(({ result }) => result),
        ['{"status":204}', run?.result]
      )
    })
  )

  check("hide the error of a function from the caller and store it for the author", (env) =>
    Effect.gen(function* () {
      for (const path of ["/throws", "/wild"]) {
        const error = yield* Effect.flip(handle(path))
        assert.strictEqual(error._tag, "FunctionFailed")
        assert.notInclude(error.message, "secret detail")
      }
      const runs = yield* allRuns(env)
      assert.deepStrictEqual(
        runs.map((run) => run.status),
        ["failed", "failed"]
      )
      assert.include(runs[1]?.result ?? "", "secret detail")
    })
  )

  check("find an endpoint only by its method and path", () =>
    Effect.gen(function* () {
      for (const wrong of [
        call("/plain/"),
        call("/Plain"),
        call("/plain", { method: "GET" }),
        call("/plain", { env: "staging" })
      ]) {
        assert.strictEqual((yield* Effect.flip(Webhooks.use((webhooks) => webhooks.handle(wrong))))._tag, "NotFound")
      }
    })
  )

  check("refuse JSON bodies with more than 250,000 arrays and objects", () =>
    Effect.gen(function* () {
      const post = (text: string) =>
        handle("/plain", { headers: { "content-type": "application/json" }, body: new TextEncoder().encode(text) })
      const arrays = (count: number): string => `[${"[],".repeat(count - 2)}[]]`
      assert.strictEqual((yield* post(arrays(250_000))).status, 200)
      const error = yield* Effect.flip(post(arrays(250_001)))
      assert.deepStrictEqual(
        [error._tag, error.message],
        ["BadRequest", "The body must not have more than 250,000 arrays and objects"]
      )
      assert.strictEqual((yield* post(JSON.stringify("[".repeat(250_001)))).status, 200)
    })
  )

  check("decode bodies by content type", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* send("application/json", '{"a":1}')).body, { a: 1 })
      assert.deepStrictEqual((yield* send("application/problem+json; charset=utf-8", "[1]")).body, [1])
      assert.deepStrictEqual((yield* send("application/json", "{broken")).body, "{broken")
      assert.deepStrictEqual((yield* send("application/x-www-form-urlencoded", "a=1&b=%C3%A6")).body, {
        a: "1",
        b: "æ"
      })
      assert.deepStrictEqual((yield* send("text/plain", "words")).body, "words")
      const binary = yield* send("application/octet-stream", "\u0001\u0002")
      assert.deepStrictEqual([binary.body, binary.raw], [null, "AQI="])
    })
  )

  check("read the client's address from proxy headers", () =>
    Effect.gen(function* () {
      const ip = Effect.fnUntraced(function* (headers: Record<string, string>) {
        return JSON.parse(String((yield* handle("/echo", { headers })).body)).ip
      })
      assert.strictEqual(
        yield* ip({ "x-forwarded-for": "203.0.113.7, 10.0.0.1", "x-real-ip": "10.0.0.2" }),
        "203.0.113.7"
      )
      assert.strictEqual(yield* ip({ "x-real-ip": "10.0.0.2" }), "10.0.0.2")
      assert.strictEqual(yield* ip({}), "127.0.0.1")
    })
  )

  check("require a credential of the environment with the permission for auth: required", (env) =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const token = Effect.fnUntraced(function* (of: Env, permissions: Record<string, Array<string>>) {
        return Redacted.value((yield* keys.create(of.env_id, { permissions })).token)
      })
      const elsewhere = yield* deployed("shop", "elsewhere")
      const tag = (given: string | null) =>
        Effect.map(Effect.flip(handle("/closed", { token: given })), (error) => error._tag)
      assert.strictEqual(yield* tag(null), "Unauthorized")
      assert.strictEqual(yield* tag("svc_nonsense"), "Unauthorized")
      assert.strictEqual(yield* tag(yield* token(elsewhere, { "*:*": ["*"] })), "Unauthorized")
      assert.strictEqual(yield* tag(yield* token(env, { "webhook:other": ["execute"] })), "Forbidden")
      const answer = yield* handle("/closed", { token: yield* token(env, { "webhook:greeter": ["execute"] }) })
      assert.strictEqual(JSON.parse(String(answer.body)).type, "api-key")
    })
  )

  check("admit a call without running it, with the same checks", (env) =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const admit = (path: string, token: string | null) =>
        Webhooks.use((webhooks) => webhooks.admit(call(path, { token })))
      const tag = (path: string, token: string | null) =>
        Effect.map(Effect.flip(admit(path, token)), (error) => error._tag)
      const { token } = yield* keys.create(env.env_id, { permissions: { "webhook:other": ["execute"] } })
      assert.strictEqual(yield* tag("/closed", null), "Unauthorized")
      assert.strictEqual(yield* tag("/closed", Redacted.value(token)), "Forbidden")
      assert.strictEqual(yield* tag("/none", null), "NotFound")
      assert.isUndefined(yield* admit("/plain", null))
      assert.deepStrictEqual(yield* allRuns(env), [])
    })
  )

  check("pass type, id, permissions and metadata of the caller to the function", (env) =>
    Effect.gen(function* () {
      const { token: apiKey, key } = yield* ApiKeys.use((keys) => keys.create(env.env_id, {}))
      const identity = yield* Credentials.use((credentials) => credentials.authenticate(Redacted.value(apiKey)))
      const input = { permissions: { "webhook:greeter": ["execute"] }, metadata: { customer: ["c-17", null] } }
      const asKey = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provideService(effect, Caller, identity)
      const { session, token: ofSession } = yield* asKey(Sessions.use((sessions) => sessions.create(input)))
      const { key: serviceKey, token: ofKey } = yield* asKey(ServiceKeys.use((keys) => keys.create(input)))
      for (const [type, id, token, permissions, metadata] of [
        ["api-key", key.api_key_id, apiKey, { "*:*": ["*"] }, null],
        ["session", session.session_id, ofSession, input.permissions, input.metadata],
        ["service-key", serviceKey.service_key_id, ofKey, input.permissions, input.metadata]
      ] as const) {
        const answer = yield* handle("/who", { token: Redacted.value(token) })
        assert.deepStrictEqual(JSON.parse(String(answer.body)), {
          auth: { type, [type]: { id, meta: metadata } },
          caller: { type, id, permissions, metadata },
          same: true
        })
        const open = yield* handle("/anyone", { token: Redacted.value(token) })
        assert.deepStrictEqual(JSON.parse(String(open.body)), { auth: "none", caller: null, same: true })
      }
    })
  )

  check("check the permissions of a session or service key and of its API key", (env) =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const { token, key } = yield* keys.create(env.env_id, {})
      const identity = yield* Credentials.use((credentials) => credentials.authenticate(Redacted.value(token)))
      const child = (permissions: unknown) =>
        Sessions.use((sessions) => sessions.create({ permissions })).pipe(
          Effect.provideService(Caller, identity),
          Effect.map((made) => Redacted.value(made.token))
        )
      const good = yield* child({ "webhook:greeter": ["execute"] })
      const bad = yield* child({ "webhook:other": ["execute"], "mcp:*": ["execute"] })
      const tag = (given: string) => Effect.map(Effect.flip(handle("/closed", { token: given })), (error) => error._tag)
      assert.strictEqual(yield* tag(bad), "Forbidden")
      assert.strictEqual((yield* handle("/closed", { token: good })).status, 200)
      yield* keys.update(env.env_id, key.api_key_id, { permissions: { "webhook:other": ["execute"] } })
      assert.strictEqual(yield* tag(good), "Forbidden")
      yield* keys.update(env.env_id, key.api_key_id, { enabled: false })
      assert.strictEqual(yield* tag(good), "Unauthorized")
    })
  )

  check("log no values of auth and no metadata", (env) =>
    Effect.gen(function* () {
      const { token } = yield* ApiKeys.use((keys) => keys.create(env.env_id, {}))
      const identity = yield* Credentials.use((credentials) => credentials.authenticate(Redacted.value(token)))
      const input = { permissions: { "webhook:*": ["execute"] }, metadata: { customer: "c-17" } }
      const made = yield* ServiceKeys.use((keys) => keys.create(input)).pipe(Effect.provideService(Caller, identity))
      yield* handle("/plain-closed", { token: Redacted.value(made.token) })
      const [run] = yield* allRuns(env)
      const logs = yield* asHost(
        env,
        Runs.use((runs) => runs.logs(run?.run_id ?? "", { limit: 10, offset: 0 }))
      )
      assert.deepStrictEqual(JSON.parse(logs.items[0]?.data ?? "null").auth, { type: "***", "service-key": "***" })
      assert.notInclude(JSON.stringify([run, logs]), "c-17")
    })
  )

  check("log the request with masked secrets", (env) =>
    Effect.gen(function* () {
      const { token } = yield* ApiKeys.use((keys) => keys.create(env.env_id, {}))
      const headers = { authorization: "Bearer x", cookie: "c=1", "x-signature": "s", "user-agent": "test" }
      yield* handle("/closed", { token: Redacted.value(token), headers, query: { page: "2" } })
      const [run] = yield* allRuns(env)
      const logs = yield* asHost(
        env,
        Runs.use((runs) => runs.logs(run?.run_id ?? "", { limit: 10, offset: 0 }))
      )
      const data = JSON.parse(logs.items[0]?.data ?? "null")
      assert.deepStrictEqual(data.headers, {
        authorization: "***",
        cookie: "***",
        "x-signature": "***",
        "user-agent": "test"
      })
      assert.deepStrictEqual(data.query, { page: "2" })
      assert.deepStrictEqual(data.auth, { type: "***", "api-key": "***" })
    })
  )

  check("list a long run as running, and cancel it when the client disconnects", (env) =>
    Effect.gen(function* () {
      const waiting = yield* Effect.forkChild(handle("/never"))
      yield* TestClock.adjust("100 millis")
      yield* settle
      assert.strictEqual((yield* allRuns(env))[0]?.status, "running")
      waiting.interruptUnsafe()
      yield* settle
      assert.strictEqual((yield* allRuns(env))[0]?.status, "cancelled")
    })
  )
})
