/** Lists of runs and events with large results: pages that end early, and responses in pieces. */
import { assert, describe, it } from "@effect/vitest"
import { pageBytesMax } from "@weft/core/adapter"
import { trustedSandbox } from "@weft/core/testing"
import { afterEach } from "vitest"
import { adminToken, startWeft, TestServer } from "./server/TestServer.ts"

let server: TestServer
afterEach(() => server.close())

/** Characters of two code units each, after one of one unit: some pieces of the response end within a pair. */
const textOf = (length: number): string => `x${"😀".repeat(length / 2)}`

const resultLength = 300_000
const perPage = Math.floor(pageBytesMax / (2 * resultLength))

const large = Object.assign(
  (event: { event_data: { n: number } }) => ({ n: event.event_data.n, text: textOf(resultLength) }),
  {
    meta: { event: "large" }
  }
)

/** Starts a server with this many runs, whose results have 600 KB each. */
const withRuns = async (count: number): Promise<ReadonlyArray<string>> => {
  const sandbox = trustedSandbox({ large: { main: { large } } })
  server = await TestServer.start({}, adminToken, startWeft({ sandbox }))
  await server.deploy("large", "large")
  const events: Array<string> = []
  for (let n = 0; n < count; n++) {
    const { json } = await server.call("POST", "/v1/events", { json: { event_type: "large", event_data: { n } } })
    events.push(json.data.event_id)
    while ((await server.call("GET", "/v1/runs/stats")).json.data.succeeded <= n) await new Promise(setImmediate)
  }
  return events
}

describe("a list of runs with large results", { timeout: 60_000 }, () => {
  it("ends pages at 4 MiB with has_more, and the next offset continues", async () => {
    const count = perPage + 2
    await withRuns(count)
    const first = (await server.call("GET", "/v1/runs?limit=100")).json
    assert.deepStrictEqual(first.pagination, { total: count, limit: 100, offset: 0, has_more: true })
    assert.strictEqual(first.data.length, perPage)
    const second = (await server.call("GET", `/v1/runs?limit=100&offset=${perPage}`)).json
    assert.deepStrictEqual(second.pagination, { total: count, limit: 100, offset: perPage, has_more: false })
    const results = [...first.data, ...second.data].map(({ result }) => result)
    assert.deepStrictEqual(
      results.map(({ n }) => n),
      [...Array(count).keys()].reverse()
    )
    assert.isTrue(results.every(({ text }) => text === textOf(resultLength)))
  })

  it("has the same records as the single runs, and as the list of an event", async () => {
    const [event] = await withRuns(1)
    const [listed] = (await server.call("GET", "/v1/runs")).json.data
    assert.deepStrictEqual((await server.call("GET", `/v1/runs/${listed.run_id}`)).json.data, listed)
    assert.deepStrictEqual((await server.call("GET", `/v1/events/${event}/runs`)).json.data, [listed])
    assert.strictEqual(listed.result.text, textOf(resultLength))
  })

  it("is followed by the next response on the same connection", async () => {
    await withRuns(3)
    const replies = await Promise.all([1, 2, 3, 4].map(() => server.call("GET", "/v1/runs")))
    for (const { json } of replies) assert.strictEqual(json.data.length, 3)
    assert.strictEqual((await server.call("GET", "/v1/env")).status, 200)
  })
})
