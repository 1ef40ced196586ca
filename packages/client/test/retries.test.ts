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

/** What a promise fails with. */
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

describe("requests are repeated", () => {
  it("after failures of the server and of the network, if that is safe", async () => {
    const { weft, requests } = server.client()
    requests.disturb(all, failing(500), "lost", new Response("<html>Bad gateway", { status: 502 }))
    assert.strictEqual((await weft.env.get()).env_id, server.envId)
    assert.strictEqual(requests.sent.length, 4)
  })

  it("not more often than was said", async () => {
    const { weft, requests } = server.client({ retry: { attempts: 2, baseMs: 1 } })
    requests.fate = busy
    const error = await failure(weft.env.get())
    assert.instanceOf(error, WeftError)
    assert.deepInclude({ ...error }, { status: 503, code: "internal_server_error", requestId: "r-1" })
    assert.strictEqual(requests.sent.length, 2)
    await failure(weft.env.get({ retry: false }))
    assert.strictEqual(requests.sent.length, 3)
    await failure(weft.env.get({ retry: { attempts: 3 } }))
    assert.strictEqual(requests.sent.length, 6)
  })

  it("never if doing it twice would be more than once", async () => {
    const { weft, requests } = server.client()
    requests.fate = busy
    assert.instanceOf(await failure(weft.projects.create({ name: "once" })), WeftError)
    requests.fate = () => "unanswered"
    assert.instanceOf(await failure(weft.projects.create({ name: "once" })), WeftNetworkError)
    assert.strictEqual(requests.sent.length, 2)
    requests.fate = () => "pass"
    assert.strictEqual((await weft.projects.list()).total, 1)
  })

  it("when they were turned away, whatever they ask for, after as long as the server says", async () => {
    const { weft, requests } = server.client()
    requests.disturb(all, turnedAway())
    const begin = performance.now()
    await weft.projects.create({ name: "turned-away" })
    assert.isAtLeast(performance.now() - begin, 999)
    assert.strictEqual(requests.sent.length, 2)
  })

  it("not when the server wants to be left alone for longer than the longest pause", async () => {
    const { weft, requests } = server.client({ retry: { maxMs: 500 } })
    requests.disturb(all, turnedAway())
    const error = await failure(weft.env.get())
    assert.deepInclude({ ...Object(error) }, { code: "rate_limit_exceeded", status: 429, retryAfter: 1 })
    assert.strictEqual(requests.sent.length, 1)
  })

  it("not when sessions are too many, which waiting does not change", async () => {
    const { weft, requests } = server.client()
    requests.fate = () => failing(429, {}, "session_limit_exceeded")
    assert.deepInclude({ ...Object(await failure(weft.sessions.list())) }, { code: "session_limit_exceeded" })
    assert.strictEqual(requests.sent.length, 1)
  })

  it("not when the answer is that of a client's mistake", async () => {
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
  it("are published once, however often the answer is lost", async () => {
    const { weft, requests } = server.client()
    requests.disturb(posts, "unanswered", "unanswered", busy())
    const before = (await weft.events.list()).total
    const event = await weft.events.publish({ event_type: "paid", event_data: 1 })
    assert.strictEqual((await weft.events.list()).total, before + 1)
    assert.strictEqual((await weft.events.get(event.event_id)).event_type, "paid")
    const keys = requests.of("POST", "/v1/events").map(({ headers }) => headers.get("idempotency-key"))
    assert.strictEqual(keys.length, 4)
    assert.strictEqual(new Set(keys).size, 1)
  })

  it("are two if they are published by two calls, unless these have the same key", async () => {
    const { weft } = server.client()
    const input = { event_type: "paid", event_data: 2 }
    const ids = [await weft.events.publish(input), await weft.events.publish(input)].map(({ event_id }) => event_id)
    assert.notStrictEqual(ids[0], ids[1])
    const keyed = [1, 2].map(() => weft.events.publish(input, { idempotencyKey: "invoice-17" }))
    const [first, second] = await Promise.all(keyed)
    assert.strictEqual(first?.event_id, second?.event_id)
  })
})

describe("a request ends", () => {
  it("when its signal is aborted, with the signal's reason, also while it waits for its repetition", async () => {
    const reason = new Error("the user went away")
    const { weft, requests } = server.client({ retry: { baseMs: 60_000, maxMs: 60_000 } })
    requests.fate = () => "stuck"
    const during = new AbortController()
    const first = failure(weft.env.get({ signal: during.signal }))
    during.abort(reason)
    assert.strictEqual(await first, reason)

    requests.fate = busy
    const between = new AbortController()
    const second = failure(weft.env.get({ signal: between.signal }))
    setTimeout(() => between.abort(reason), 20)
    assert.strictEqual(await second, reason)
    assert.strictEqual(await failure(weft.env.get({ signal: AbortSignal.abort(reason) })), reason)
    assert.strictEqual(requests.sent.length, 2)
  })

  it("when its time is over, and is repeated", async () => {
    const { weft, requests } = server.client({ timeoutMs: 50 })
    requests.disturb(all, "stuck")
    assert.strictEqual((await weft.env.get()).env_id, server.envId)
    requests.fate = () => "stuck"
    const error = await failure(weft.env.get({ retry: false, timeoutMs: 10 }))
    assert.instanceOf(error, WeftNetworkError)
    assert.strictEqual(error.message, "There was no answer within 10 ms")
  })
})

describe("an answer", () => {
  it("that no Weft server gave is told apart", async () => {
    const { weft, requests } = server.client({ retry: false })
    requests.fate = () => new Response("<html>Welcome to the hotel's network", { headers: { "x-request-id": "x" } })
    const odd = await failure(weft.env.get())
    assert.deepInclude({ ...Object(odd) }, { code: "unrecognized", status: 200, requestId: "x" })
    requests.fate = () => new Response("teapot", { status: 418 })
    assert.deepInclude({ ...Object(await failure(weft.env.get())) }, { code: "unrecognized", status: 418 })
    requests.fate = () => new Response("null", { status: 404 })
    assert.deepInclude({ ...Object(await failure(weft.env.get())) }, { code: "unrecognized", status: 404 })
  })

  it("may say when to come back as a time", async () => {
    const { weft, requests } = server.client({ retry: false })
    const times = { date: "Sat, 31 Jan 2026 12:00:00 GMT", "retry-after": "Sat, 31 Jan 2026 12:00:07 GMT" }
    requests.fate = () => failing(503, times)
    assert.strictEqual(Object(await failure(weft.env.get())).retryAfter, 7)
    requests.fate = () => failing(503, { "retry-after": "soon" })
    assert.strictEqual(Object(await failure(weft.env.get())).retryAfter, null)
  })
})

describe("a client", () => {
  it("tells nobody its token", async () => {
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

  it("asks for its token before every attempt", async () => {
    const tokens = ["old", server.token]
    const { weft, requests } = server.client({ token: () => tokens.shift() ?? "none" })
    requests.disturb(all, busy())
    assert.strictEqual((await weft.env.get()).env_id, server.envId)
    assert.isEmpty(tokens)
  })

  it("refuses names that would lead elsewhere", () => {
    const { weft, requests } = server.client()
    for (const name of ["", ".", ".."]) {
      assert.throws(() => weft.projects.remove(name), TypeError)
      assert.throws(() => weft.files.put(name, "x"), TypeError)
    }
    assert.isEmpty(requests.sent)
  })

  it("finds a server below a path", async () => {
    const { weft, requests } = server.client({ baseUrl: `${server.listening.url}/weft/` })
    requests.fate = () => Response.json({ status: "ok" })
    await weft.status.healthz()
    await weft.projects.get("a/b?c").catch(() => undefined)
    assert.deepStrictEqual(
      requests.sent.map(({ path }) => path),
      ["/weft/healthz", "/weft/v1/projects/a%2Fb%3Fc"]
    )
  })

  it("gives lists by page, and whole", async () => {
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
