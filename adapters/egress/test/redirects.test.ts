/** Redirects according to the Fetch standard. */
import { assert, describe, it } from "@effect/vitest"
import { egress } from "@weft/egress"
import { Effect, Stream } from "effect"
import { ask, refusal, serve } from "./Servers.ts"

const loopback = egress({ policy: { allow: ["127.0.0.1"] } })

/** `/STATUS/LOCATION` redirects; any other path echoes the request. */
const redirector = serve((request, response) => {
  const [, status, location] = /^\/(3\d\d)\/(.*)$/.exec(request.url ?? "") ?? []
  let body = ""
  request.on("data", (chunk) => {
    body += chunk
  })
  request.on("end", () => {
    if (status !== undefined) {
      response
        .writeHead(Number(status), location === "" ? {} : { location: decodeURIComponent(location ?? "") })
        .end("moved")
      return
    }
    const { authorization, cookie, "content-type": type, "x-kept": kept } = request.headers
    response.end(
      JSON.stringify([request.method, body, type ?? null, authorization ?? null, cookie ?? null, kept ?? null])
    )
  })
})

const headers: ReadonlyArray<readonly [string, string]> = [
  ["content-type", "text/plain"],
  ["authorization", "Bearer x"],
  ["cookie", "a=1"],
  ["x-kept", "1"]
]
const body = new TextEncoder().encode("data")

describe("a redirect", () => {
  it.live("becomes a GET, or keeps method and body, depending on its status", () =>
    Effect.gen(function* () {
      const server = yield* redirector
      const cases: ReadonlyArray<
        readonly [status: number, method: string, arrives: readonly [string, string, string | null]]
      > = [
        [301, "POST", ["GET", "", null]],
        [302, "POST", ["GET", "", null]],
        [303, "POST", ["GET", "", null]],
        [307, "POST", ["POST", "data", "text/plain"]],
        [308, "POST", ["POST", "data", "text/plain"]],
        [301, "PUT", ["PUT", "data", "text/plain"]],
        [303, "PUT", ["GET", "", null]],
        [302, "DELETE", ["DELETE", "data", "text/plain"]]
      ]
      for (const [status, method, arrives] of cases) {
        const response = yield* ask(`${server.url}/${status}/%2Fend`, { method, headers, body })
        assert.deepStrictEqual(JSON.parse(response.body), [...arrives, "Bearer x", "a=1", "1"], `${status} ${method}`)
        assert.deepStrictEqual([response.redirected, response.url], [true, `${server.url}/end`])
      }
      const head = yield* ask(`${server.url}/303/%2Fend`, { method: "HEAD" })
      assert.deepStrictEqual([head.status, head.body], [200, ""])
    }).pipe(Effect.scoped, Effect.provide(loopback))
  )

  it.live("to another origin removes credentials", () =>
    Effect.gen(function* () {
      const first = yield* redirector
      const second = yield* redirector
      const onward = `${first.url}/307/${encodeURIComponent(`${second.url}/end`)}`
      const response = yield* ask(onward, { method: "POST", headers, body })
      assert.deepStrictEqual(JSON.parse(response.body), ["POST", "data", "text/plain", null, null, "1"])
      // A redirect back to the first origin does not restore them.
      const home = `${first.url}/302/${encodeURIComponent(`${second.url}/302/${encodeURIComponent(`${first.url}/end`)}`)}`
      const back = yield* ask(home, { headers })
      assert.deepStrictEqual(JSON.parse(back.body), ["GET", "", "text/plain", null, null, "1"])
    }).pipe(Effect.scoped, Effect.provide(loopback))
  )

  it.live("is returned or refused as the guest requests, and needs a location", () =>
    Effect.gen(function* () {
      const server = yield* redirector
      const manual = yield* ask(`${server.url}/302/%2Fend`, { redirect: "manual" })
      assert.deepStrictEqual([manual.status, manual.body, manual.redirected], [302, "moved", false])
      assert.deepStrictEqual(new Map(manual.headers).get("location"), "/end")
      assert.deepStrictEqual(yield* refusal(`${server.url}/302/%2Fend`, { redirect: "error" }), [
        "EgressFailed",
        "the response is a redirect"
      ])
      const nowhere = yield* ask(`${server.url}/302/`)
      assert.deepStrictEqual([nowhere.status, nowhere.body], [302, "moved"])
    }).pipe(Effect.scoped, Effect.provide(loopback))
  )

  it.live("fails if it is endless, has an invalid target or credentials, or needs a streamed body again", () =>
    Effect.gen(function* () {
      const loop = yield* serve((_, response) => response.writeHead(302, { location: "/" }).end())
      assert.deepStrictEqual(yield* refusal(loop.url), ["EgressFailed", "more than 20 redirects"])
      const server = yield* redirector
      const fails = (location: string, request: Parameters<typeof refusal>[1] = {}) =>
        refusal(`${server.url}/307/${encodeURIComponent(location)}`, request)
      assert.deepStrictEqual(yield* fails("http://"), ["EgressFailed", "the response redirects to an invalid URL"])
      assert.deepStrictEqual(yield* fails(`http://a:b@127.0.0.1:${server.port}/`), [
        "EgressFailed",
        "the response redirects to a URL with credentials"
      ])
      const chunks = Stream.make(body)
      assert.deepStrictEqual(yield* fails("/end", { method: "POST", body: { length: null, chunks } }), [
        "EgressFailed",
        "the response redirects a request with a streamed body, which cannot be sent again"
      ])
    }).pipe(Effect.scoped, Effect.provide(loopback))
  )
})
