import { assert, describe, it } from "@effect/vitest"
import * as Http from "@weft/http"
import { afterAll, beforeAll } from "vitest"
import { waitingRun } from "./server/ApprovalRun.ts"
import { TestServer } from "./server/TestServer.ts"

let server: TestServer
beforeAll(async () => {
  server = await TestServer.start()
})
afterAll(() => server.close())

/** Starts a run that waits for its token. */
const wait = async (options: object = {}) => {
  const { run_id, url } = await waitingRun(server, options)
  assert.strictEqual(new URL(url).origin, "https://weft.example.net")
  return { run_id, path: new URL(url).pathname }
}

const resultOf = async (runId: string): Promise<unknown> => {
  while (true) {
    const { status, result } = (await server.call("GET", `/v1/runs/${runId}`)).json.data
    if (status !== "running") return result
  }
}

const post = (path: string, options: Parameters<TestServer["call"]>[2] = {}) =>
  server.call("POST", path, { token: null, ...options })

const byName = (runId: string) => `/v1/runs/${runId}/tokens/${encodeURIComponent("<approval> & co")}`

/** Sends a request as a browser does. Errors are pages. */
const browse = async (path: string, init: RequestInit = {}) => {
  const headers = { accept: "text/html,application/xhtml+xml,*/*;q=0.8", ...init.headers }
  const response = await fetch(`${server.listening.url}${path}`, { ...init, headers })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** The request of the page's button. */
const button = { method: "POST", headers: { "content-type": "application/x-www-form-urlencoded" } }

const unknown = `/tokens/${"A".repeat(43)}`

describe("POST /tokens/{secret}", () => {
  it("gives the data to the function", async () => {
    const { run_id, path } = await wait()
    const { status, json, headers } = await post(path, { json: { data: { approved: [true] } } })
    assert.deepStrictEqual([status, headers.get("cache-control")], [200, "no-store"])
    assert.deepInclude(json.data, { run_id, token_id: `${run_id}:0`, name: "<approval> & co" })
    assert.deepStrictEqual(await resultOf(run_id), { ok: true, data: { approved: [true] } })
  })

  it("gives null without data", async () => {
    for (const options of [{}, { body: "" }, { json: {} }]) {
      const { run_id, path } = await wait()
      assert.strictEqual((await post(path, options)).status, 200)
      assert.deepStrictEqual(await resultOf(run_id), { ok: true, data: null })
    }
  })

  it("returns 409 with the time of the first completion, and 404 for an unknown secret", async () => {
    const { path } = await wait()
    const { completed_at } = (await post(path)).json.data
    const again = await post(path, { json: { data: 2 } })
    assert.deepStrictEqual([again.status, again.json.error.code], [409, "token_completed"])
    assert.include(again.json.error.message, completed_at)
    for (const wrong of [unknown, "/tokens/x", `${path}/`, path.replace(/.$/, "!"), "/tokens/%00"])
      assert.strictEqual((await post(wrong)).status, 404, wrong)
  })

  it("returns 410 for an expired token, and after the end of the run", async () => {
    const expired = await wait({ timeout: "1s" })
    assert.deepStrictEqual(await resultOf(expired.run_id), { ok: false, reason: "timeout" })
    const cancelled = await wait()
    await server.call("POST", `/v1/runs/${cancelled.run_id}/cancel`)
    for (const { path } of [expired, cancelled]) {
      const { status, json } = await post(path)
      assert.deepStrictEqual([status, json.error.code], [410, "token_expired"])
    }
    assert.strictEqual((await server.call("POST", byName(cancelled.run_id), { json: {} })).status, 410)
  })

  it("returns 400 for a body that is not valid, and the token stays open", async () => {
    const { run_id, path } = await wait()
    for (const options of [
      { body: "{" },
      { json: [] },
      { json: { data: "x".repeat(256 * 1024) } },
      { json: { data: "x".repeat(1024 * 1024) } },
      { body: "approved=true", headers: { "content-type": "application/x-www-form-urlencoded" } }
    ]) {
      assert.strictEqual((await post(path, options)).status, 400)
    }
    assert.strictEqual((await post(path, { json: { data: "x".repeat(256 * 1024 - 2) } })).status, 200)
    assert.isOk(await resultOf(run_id))
  })

  it("counts one of many concurrent completions", async () => {
    const { run_id, path } = await wait()
    const replies = await Promise.all(Array.from({ length: 20 }, (_, n) => post(path, { json: { data: n } })))
    const winners = replies.flatMap(({ status }, n) => (status === 200 ? [n] : []))
    assert.strictEqual(winners.length, 1)
    assert.deepStrictEqual(await resultOf(run_id), { ok: true, data: winners[0] })
  })

  it("adds an entry to the audit log", async () => {
    const { run_id, path } = await wait()
    await post(path)
    await server.call("POST", byName((await wait()).run_id), { json: {} })
    const entries = (await server.call("GET", "/v1/audit?action=token.complete&limit=2")).json.data
    assert.deepStrictEqual(
      entries.map((entry: { actor_type: string }) => entry.actor_type),
      ["api-key", "token"]
    )
    assert.deepInclude(entries[1], { object_id: `${run_id}:0`, actor_id: `${run_id}:0`, outcome: "done" })
    assert.notInclude(JSON.stringify(entries), path.slice("/tokens/".length))
  })
})

describe("GET /tokens/{secret}", () => {
  it("shows a page that completes nothing, with a button that does", async () => {
    const { run_id, path } = await wait()
    for (let visit = 0; visit < 2; visit++) {
      const page = await browse(path)
      assert.strictEqual(page.status, 200)
      assert.include(page.text, "<h1>&lt;approval&gt; &amp; co</h1>")
      assert.include(page.text, '<form method="post"><button type="submit">')
      assert.include(page.headers.get("content-security-policy"), "default-src 'none'")
      assert.strictEqual(page.headers.get("cache-control"), "no-store")
      assert.strictEqual(page.headers.get("referrer-policy"), "no-referrer")
      assert.include(page.headers.get("x-robots-tag"), "noindex")
    }
    const done = await browse(path, button)
    assert.deepStrictEqual([done.status, done.headers.get("content-type")], [200, "text/html; charset=utf-8"])
    assert.deepStrictEqual(await resultOf(run_id), { ok: true, data: null })
    for (const [status, again] of [
      [409, await browse(path)],
      [409, await browse(path, button)],
      [404, await browse(unknown)]
    ] as const) {
      assert.deepStrictEqual([again.status, again.headers.get("content-type")], [status, "text/html; charset=utf-8"])
      assert.notInclude(again.text, "<form")
    }
  })
})

describe("Http.fetch", () => {
  it("serves tokens as well", async () => {
    const { run_id, path } = await wait()
    const mount = Http.fetch(server.weft)
    const body = JSON.stringify({ data: 1 })
    assert.strictEqual((await mount(new Request(`http://weft.example${path}`))).status, 200)
    assert.strictEqual((await mount(new Request(`http://weft.example${path}`, { method: "POST", body }))).status, 200)
    assert.deepStrictEqual(await resultOf(run_id), { ok: true, data: 1 })
    await mount.close()
  })
})

describe("POST /runs/{run_id}/tokens/{name}", () => {
  it("completes the token without its secret, once", async () => {
    const { run_id } = await wait()
    const { status, json } = await server.call("POST", byName(run_id), { json: { data: "yes" } })
    assert.deepStrictEqual([status, json.data.run_id], [200, run_id])
    assert.deepStrictEqual(await resultOf(run_id), { ok: true, data: "yes" })
    const again = await server.call("POST", byName(run_id), { json: {} })
    assert.deepStrictEqual([again.status, again.json.error.code], [409, "token_completed"])
    assert.include(again.json.error.message, json.data.completed_at)
    for (const path of [`/v1/runs/${run_id}/tokens/none`, byName("nonsense"), byName(run_id.replace(/.$/, "g"))])
      assert.strictEqual((await server.call("POST", path, { json: {} })).status, 404, path)
  })

  it("needs the permission to call the function", async () => {
    const { run_id } = await wait()
    const { token } = await server.key({ "run:*": ["read"], "call:main/plain": ["create"] })
    assert.strictEqual((await server.call("POST", byName(run_id), { token, json: {} })).status, 404)
    const other = await server.key({ "run:*": ["*"] })
    assert.strictEqual((await server.call("POST", byName(run_id), { token: other.token, json: {} })).status, 403)
    const allowed = await server.key({ "call:main/approval": ["create"] })
    assert.strictEqual((await server.call("POST", byName(run_id), { token: allowed.token, json: {} })).status, 200)
  })
})

describe("the host", () => {
  it("completes tokens by name", async () => {
    const { run_id } = await wait()
    const env = server.weft.env(server.env.env_id)
    const { token_id } = await env.runs.completeToken(run_id, "<approval> & co", { by: "host" })
    assert.strictEqual(token_id, `${run_id}:0`)
    assert.deepStrictEqual(await resultOf(run_id), { ok: true, data: { by: "host" } })
  })
})

describe("one client address", () => {
  it("may try a limited number of secrets", async () => {
    let refused = await post(unknown)
    for (let tries = 0; tries < 200 && refused.status === 404; tries++) refused = await post(unknown)
    assert.deepStrictEqual([refused.status, refused.json.error.code], [429, "rate_limit_exceeded"])
    assert.isAtLeast(Number(refused.headers.get("retry-after")), 1)
  })
})
