import { createServer } from "node:http"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { StoreUnavailable } from "@weft/core"
import { BlobStore } from "@weft/core/adapter"
import { blobs, type S3Options } from "@weft/s3"
import { type S3Server, s3Server } from "@weft/tooling/services"
import { Deferred, Effect, Fiber, Stream } from "effect"
import { type FaultyProxy, faultyProxy } from "./FaultyProxy.ts"
import { checkMebibytes, inBucket, MiB, makeClient, mebibytes, newBucket, objectsIn, uploadsIn } from "./TestBucket.ts"

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

const readAll = (store: BlobStore["Service"], key: string) =>
  Effect.scoped(Effect.flatMap(store.read(key), (bytes) => checkMebibytes(bytes)))

const openStore = (options: S3Options) => Effect.provide(BlobStore, blobs(options))

describe("a connection that is cut", () => {
  it.live("during a read is reopened for the rest", () =>
    inBucket(
      newBucket(server, proxy),
      Effect.fnUntraced(function* (store) {
        yield* store.write("a", mebibytes(12))
        proxy.expect(
          { request: /^GET .*content\/a /, cutResponseAt: 5 * MiB },
          { request: /^GET .*content\/a /, cutResponseAt: 3 * MiB + 7 }
        )
        assert.strictEqual(yield* readAll(store, "a"), 12 * MiB)
        assert.strictEqual(proxy.remaining(), 0)
        proxy.expect({ request: /^GET .*content\/a /, cutResponseAt: 2 * MiB })
        const range = { start: 7 * MiB, end: 12 * MiB }
        const read = Effect.scoped(Effect.flatMap(store.read("a", range), (bytes) => checkMebibytes(bytes, 7)))
        assert.strictEqual(yield* read, 5 * MiB)
        proxy.expect({ request: /^GET .*content\/a /, cutResponseAt: 9 * MiB })
        assert.strictEqual((yield* store.get("a")).length, 12 * MiB)
        assert.strictEqual(proxy.remaining(), 0)
      })
    )
  )

  it.live("during a read fails if the blob has changed meanwhile", () =>
    inBucket(
      newBucket(server, proxy),
      Effect.fnUntraced(function* (store) {
        for (const change of [store.write("a", mebibytes(12, 100)), store.remove("a")]) {
          yield* store.write("a", mebibytes(12))
          proxy.expect({ request: /^GET .*content\/a /, cutResponseAt: 5 * MiB })
          const read = Effect.gen(function* () {
            const bytes = yield* store.read("a")
            yield* change
            return yield* checkMebibytes(bytes)
          })
          assert.instanceOf(yield* Effect.flip(Effect.scoped(read)), StoreUnavailable)
          assert.strictEqual(proxy.remaining(), 0)
        }
      })
    )
  )

  it.live("during a write is retried", () => {
    const options = newBucket(server, proxy)
    return inBucket(
      options,
      Effect.fnUntraced(function* (store) {
        proxy.expect(
          { request: /^PUT .*content\/small/, cutRequestAt: MiB },
          { request: /^PUT .*content\/large.*partNumber=1/, cutRequestAt: 3 * MiB },
          { request: /^PUT .*content\/large.*partNumber=2/, cutResponseAt: 10 },
          { request: /^POST .*content\/large\?uploads/, cutResponseAt: 0 }
        )
        yield* store.write("small", mebibytes(3))
        yield* store.write("large", mebibytes(20))
        assert.strictEqual(proxy.remaining(), 0)
        assert.strictEqual(yield* readAll(store, "small"), 3 * MiB)
        assert.strictEqual(yield* readAll(store, "large"), 20 * MiB)
      })
    )
  })

  it.live("before the response to a completed upload is resolved by checking the blob", () => {
    const options = newBucket(server, proxy)
    return inBucket(
      options,
      Effect.fnUntraced(function* (store) {
        proxy.expect({ request: /^POST .*content\/a\?uploadId/, cutResponseAt: 0 })
        yield* store.write("a", mebibytes(20))
        assert.strictEqual(yield* readAll(store, "a"), 20 * MiB)

        const parts = yield* store.beginParts("b")
        const one = yield* store.writePart("b", parts, 1, mebibytes(6))
        proxy.expect({ request: /^POST .*content\/b\?uploadId/, cutResponseAt: 0 })
        yield* store.joinParts("b", parts, [{ number: 1, ...one }])
        assert.strictEqual(yield* readAll(store, "b"), 6 * MiB)
        assert.strictEqual(proxy.remaining(), 0)
        assert.deepStrictEqual(yield* objectsIn(options), ["content/a", "content/b"])
        assert.deepStrictEqual(yield* uploadsIn(options), [])
      })
    )
  })
})

describe("an unavailable server", () => {
  it.live("makes all operations fail with StoreUnavailable until it is back", () =>
    inBucket(
      newBucket(server, proxy),
      Effect.fnUntraced(function* (store) {
        yield* store.write("a", mebibytes(3))
        const parts = yield* store.beginParts("b")
        yield* Effect.promise(proxy.stop)
        const failures = yield* Effect.all(
          [
            Effect.flip(store.put("a", new Uint8Array(1))),
            Effect.flip(store.get("a")),
            Effect.flip(store.remove("a")),
            Effect.flip(store.write("a", mebibytes(20))),
            Effect.flip(Effect.scoped(store.read("a"))),
            Effect.flip(store.beginParts("b")),
            Effect.flip(store.writePart("b", parts, 1, mebibytes(1))),
            Effect.flip(store.joinParts("b", parts, [])),
            Effect.flip(store.dropParts("b", parts))
          ],
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(
          failures.map((failure) => (failure._tag === "StoreUnavailable" ? failure.operation : failure._tag)),
          ["put", "get", "remove", "write", "read", "beginParts", "writePart", "joinParts", "dropParts"]
        )
        yield* Effect.promise(proxy.restart)
        assert.strictEqual(yield* readAll(store, "a"), 3 * MiB)
      })
    )
  )

  it.live("for a moment is handled by retries", () =>
    inBucket(
      newBucket(server, proxy),
      Effect.fnUntraced(function* (store) {
        yield* Effect.promise(proxy.stop)
        const put = yield* Effect.forkChild(store.put("a", new Uint8Array([1, 2])))
        yield* Effect.sleep("150 millis")
        yield* Effect.promise(proxy.restart)
        yield* Fiber.join(put)
        assert.deepStrictEqual([...(yield* store.get("a"))], [1, 2])
      })
    )
  )

  it.live("leaves incomplete uploads, which removing the key aborts", () => {
    const options = newBucket(server, proxy)
    return inBucket(
      options,
      Effect.fnUntraced(function* (store) {
        yield* store.put("a/b", new Uint8Array([1]))
        const other = yield* Effect.forkChild(store.write("a/b", Stream.concat(mebibytes(9), Stream.never)))
        const torn = Stream.concat(
          mebibytes(20),
          Stream.fromEffect(Effect.andThen(Effect.promise(proxy.stop), Effect.fail("torn" as const)))
        )
        assert.strictEqual(yield* Effect.flip(store.write("a", torn)), "torn")
        yield* Effect.promise(proxy.restart)
        assert.include(yield* uploadsIn(options), "content/a")
        yield* store.remove("a")
        assert.notInclude(yield* uploadsIn(options), "content/a")
        yield* Fiber.interrupt(other)
        assert.deepStrictEqual(yield* objectsIn(options), ["content/a/b"])
        assert.deepStrictEqual(yield* uploadsIn(options), [])
      })
    )
  })

  it.live("makes the start fail with its address", () =>
    Effect.gen(function* () {
      const gone = yield* Effect.promise(() => faultyProxy(server))
      yield* Effect.promise(gone.remove)
      const options = newBucket(server, gone)
      const error = yield* Effect.flip(openStore(options))
      assert.strictEqual(error._tag, "BucketUnusable")
      assert.include(error.message, `${options.bucket} at 127.0.0.1:${gone.port}`)
      assert.include(error.message, "ECONNREFUSED")
    })
  )
})

describe("a slow server", () => {
  const shortTimeouts = (): S3Options => ({
    ...newBucket(server, proxy),
    timeouts: { responseMs: 300, transferMs: 600 }
  })

  it.live("makes operations fail with StoreUnavailable after their timeout", () =>
    inBucket(
      shortTimeouts(),
      Effect.fnUntraced(function* (store) {
        yield* store.write("a", mebibytes(1))
        for (const [request, use] of [
          [/^GET .*content\/a /, Effect.asVoid(store.get("a"))],
          [/^PUT .*content\/a /, store.put("a", new Uint8Array(1))],
          [/^DELETE .*content\/a /, store.remove("a")],
          [/^PUT .*content\/a /, Effect.asVoid(store.write("a", mebibytes(2)))]
        ] as const) {
          proxy.expect({ request, drop: true })
          const error = yield* Effect.flip(use)
          assert.strictEqual(error._tag, "StoreUnavailable")
          assert.strictEqual(proxy.remaining(), 0)
        }
        assert.strictEqual(yield* readAll(store, "a"), MiB)
      })
    )
  )

  it.live("does not delay an interruption", () =>
    inBucket(
      newBucket(server, proxy),
      Effect.fnUntraced(function* (store) {
        proxy.expect({ request: /^GET .*content\/a /, drop: true })
        const reader = yield* Effect.forkChild(store.get("a"))
        yield* Effect.sleep("100 millis")
        yield* Fiber.interrupt(reader)
        assert.strictEqual(proxy.remaining(), 0)
      })
    )
  )

  it.live("that answers 503 is retried, and then reported", () =>
    Effect.gen(function* () {
      let requests = 0
      const busy = createServer((request, response) => {
        request.resume()
        requests++
        response.writeHead(503).end("<Error><Code>SlowDown</Code><Message>secret</Message></Error>")
      })
      yield* Effect.promise(() => new Promise<void>((resolve) => busy.listen(0, "127.0.0.1", () => resolve())))
      const address = busy.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      const error = yield* Effect.flip(openStore(newBucket(server, { endPoint: "127.0.0.1", port })))
      assert.include(error.message, "503")
      assert.strictEqual(requests, 4)
      yield* Effect.promise(() => new Promise((resolve) => busy.close(resolve)))
    })
  )
})

describe("large writes", () => {
  it.live("do not resume an abandoned upload of the same key", () => {
    const options = newBucket(server)
    return inBucket(
      options,
      Effect.fnUntraced(function* (store) {
        const client = makeClient(options)
        const id = yield* Effect.promise(() => client.initiateNewMultipartUpload(options.bucket, "content/a", {}))
        const leftOver = { bucketName: options.bucket, objectName: "content/a", uploadID: id, headers: {} }
        for (const partNumber of [1, 2, 7]) {
          yield* Effect.promise(() => client.uploadPart({ ...leftOver, partNumber }, Buffer.alloc(5 * MiB, 9)))
        }
        yield* store.write("a", mebibytes(18))
        assert.strictEqual(yield* readAll(store, "a"), 18 * MiB)
      })
    )
  })

  it.live("of one key do not mix when they are concurrent", () => {
    const options = newBucket(server)
    return inBucket(
      options,
      Effect.fnUntraced(function* (store) {
        const written = yield* Effect.all(
          [store.write("a", mebibytes(18)), store.write("a", mebibytes(18, 50)), store.write("a", mebibytes(18, 90))],
          { concurrency: "unbounded" }
        )
        assert.strictEqual(new Set(written.map(({ digest }) => digest)).size, 3)
        const [first = 0] = yield* store.get("a")
        const read = Effect.scoped(Effect.flatMap(store.read("a"), (bytes) => checkMebibytes(bytes, first)))
        assert.strictEqual(yield* read, 18 * MiB)
        assert.deepStrictEqual(yield* objectsIn(options), ["content/a"])
        assert.deepStrictEqual(yield* uploadsIn(options), [])
      })
    )
  })

  it.live("leave nothing when they are interrupted", () => {
    const options = newBucket(server)
    return inBucket(
      options,
      Effect.fnUntraced(function* (store) {
        const taken = yield* Deferred.make<void>()
        const notify = Stream.drain(Stream.fromEffect(Deferred.succeed(taken, undefined)))
        const endless = mebibytes(20).pipe(Stream.concat(notify), Stream.concat(Stream.never))
        const writer = yield* Effect.forkChild(store.write("a", endless))
        yield* Deferred.await(taken)
        yield* Fiber.interrupt(writer)
        assert.deepStrictEqual(yield* objectsIn(options), [])
        assert.deepStrictEqual(yield* uploadsIn(options), [])
      })
    )
  })
})

describe("a bucket", () => {
  it.live("that cannot be used makes the start fail with a reason that has no secret", () =>
    Effect.gen(function* () {
      const options = newBucket(server)
      const wrong = "not-the-secret-of-anybody"
      for (const [changed, reason] of [
        [
          { credentials: { ...options.credentials, secretAccessKey: wrong } },
          "its credentials are refused (SignatureDoesNotMatch)"
        ],
        [{ credentials: { ...options.credentials, accessKeyId: "nobody:nobody" } }, "its credentials are refused"],
        [{ createBucket: false }, "there is no such bucket"]
      ] as const) {
        const error = yield* Effect.flip(openStore({ ...options, ...changed }))
        assert.strictEqual(error._tag, "BucketUnusable")
        assert.include(error.message, reason)
        assert.notInclude(JSON.stringify(error), wrong)
      }
    })
  )

  it.live("is created once by nodes that start at the same time, and shared by prefixes", () =>
    Effect.gen(function* () {
      const options = newBucket(server)
      const stores = yield* Effect.all(
        ["", "one", "two/three"].map((prefix) => openStore({ ...options, prefix })),
        { concurrency: "unbounded" }
      )
      for (const [index, store] of stores.entries()) yield* store.put("a", new Uint8Array([index]))
      for (const [index, store] of stores.entries()) assert.deepStrictEqual([...(yield* store.get("a"))], [index])
      assert.deepStrictEqual(yield* objectsIn(options), ["content/a", "one/content/a", "two/three/content/a"])
    })
  )

  it.live("that was removed is unavailable, not empty", () => {
    const options = newBucket(server)
    return inBucket(
      options,
      Effect.fnUntraced(function* (store) {
        yield* Effect.promise(() => makeClient(options).removeBucket(options.bucket))
        assert.strictEqual((yield* Effect.flip(store.get("a")))._tag, "StoreUnavailable")
        assert.strictEqual((yield* Effect.flip(store.put("a", new Uint8Array(1))))._tag, "StoreUnavailable")
      })
    )
  })

  it.live("rejects keys that would leave their prefix", () =>
    inBucket(
      newBucket(server),
      Effect.fnUntraced(function* (store) {
        for (const key of ["../a", "a/../../b", "/a", "a//b", "", "a/.", "a~b", ".hidden"]) {
          const exit = yield* Effect.exit(store.put(key, new Uint8Array()))
          assert.isTrue(exit._tag === "Failure" && exit.cause.reasons[0]?._tag === "Die", key)
        }
      })
    )
  )
})
