import { assert, describe, it } from "@effect/vitest"
import { AdminAuthenticated, Authenticated, WeftApi } from "@weft/api"
import { BadRequest, Forbidden, NotFound, Unauthorized } from "@weft/core"
import { fromJsonText } from "@weft/core/adapter"
import { Effect, Layer } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import { afterAll, beforeAll } from "vitest"
import { TestServer } from "./server/TestServer.ts"

let server: TestServer

beforeAll(async () => {
  server = await TestServer.start()
})
afterAll(() => server.close())

/** The client that effect derives from `WeftApi`, with a token. */
const clientWith = (token: string) =>
  HttpApiClient.make(WeftApi, {
    transformClient: HttpClient.mapRequest(HttpClientRequest.prependUrl(server.listening.url))
  }).pipe(
    Effect.provide(
      Layer.mergeAll(
        HttpApiMiddleware.layerClient(Authenticated, ({ next, request }) =>
          next(HttpClientRequest.bearerToken(request, token))
        ),
        HttpApiMiddleware.layerClient(AdminAuthenticated, ({ next, request }) => next(request)),
        FetchHttpClient.layer
      )
    )
  )

describe("a client derived from WeftApi", () => {
  it.live("gets records without their envelope", () =>
    Effect.gen(function* () {
      const client = yield* clientWith(server.token)
      const created = yield* client.projects.create({ payload: { name: "typed" } })
      assert.isNumber(created.created_at)
      const page = yield* client.projects.list({ query: { limit: 5 } })
      assert.deepStrictEqual(page, { items: [created], total: 1, limit: 5, offset: 0 })
      const event = yield* client.events.publish({
        payload: { event_type: "a", event_data: { deep: [1] } },
        headers: {}
      })
      assert.deepStrictEqual(fromJsonText(event.event_data), { deep: [1] })
      assert.strictEqual((yield* client.runs.stats()).total_runs, 0)
      yield* client.projects.remove({ params: { project_id_or_slug: "typed" } })
      assert.strictEqual((yield* client.status.get()).service, "weft")
    })
  )

  it.live("fails with the errors of core", () =>
    Effect.gen(function* () {
      const client = yield* clientWith(server.token)
      const missing = yield* Effect.flip(client.projects.get({ params: { project_id_or_slug: "none" } }))
      assert.deepStrictEqual(missing, new NotFound({ resource: "project" }))
      const refused = yield* Effect.flip(client.projects.create({ payload: { name: "a/b" } }))
      assert.instanceOf(refused, BadRequest)
      const invalid = yield* clientWith("nonsense")
      assert.instanceOf(yield* Effect.flip(invalid.env.get()), Unauthorized)
      const { token } = yield* Effect.promise(() => server.key({}))
      const forbidden = yield* Effect.flip((yield* clientWith(token)).env.get())
      assert.deepStrictEqual(forbidden, new Forbidden({ permission: "env:* read" }))
    })
  )
})
