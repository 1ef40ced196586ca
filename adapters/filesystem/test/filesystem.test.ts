import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { blobStoreContract, blobStoreModel } from "@weft/contract"
import { BlobStore } from "@weft/core"
import { blobs } from "@weft/filesystem"
import { Effect, Layer } from "effect"

const root = mkdtempSync(join(tmpdir(), "weft-blobs-"))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const freshDir = () => mkdtempSync(join(root, "dir-"))

const fresh = Layer.unwrap(Effect.sync(() => blobs({ dir: freshDir() })))

blobStoreContract("filesystem", fresh)
blobStoreModel("filesystem", fresh, 60)

describe("blobs in a folder", () => {
  it.effect("outlive the layer, and only their owner can read them", () =>
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

  it.effect("what a crash left half-written is removed at the next start", () =>
    Effect.gen(function* () {
      const dir = freshDir()
      yield* Effect.provide(Effect.void, blobs({ dir }))
      writeFileSync(join(dir, "drafts", "half"), "half")
      yield* Effect.provide(Effect.void, blobs({ dir }))
      assert.deepStrictEqual(readdirSync(join(dir, "drafts")), [])
    })
  )

  it.effect("keys cannot leave the folder", () =>
    Effect.gen(function* () {
      for (const key of ["../a", "a/../../b", "/etc/passwd", "a//b", "", "a/.", "a\\b", ".hidden"]) {
        const exit = yield* Effect.exit(BlobStore.use((store) => store.put(key, new Uint8Array())))
        assert.isTrue(exit._tag === "Failure" && exit.cause.reasons[0]?._tag === "Die", key)
      }
    }).pipe(Effect.provide(Layer.unwrap(Effect.sync(() => blobs({ dir: freshDir() })))))
  )

  it.effect("a folder that cannot be made stops the start with its name", () =>
    Effect.gen(function* () {
      const dir = freshDir()
      writeFileSync(join(dir, "file"), "")
      const error = yield* Effect.flip(Effect.provide(Effect.void, blobs({ dir: join(dir, "file", "blobs") })))
      assert.strictEqual(error._tag, "FolderUnusable")
      assert.include(error.message, "file")
    })
  )

  it.effect("a put that fails is StoreUnavailable, and the old bytes stay", () =>
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

  it.effect("removing what is a folder of other keys removes none of them", () =>
    Effect.gen(function* () {
      const store = yield* Effect.provide(BlobStore, blobs({ dir: freshDir() }))
      yield* store.put("a/b", new Uint8Array([1]))
      yield* store.remove("a")
      assert.deepStrictEqual(yield* store.get("a/b"), new Uint8Array([1]))
    })
  )
})
