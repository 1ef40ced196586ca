import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { StoreUnavailable } from "../../../src/foundation/Errors.ts"
import { Timestamp } from "../../../src/foundation/time/Timestamp.ts"
import { MemoryStores } from "../../../src/memory/MemoryStores.ts"
import { BlobStore } from "../../../src/platform/blobs/BlobStore.ts"
import { FileStore } from "../../../src/resources/files/FileStore.ts"
import { Files, graceMs } from "../../../src/resources/files/Files.ts"
import { Uploads } from "../../../src/resources/files/Uploads.ts"
import { failure } from "../../Services.ts"
import { bytes, checkBytes, content, envOn, putPart, reservedKeys, run, upload, withJanitor } from "./Fixtures.ts"

/** Interval of the janitor's sweeps. */
const passMs = 300_000

const exists = (key: string) => Effect.map(Effect.exit(BlobStore.use((blobs) => blobs.get(key))), Exit.isSuccess)

/** The services on blobs of which some cannot be removed, with the attempts. */
const withStuckBlobs = (isStuck: (key: string) => boolean) => {
  const tries: Array<string> = []
  const blobs = Layer.effect(
    BlobStore,
    Effect.map(BlobStore, (store) => ({
      ...store,
      remove: (key: string) =>
        Effect.suspend(() => {
          tries.push(key)
          return isStuck(key)
            ? Effect.fail(new StoreUnavailable({ operation: "remove", cause: "stuck" }))
            : store.remove(key)
        })
    }))
  )
  const layer = withJanitor.pipe(Layer.provideMerge(blobs), Layer.provideMerge(MemoryStores.layer))
  return { tries, layer }
}

describe("the file janitor", () => {
  it.effect("removes replaced and removed bytes after their grace period, and no others", () =>
    run(
      Effect.gen(function* () {
        const { env_id, host } = yield* envOn("Self-Host")
        const first = yield* host(upload("a", bytes(10)))
        const second = yield* host(upload("a", bytes(20)))
        const other = yield* host(upload("b", bytes(30)))
        yield* host(Files.use((files) => files.remove(other.file_id)))
        yield* TestClock.adjust(graceMs - 1)
        assert.isTrue(yield* exists(first.storage_path))
        assert.isTrue(yield* exists(other.storage_path))
        yield* TestClock.adjust(passMs)
        yield* checkBytes(env_id, [first.storage_path, other.storage_path])
        assert.isTrue(yield* exists(second.storage_path))
        yield* TestClock.adjust("1 day")
        assert.isTrue(yield* exists(second.storage_path))
        assert.deepStrictEqual(yield* reservedKeys, [])
      })
    )
  )

  it.effect("removes the bytes of a previous process at once", () =>
    Effect.gen(function* () {
      const store = yield* FileStore
      yield* BlobStore.use((blobs) => blobs.put("files/lost", bytes(5)))
      yield* store.reserve("files/lost", Timestamp.make(0))
      yield* Effect.gen(function* () {
        yield* TestClock.adjust(0)
        assert.isFalse(yield* exists("files/lost"))
      }).pipe(Effect.provide(withJanitor))
      assert.deepStrictEqual(yield* reservedKeys, [])
    }).pipe(Effect.provide(MemoryStores.layer))
  )

  it.effect("keeps bytes that this node is reading, and removes them later", () =>
    run(
      Effect.gen(function* () {
        const { host } = yield* envOn("Self-Host")
        const file = yield* host(upload("a", bytes(10)))
        const scope = yield* Scope.make()
        const opened = yield* host(Files.use((files) => files.open(file.file_id)))
        const readers = [yield* Scope.fork(scope), yield* Scope.fork(scope)]
        for (const reader of readers) yield* Scope.provide(opened.read(), reader)
        yield* host(Files.use((files) => files.remove(file.file_id)))
        for (const reader of readers) {
          yield* TestClock.adjust("10 minutes")
          assert.isTrue(yield* exists(file.storage_path))
          yield* Scope.close(reader, Exit.void)
        }
        yield* TestClock.adjust(passMs)
        assert.isFalse(yield* exists(file.storage_path))
      })
    )
  )

  it.effect("keeps bytes that are still being written, for any time", () =>
    run(
      Effect.gen(function* () {
        const { env_id, host } = yield* envOn("Self-Host")
        const slow = Stream.fromIterable(["first", "last"]).pipe(
          Stream.mapEffect((text) => Effect.as(Effect.sleep("1 hour"), new TextEncoder().encode(text)))
        )
        const fiber = yield* Effect.forkChild(
          host(
            Files.use((files) => files.upload({ path: "a", content_type: "a/b", runId: null, size: null, bytes: slow }))
          )
        )
        yield* TestClock.adjust("1 hour")
        yield* TestClock.adjust("1 hour")
        const file = yield* Fiber.join(fiber)
        assert.strictEqual(file.size, 9)
        yield* TestClock.adjust("1 hour")
        yield* checkBytes(env_id, [])
      })
    )
  )

  it.effect("removes expired uploads with their parts", () =>
    run(
      Effect.gen(function* () {
        const { host, org_id } = yield* envOn("Self-Host")
        const begun = yield* Effect.replicateEffect(
          host(Uploads.use((uploads) => uploads.initiate({ path: "a" }))),
          250
        )
        for (const { upload_id } of begun) yield* host(putPart(upload_id, 1, bytes(10)))
        yield* TestClock.adjust("23 hours")
        const late = yield* host(Uploads.use((uploads) => uploads.initiate({ path: "a" })))
        yield* host(putPart(late.upload_id, 1, bytes(7)))
        yield* TestClock.adjust("61 minutes")
        assert.strictEqual(yield* FileStore.use((store) => store.storageBytes(org_id)), 7)
        for (const { storage_path, storage_parts } of begun) {
          const write = BlobStore.use((blobs) =>
            blobs.writePart(storage_path, storage_parts, 1, content(bytes(1)).bytes)
          )
          assert.strictEqual(yield* failure(write), "NotFound")
        }
        assert.strictEqual((yield* host(Uploads.use((uploads) => uploads.complete(late.upload_id)))).size, 7)
        yield* TestClock.adjust("1 day")
        assert.deepStrictEqual(yield* reservedKeys, [])
      })
    )
  )

  it.effect("removes the bytes of an upload whose completion stopped after joining", () =>
    run(
      Effect.gen(function* () {
        const { host, env_id } = yield* envOn("Self-Host")
        const { upload_id, storage_path, storage_parts } = yield* host(
          Uploads.use((uploads) => uploads.initiate({ path: "a" }))
        )
        const { size, etag } = yield* host(putPart(upload_id, 1, bytes(10)))
        const chosen = [{ number: 1, size, digest: etag.slice(1, -1) }]
        yield* BlobStore.use((blobs) => blobs.joinParts(storage_path, storage_parts, chosen))
        yield* TestClock.adjust("25 hours")
        yield* checkBytes(env_id, [storage_path])
        assert.deepStrictEqual(yield* reservedKeys, [])
      })
    )
  )

  it.effect("retries bytes that cannot be removed, without delaying others", () => {
    const { layer, tries } = withStuckBlobs((key) => key.startsWith("stuck"))
    return Effect.gen(function* () {
      const store = yield* FileStore
      // More than a batch, and all of them older than the removable key.
      for (let n = 0; n < 150; n++) yield* store.reserve(`stuck/${n}`, Timestamp.make(1))
      yield* store.reserve("free", Timestamp.make(2))
      yield* TestClock.adjust(passMs)
      assert.include(tries, "free")
      assert.strictEqual(tries.length, 151)
      yield* TestClock.adjust(passMs)
      assert.strictEqual(tries.length, 301)
      assert.strictEqual((yield* reservedKeys).length, 150)
    }).pipe(Effect.provide(layer))
  })

  it.effect("continues after an outage of the store", () => {
    const outage = { calls: 0 }
    const store = Layer.effect(
      FileStore,
      Effect.map(FileStore, (store) => ({
        ...store,
        claimExpired: (...args: Parameters<typeof store.claimExpired>) =>
          Effect.suspend(() => {
            outage.calls += 1
            if (outage.calls === 2)
              return Effect.fail(new StoreUnavailable({ operation: "claimExpired", cause: "outage" }))
            return outage.calls === 3 ? Effect.die(new Error("a mistake")) : store.claimExpired(...args)
          })
      }))
    )
    return Effect.gen(function* () {
      yield* TestClock.adjust(0)
      yield* FileStore.use((store) => store.reserve("free", Timestamp.make(1)))
      yield* TestClock.adjust(3 * passMs)
      assert.strictEqual(outage.calls, 4)
      assert.deepStrictEqual(yield* reservedKeys, [])
    }).pipe(Effect.provide(withJanitor.pipe(Layer.provideMerge(store), Layer.provideMerge(MemoryStores.layer))))
  })
})
