/** Copies of the folder of a running store. */
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { BlobStore } from "@weft/core/adapter"
import { blobCopy, blobs } from "@weft/filesystem"
import { Effect, Stream } from "effect"

const root = mkdtempSync(join(tmpdir(), "weft-copy-"))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const openStore = (dir: string) => Effect.provide(BlobStore, blobs({ dir }))

const bytes = (text: string) => new TextEncoder().encode(text)

const fresh = Effect.gen(function* () {
  const [dir, target] = [mkdtempSync(join(root, "dir-")), mkdtempSync(join(root, "copy-"))]
  const store = yield* openStore(dir)
  const copy = blobCopy({ dir, target, skips: (key) => key.endsWith(".artifact") })
  const upload = Effect.fnUntraced(function* (key: string, ...texts: ReadonlyArray<string>) {
    const name = yield* store.beginParts(key)
    const parts = yield* Effect.forEach(texts, (text, index) =>
      Effect.map(store.writePart(key, name, index + 1, Stream.make(bytes(text))), (written) => ({
        number: index + 1,
        ...written
      }))
    )
    return { name, join: store.joinParts(key, name, parts) }
  })
  return { target, store, copy, upload }
})

describe("a copy of blobs", () => {
  it.effect("is a store with the named blobs and parts only", () =>
    Effect.gen(function* () {
      const { target, store, copy, upload } = yield* fresh
      yield* store.put("builds/a.zip", bytes("a build"))
      yield* store.put("builds/a.artifact", bytes("compiled"))
      yield* store.put("files/unnamed", bytes("of no record"))
      yield* Effect.flatMap(upload("files/joined", "one", "two"), ({ join }) => join)
      yield* Effect.promise(copy.copyNew)
      yield* store.put("files/later", bytes("later"))
      const open = yield* upload("files/open", "first")
      const empty = yield* upload("files/empty")
      yield* store.remove("builds/a.zip")
      yield* Effect.promise(copy.copyNew)

      const blobKeys = ["builds/a.zip", "files/joined", "files/later"]
      assert.deepStrictEqual(yield* Effect.promise(() => copy.findMissing([...blobKeys, "files/lost"])), ["files/lost"])
      yield* Effect.promise(() => copy.keepOnly({ blobKeys, partNames: [open.name, empty.name] }))
      const copied = yield* openStore(target)
      const texts = yield* Effect.forEach(blobKeys, (key) =>
        Effect.map(copied.get(key), (found) => new TextDecoder().decode(found))
      )
      assert.deepStrictEqual(texts, ["a build", "onetwo", "later"])
      for (const path of ["content/builds/a.artifact", "content/files/unnamed"]) {
        assert.isFalse(existsSync(join(target, path)), path)
      }
      for (const { name } of [open, empty]) assert.isTrue(existsSync(join(target, "parts", name)))
      const paths = copy.entries().map(({ path }) => path)
      assert.includeMembers(paths, ["content/files/joined", `parts/${open.name}/1`, `parts/${empty.name}`])
      assert.notInclude(paths, "content/files/unnamed")
    })
  )

  it.effect("has a part that was replaced, and misses a joined blob without all of its parts", () =>
    Effect.gen(function* () {
      const { target, store, copy, upload } = yield* fresh
      const open = yield* upload("files/open", "old")
      const joined = yield* upload("files/joined", "one", "two")
      yield* Effect.promise(copy.copyNew)
      const replaced = yield* store.writePart("files/open", open.name, 1, Stream.make(bytes("new part")))
      yield* joined.join
      assert.deepStrictEqual(yield* Effect.promise(() => copy.findMissing(["files/joined"])), ["files/joined"])
      yield* Effect.promise(copy.copyNew)
      assert.deepStrictEqual(yield* Effect.promise(() => copy.findMissing(["files/joined"])), [])
      yield* Effect.promise(() => copy.keepOnly({ blobKeys: [], partNames: [open.name] }))
      const copied = yield* openStore(target)
      yield* copied.joinParts("files/open", open.name, [{ number: 1, ...replaced }])
      assert.deepStrictEqual(yield* copied.get("files/open"), bytes("new part"))
    })
  )
})
