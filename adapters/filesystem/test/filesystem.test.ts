import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { blobStoreContract, blobStoreModel } from "@weft/contract"
import { BlobStore } from "@weft/core/adapter"
import { blobs } from "@weft/filesystem"
import { Effect, Layer } from "effect"

const root = mkdtempSync(join(tmpdir(), "weft-blobs-"))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const freshDir = () => mkdtempSync(join(root, "dir-"))

const fresh = Layer.unwrap(Effect.sync(() => blobs({ dir: freshDir() })))

blobStoreContract("filesystem", fresh)
blobStoreModel("filesystem", fresh, 60)

describe("blobs in a folder", () => {
  it.effect("survive the layer, and are readable for their owner only", () =>
    Effect.gen(function* () {
      const dir = freshDir()
      yield* Effect.provide(
        BlobStore.use((store) => store.put("builds/a.zip", new Uint8Array([1, 2, 3]))),
        blobs({ dir })
      )
      const kept = yield* Effect.provide(
        BlobStore.use((store) => store.get("builds/a.zip")),
        blobs({ dir })
      )
      assert.deepStrictEqual(kept, new Uint8Array([1, 2, 3]))
      assert.strictEqual(statSync(join(dir, "content", "builds", "a.zip")).mode & 0o777, 0o600)
      assert.strictEqual(statSync(join(dir, "content")).mode & 0o777, 0o700)
    })
  )

  it.effect("that a crash left incomplete are removed at the next start", () =>
    Effect.gen(function* () {
      const dir = freshDir()
      yield* Effect.provide(Effect.void, blobs({ dir }))
      writeFileSync(join(dir, "drafts", "half"), "half")
      yield* Effect.provide(Effect.void, blobs({ dir }))
      assert.deepStrictEqual(readdirSync(join(dir, "drafts")), [])
    })
  )

  it.effect("are rejected if their key would leave the folder", () =>
    Effect.gen(function* () {
      for (const key of ["../a", "a/../../b", "/etc/passwd", "a//b", "", "a/.", "a\\b", ".hidden"]) {
        const exit = yield* Effect.exit(BlobStore.use((store) => store.put(key, new Uint8Array())))
        assert.isTrue(exit._tag === "Failure" && exit.cause.reasons[0]?._tag === "Die", key)
      }
    }).pipe(Effect.provide(Layer.unwrap(Effect.sync(() => blobs({ dir: freshDir() })))))
  )

  it.effect("fail at start with the name of a folder that cannot be created", () =>
    Effect.gen(function* () {
      const dir = freshDir()
      writeFileSync(join(dir, "file"), "")
      const error = yield* Effect.flip(Effect.provide(Effect.void, blobs({ dir: join(dir, "file", "blobs") })))
      assert.strictEqual(error._tag, "FolderUnusable")
      assert.include(error.message, "file")
    })
  )

  it.effect("keep the old bytes when a put fails with StoreUnavailable", () =>
    Effect.gen(function* () {
      const dir = freshDir()
      const store = yield* Effect.provide(BlobStore, blobs({ dir }))
      yield* store.put("a/b", new Uint8Array([1]))
      rmSync(join(dir, "drafts"), { recursive: true })
      const error = yield* Effect.flip(store.put("a/b", new Uint8Array([2])))
      assert.strictEqual(error._tag, "StoreUnavailable")
      assert.deepStrictEqual(yield* store.get("a/b"), new Uint8Array([1]))
    })
  )

  it.effect("are not removed with a key that is the folder of their keys", () =>
    Effect.gen(function* () {
      const store = yield* Effect.provide(BlobStore, blobs({ dir: freshDir() }))
      yield* store.put("a/b", new Uint8Array([1]))
      yield* store.remove("a")
      assert.deepStrictEqual(yield* store.get("a/b"), new Uint8Array([1]))
    })
  )
})
