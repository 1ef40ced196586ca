import { assert, describe, it } from "@effect/vitest"
import { createClient, WeftError, WeftNetworkError } from "@weft/client"
import { afterAll, beforeAll } from "vitest"
import { failing, type SentRequest } from "./server/Requests.ts"
import { Server } from "./server/Server.ts"

let server: Server

beforeAll(async () => {
  server = await Server.start()
})
afterAll(() => server.close())

/** Returns the error of a rejected promise. */
const failure = async (promise: PromiseLike<unknown>): Promise<unknown> => {
  try {
    await promise
  } catch (error) {
    return error
  }
  return assert.fail("it did not fail")
}

const all = () => true
const posts = ({ method }: SentRequest) => method === "POST"
const busy = () => failing(503)
const turnedAway = () => failing(429, { "retry-after": "1" }, "rate_limit_exceeded")

describe("retries", () => {
  it("follow errors of the server and the network if the request is idempotent", async () => {
    const { weft, requests } = server.client()
    requests.interceptNext(all, failing(500), "lost", new Response("<html>Bad gateway", { status: 502 }))
    assert.strictEqual((await weft.env.get()).env_id, server.envId)
    assert.strictEqual(requests.sent.length, 4)
  })

  it("do not exceed the maximum of attempts", async () => {
    const { weft, requests } = server.client({ retry: { attempts: 2, baseMs: 1 } })
    requests.intercept = busy
    const error = await failure(weft.env.get())
    assert.instanceOf(error, WeftError)
    assert.deepInclude({ ...error }, { status: 503, code: "internal_server_error", requestId: "r-1" })
    assert.strictEqual(requests.sent.length, 2)
    await failure(weft.env.get({ retry: false }))
    assert.strictEqual(requests.sent.length, 3)
    await failure(weft.env.get({ retry: { attempts: 3 } }))
    assert.strictEqual(requests.sent.length, 6)
  })

  it("do not happen for requests that are not idempotent", async () => {
    const { weft, requests } = server.client()
    requests.intercept = busy
    assert.instanceOf(await failure(weft.projects.create({ name: "once" })), WeftError)
    requests.intercept = () => "unanswered"
    assert.instanceOf(await failure(weft.projects.create({ name: "once" })), WeftNetworkError)
    assert.strictEqual(requests.sent.length, 2)
    requests.intercept = () => "pass"
    assert.strictEqual((await weft.projects.list()).total, 1)
  })

  it("follow rate limits for every request, after the server's delay", async () => {
    const { weft, requests } = server.client()
    requests.interceptNext(all, turnedAway())
    const begin = performance.now()
    await weft.projects.create({ name: "turned-away" })
    assert.isAtLeast(performance.now() - begin, 999)
    assert.strictEqual(requests.sent.length, 2)
  })

  it("do not happen if the server requests more than the maximum delay", async () => {
    const { weft, requests } = server.client({ retry: { maxMs: 500 } })
    requests.interceptNext(all, turnedAway())
    const error = await failure(weft.env.get())
    assert.deepInclude({ ...Object(error) }, { code: "rate_limit_exceeded", status: 429, retryAfter: 1 })
    assert.strictEqual(requests.sent.length, 1)
  })

  it("do not happen for too many sessions", async () => {
    const { weft, requests } = server.client()
    requests.intercept = () => failing(429, {}, "session_limit_exceeded")
    assert.deepInclude({ ...Object(await failure(weft.sessions.list())) }, { code: "session_limit_exceeded" })
    assert.strictEqual(requests.sent.length, 1)
  })

  it("do not happen for client errors", async () => {
    const { weft, requests } = server.client()
    const missing = await failure(weft.projects.get("none"))
    assert.instanceOf(missing, WeftError)
    assert.strictEqual(missing.message, "There is no such project")
    assert.deepInclude({ ...missing }, { name: "WeftError", code: "not_found", status: 404, retryAfter: null })
    assert.match(missing.requestId ?? "", /^[0-9a-f-]{36}$/)
    assert.strictEqual(requests.sent.length, 1)
  })
})

describe("events", () => {
  it("are published once, even if responses are lost repeatedly", async () => {
    const { weft, requests } = server.client()
    requests.interceptNext(posts, "unanswered", "unanswered", busy())
    const before = (await weft.events.list()).total
    const event = await weft.events.publish({ event_type: "paid", event_data: 1 })
    assert.strictEqual((await weft.events.list()).total, before + 1)
    assert.strictEqual((await weft.events.get(event.event_id)).event_type, "paid")
    const keys = requests.of("POST", "/v1/events").map(({ headers }) => headers.get("idempotency-key"))
    assert.strictEqual(keys.length, 4)
    assert.strictEqual(new Set(keys).size, 1)
  })

  it("are published twice by two calls, unless these have the same key", async () => {
    const { weft } = server.client()
    const input = { event_type: "paid", event_data: 2 }
    const ids = [await weft.events.publish(input), await weft.events.publish(input)].map(({ event_id }) => event_id)
    assert.notStrictEqual(ids[0], ids[1])
    const keyed = [1, 2].map(() => weft.events.publish(input, { idempotencyKey: "invoice-17" }))
    const [first, second] = await Promise.all(keyed)
    assert.strictEqual(first?.event_id, second?.event_id)
  })
})

describe("a request", () => {
  it("fails with the signal's reason when it is aborted, also during a delay", async () => {
    const reason = new Error("the user went away")
    const { weft, requests } = server.client({ retry: { baseMs: 60_000, maxMs: 60_000 } })
    requests.intercept = () => "stuck"
    const during = new AbortController()
    const first = failure(weft.env.get({ signal: during.signal }))
    during.abort(reason)
    assert.strictEqual(await first, reason)

    requests.intercept = busy
    const between = new AbortController()
    const second = failure(weft.env.get({ signal: between.signal }))
    setTimeout(() => between.abort(reason), 20)
    assert.strictEqual(await second, reason)
    assert.strictEqual(await failure(weft.env.get({ signal: AbortSignal.abort(reason) })), reason)
    assert.strictEqual(requests.sent.length, 2)
  })

  it("times out, and is retried", async () => {
    const { weft, requests } = server.client({ timeoutMs: 50 })
    requests.interceptNext(all, "stuck")
    assert.strictEqual((await weft.env.get()).env_id, server.envId)
    requests.intercept = () => "stuck"
    const error = await failure(weft.env.get({ retry: false, timeoutMs: 10 }))
    assert.instanceOf(error, WeftNetworkError)
    assert.strictEqual(error.message, "No response within 10 ms")
  })
})

describe("a response", () => {
  it("of another server has the code unrecognized", async () => {
    const { weft, requests } = server.client({ retry: false })
    requests.intercept = () =>
      new Response("<html>Welcome to the hotel's network", { headers: { "x-request-id": "x" } })
    const odd = await failure(weft.env.get())
    assert.deepInclude({ ...Object(odd) }, { code: "unrecognized", status: 200, requestId: "x" })
    requests.intercept = () => new Response("teapot", { status: 418 })
    assert.deepInclude({ ...Object(await failure(weft.env.get())) }, { code: "unrecognized", status: 418 })
    requests.intercept = () => new Response("null", { status: 404 })
    assert.deepInclude({ ...Object(await failure(weft.env.get())) }, { code: "unrecognized", status: 404 })
  })

  it("may have a date in Retry-After", async () => {
    const { weft, requests } = server.client({ retry: false })
    const times = { date: "Sat, 31 Jan 2026 12:00:00 GMT", "retry-after": "Sat, 31 Jan 2026 12:00:07 GMT" }
    requests.intercept = () => failing(503, times)
    assert.strictEqual(Object(await failure(weft.env.get())).retryAfter, 7)
    requests.intercept = () => failing(503, { "retry-after": "soon" })
    assert.strictEqual(Object(await failure(weft.env.get())).retryAfter, null)
  })
})

describe("a client", () => {
  it("does not reveal its token in errors", async () => {
    const { weft, requests } = server.client({ token: "secret\nvalue" })
    const error = await failure(weft.env.get())
    assert.instanceOf(error, TypeError)
    assert.notInclude(String(error), "secret")
    assert.isEmpty(requests.sent)
    const offline = createClient({ baseUrl: "http://127.0.0.1:1", token: "secret-token", retry: false })
    const lost = await failure(offline.env.get())
    assert.instanceOf(lost, WeftNetworkError)
    assert.notInclude(`${lost} ${lost.stack} ${lost.cause}`, "secret-token")
  })

  it("calls the token function before every attempt", async () => {
    const tokens = ["old", server.token]
    const { weft, requests } = server.client({ token: () => tokens.shift() ?? "none" })
    requests.interceptNext(all, busy())
    assert.strictEqual((await weft.env.get()).env_id, server.envId)
    assert.isEmpty(tokens)
  })

  it("rejects names that would change the path", () => {
    const { weft, requests } = server.client()
    for (const name of ["", ".", ".."]) {
      assert.throws(() => weft.projects.remove(name), TypeError)
      assert.throws(() => weft.files.put(name, "x"), TypeError)
    }
    assert.isEmpty(requests.sent)
  })

  it("supports a base URL with a path", async () => {
    const { weft, requests } = server.client({ baseUrl: `${server.listening.url}/weft/` })
    requests.intercept = () => Response.json({ status: "ok" })
    await weft.status.healthz()
    await weft.projects.get("a/b?c").catch(() => undefined)
    assert.deepStrictEqual(
      requests.sent.map(({ path }) => path),
      ["/weft/healthz", "/weft/v1/projects/a%2Fb%3Fc"]
    )
  })

  it("returns lists by page, and in full", async () => {
    const { weft, requests } = server.client()
    for (let n = 0; n < 5; n++) await weft.events.publish({ event_type: `numbered:${n}`, event_data: n })
    const { total } = await weft.events.list()
    const ids: Array<string> = []
    for await (const { event_id } of weft.events.list({ limit: 2, offset: 1 })) ids.push(event_id)
    assert.strictEqual(new Set(ids).size, total - 1)
    requests.sent.length = 0
    for await (const { items } of weft.events.list().pages()) assert.strictEqual(items.length, total)
    assert.deepStrictEqual(
      requests.sent.map(({ url }) => url.search),
      ["?limit=100&offset=0"]
    )
    assert.instanceOf(await weft.events.list({ limit: 1000 }).catch((error: unknown) => error), WeftError)
  })
})
