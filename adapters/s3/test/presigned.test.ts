import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { blobs, type Presign } from "@weft/s3"
import { type S3Server, s3Server } from "@weft/tooling/services"
import { Effect } from "effect"
import { type FaultyProxy, faultyProxy } from "./FaultyProxy.ts"
import { inBucket, newBucket } from "./TestBucket.ts"

let server: S3Server
let proxy: FaultyProxy
beforeAll(async () => {
  server = await s3Server()
  proxy = await faultyProxy(server)
}, 180_000)
afterAll(async () => {
  await proxy.remove()
  await server.remove()
})

const as = { contentType: "text/x-note", contentDisposition: `attachment; filename="a b.txt"; filename*=UTF-8''%C3%A4` }

const fetched = (url: string | null, method = "GET") =>
  Effect.promise(async () => {
    const response = await fetch(String(url), { method })
    return { status: response.status, headers: response.headers, text: await response.text() }
  })

const presigning = (presign: Presign) => ({ ...newBucket(server), presign })

describe("the presigned URL of a blob", () => {
  it.live("is null without the option `presign`", () =>
    inBucket(
      newBucket(server),
      Effect.fnUntraced(function* (store) {
        assert.isNull(yield* store.address("a", as))
      })
    )
  )

  it.live("returns the bytes with the requested headers, and allows nothing else", () => {
    const options = presigning({ expirySeconds: 60 })
    return inBucket(
      options,
      Effect.fnUntraced(function* (store) {
        yield* store.put("a/b", new TextEncoder().encode("some bytes"))
        const url = yield* store.address("a/b", as)
        const { status, headers, text } = yield* fetched(url)
        assert.strictEqual(status, 200)
        assert.strictEqual(text, "some bytes")
        assert.strictEqual(headers.get("content-type"), as.contentType)
        assert.strictEqual(headers.get("content-disposition"), as.contentDisposition)
        assert.strictEqual((yield* fetched(url, "DELETE")).status, 403)
        assert.strictEqual((yield* fetched(String(url).replace("a/b", "a/c"))).status, 403)
        assert.notInclude(url, server.secretKey)
        assert.strictEqual((yield* fetched(yield* store.address("none", as))).status, 404)
      })
    )
  })

  it.live("expires", () =>
    inBucket(
      presigning({ expirySeconds: 1 }),
      Effect.fnUntraced(function* (store) {
        yield* store.put("a", new Uint8Array(1))
        const url = yield* store.address("a", as)
        yield* Effect.sleep("2100 millis")
        assert.strictEqual((yield* fetched(url)).status, 403)
      })
    )
  )

  it.live("may have another endpoint than the one that this process uses", () =>
    inBucket(
      presigning({ expirySeconds: 60, publicEndpoint: `http://127.0.0.1:${proxy.port}` }),
      Effect.fnUntraced(function* (store) {
        yield* store.put("a", new Uint8Array([65]))
        const url = yield* store.address("a", as)
        assert.isTrue(url?.startsWith(`http://127.0.0.1:${proxy.port}/`))
        assert.strictEqual((yield* fetched(url)).text, "A")
      })
    )
  )

  it.live("is rejected with a longer expiry than S3 allows, or with an invalid endpoint", () =>
    Effect.gen(function* () {
      for (const presign of [
        { expirySeconds: 0 },
        { expirySeconds: 604_801 },
        { expirySeconds: 60, publicEndpoint: "https://host/path" }
      ]) {
        const exit = yield* Effect.exit(Effect.provide(Effect.void, blobs(presigning(presign))))
        assert.isTrue(exit._tag === "Failure" && exit.cause.reasons[0]?._tag === "Die")
      }
    })
  )
})
