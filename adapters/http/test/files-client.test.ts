import { assert, describe, it } from "@effect/vitest"
import { AdminAuthenticated, Authenticated, WeftApi } from "@weft/api"
import { BadRequest, NotFound } from "@weft/core"
import { Bytes, Effect, Layer, Stream } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import { afterAll, beforeAll } from "vitest"
import { pattern } from "./server/FileClient.ts"
import { TestServer } from "./server/TestServer.ts"

let server: TestServer

beforeAll(async () => {
  server = await TestServer.start()
})
afterAll(() => server.close())

const client = Effect.suspend(() =>
  HttpApiClient.make(WeftApi, {
    transformClient: HttpClient.mapRequest(HttpClientRequest.prependUrl(server.listening.url))
  }).pipe(
    Effect.provide(
      Layer.mergeAll(
        HttpApiMiddleware.layerClient(Authenticated, ({ next, request }) =>
          next(HttpClientRequest.bearerToken(request, server.token))
        ),
        HttpApiMiddleware.layerClient(AdminAuthenticated, ({ next, request }) => next(request)),
        FetchHttpClient.layer
      )
    )
  )
)

describe("files through a client derived from WeftApi", () => {
  it.live("stream in and out", () =>
    Effect.gen(function* () {
      const { files } = yield* client
      const bytes = pattern(300_000)
      const file = yield* files.upload({ params: { path: "a b/ø" }, payload: Stream.make(bytes) })
      assert.strictEqual(file.path, "a b/ø")
      const downloaded = yield* files.download({ params: { file_id: file.file_id } })
      assert.isTrue(Stream.isStream(downloaded))
      if (Stream.isStream(downloaded)) {
        assert.isTrue(bytes.equals(Bytes.concat(yield* Stream.runCollect(downloaded))))
      }
      const page = yield* files.list({ query: { prefix: "a b/" } })
      assert.deepStrictEqual(
        { ...page, items: page.items.map(({ path }) => path) },
        {
          items: ["a b/ø"],
          total: 1,
          limit: 20,
          offset: 0
        }
      )
    })
  )

  it.live("upload in parts", () =>
    Effect.gen(function* () {
      const { files } = yield* client
      const { upload_id, parts_expected } = yield* files.initiate({ payload: { path: "parts", expected_size: 5 } })
      assert.strictEqual(parts_expected, 1)
      const params = { upload_id, part_number: "1" }
      const part = yield* files.putPart({ params, payload: Stream.make(new Uint8Array(5)) })
      assert.strictEqual(part.size, 5)
      const file = yield* files.complete({ params: { upload_id } })
      assert.strictEqual(file.size, 5)
      yield* files.remove({ params: { file_id: file.file_id } })
      const gone = yield* Effect.flip(files.get({ params: { file_id: file.file_id } }))
      assert.deepStrictEqual(gone, new NotFound({ resource: "file" }))
    })
  )

  it.live("fail with the errors of core", () =>
    Effect.gen(function* () {
      const { files } = yield* client
      const refused = yield* Effect.flip(files.upload({ params: { path: "a/../b" }, payload: Stream.empty }))
      assert.instanceOf(refused, BadRequest)
    })
  )
})
