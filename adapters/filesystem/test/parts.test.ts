/** Guarantees of a folder of blobs in addition to the contract: restarts, crashes and open readers. */
import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { type BlobPart, BlobStore } from "@weft/core/adapter"
import { blobs } from "@weft/filesystem"
import { Bytes, Effect, Fiber, Stream } from "effect"

const root = mkdtempSync(join(tmpdir(), "weft-parts-"))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const freshDir = () => mkdtempSync(join(root, "dir-"))

/** Opens another store on the folder, as after a restart. */
const openStore = (dir: string) => Effect.provide(BlobStore, blobs({ dir }))

type Store = BlobStore["Service"]

const filled = (length: number, value: number) => new Uint8Array(length).fill(value)

const part = (store: Store, name: string, number: number, size = 1000) =>
  Effect.map(
    store.writePart("files/a", name, number, Stream.make(filled(size, number))),
    (written): BlobPart => ({ number, ...written })
  )

const joined = Effect.fnUntraced(function* (store: Store, numbers: ReadonlyArray<number>, size = 1000) {
  const name = yield* store.beginParts("files/a")
  const chosen = yield* Effect.forEach(numbers, (number) => part(store, name, number, size))
  yield* store.joinParts("files/a", name, chosen)
  return { name, chosen }
})

const readAll = (store: Store) =>
  Effect.scoped(Effect.flatMap(store.read("files/a"), (stream) => Stream.runCollect(stream))).pipe(
    Effect.map((chunks) => Bytes.concat(chunks))
  )

/** Lists a folder of the store. Empty if the folder does not exist. */
const list = (dir: string, ...path: ReadonlyArray<string>) => {
  const folder = join(dir, ...path)
  return existsSync(folder) ? readdirSync(folder) : []
}

describe("blobs in parts in a folder", () => {
  it.effect("continue an upload after a restart", () =>
    Effect.gen(function* () {
      const dir = freshDir()
      const before = yield* openStore(dir)
      const name = yield* before.beginParts("files/a")
      const one = yield* part(before, name, 1)
      const after = yield* openStore(dir)
      const two = yield* part(after, name, 2)
      yield* after.joinParts("files/a", name, [one, two])
      assert.deepStrictEqual(yield* after.get("files/a"), Bytes.concat([filled(1000, 1), filled(1000, 2)]))
    })
  )

  it.effect("are joined without a copy: the files of the parts become those of the blob", () =>
    Effect.gen(function* () {
      const dir = freshDir()
      const store = yield* openStore(dir)
      const name = yield* store.beginParts("files/a")
      const one = yield* part(store, name, 1)
      const { ino } = statSync(join(dir, "parts", name, "1"))
      yield* store.joinParts("files/a", name, [one])
      assert.deepStrictEqual(list(dir, "parts"), [])
      assert.strictEqual(statSync(join(dir, "content", "files", "a~", name, "1")).ino, ino)
      assert.strictEqual(statSync(join(dir, "content", "files", "a~", name, "1")).mode & 0o777, 0o600)
      assert.strictEqual(statSync(join(dir, "content", "files", "a~", name)).mode & 0o777, 0o700)
    })
  )

  it.effect("complete an interrupted join when it is repeated, and have no new bytes until then", () =>
    Effect.gen(function* () {
      const dir = freshDir()
      const store = yield* openStore(dir)
      const { name, chosen } = yield* joined(store, [1, 2])
      const whole = yield* store.get("files/a")
      // As if the process had crashed after the folder was moved, before the key referred to it.
      unlinkSync(join(dir, "content", "files", "a"))
      const after = yield* openStore(dir)
      assert.strictEqual((yield* Effect.flip(after.get("files/a")))._tag, "NotFound")
      yield* after.joinParts("files/a", name, chosen)
      assert.deepStrictEqual(yield* after.get("files/a"), whole)

      // As if it had crashed before the folder was moved.
      unlinkSync(join(dir, "content", "files", "a"))
      renameSync(join(dir, "content", "files", "a~", name), join(dir, "parts", name))
      yield* after.joinParts("files/a", name, chosen)
      assert.deepStrictEqual(yield* after.get("files/a"), whole)
    })
  )

  it.effect("are removed with their key, including files that a crash left", () =>
    Effect.gen(function* () {
      const dir = freshDir()
      const store = yield* openStore(dir)
      yield* joined(store, [1, 2])
      yield* joined(store, [3])
      assert.strictEqual(list(dir, "content", "files", "a~").length, 1)
      yield* store.put("files/a", filled(1, 1))
      assert.deepStrictEqual(list(dir, "content", "files"), ["a"])
      yield* joined(store, [4])
      // As if the process had crashed between the two steps of a removal.
      unlinkSync(join(dir, "content", "files", "a"))
      yield* store.remove("files/a")
      assert.deepStrictEqual(list(dir, "content", "files"), [])
      assert.deepStrictEqual(list(dir, "drafts"), [])
    })
  )

  it.effect("leave no file after drops, failed streams and interruptions", () =>
    Effect.gen(function* () {
      const dir = freshDir()
      const store = yield* openStore(dir)
      const name = yield* store.beginParts("files/a")
      yield* part(store, name, 1)
      const endless = Stream.concat(Stream.make(filled(500_000, 1)), Stream.never)
      for (const write of [store.write("files/b", endless), store.writePart("files/a", name, 1, endless)]) {
        const fiber = yield* Effect.forkChild(write)
        while (list(dir, "drafts").length === 0) yield* Effect.promise(() => new Promise(setImmediate))
        yield* Fiber.interrupt(fiber)
        assert.deepStrictEqual(list(dir, "drafts"), [])
      }
      yield* Effect.flip(store.write("files/b", Stream.concat(Stream.make(filled(10, 1)), Stream.fail("torn"))))
      assert.deepStrictEqual(list(dir, "drafts"), [])
      assert.deepStrictEqual(list(dir, "parts", name), ["1"])
      yield* store.dropParts("files/a", name)
      assert.deepStrictEqual([...list(dir, "parts"), ...list(dir, "drafts")], [])
    })
  )

  it.effect("are removed after the last reader has ended", () =>
    Effect.gen(function* () {
      const dir = freshDir()
      const store = yield* openStore(dir)
      yield* joined(store, [1, 2, 3], 300_000)
      yield* Effect.scoped(
        Effect.gen(function* () {
          const [first, second] = [yield* store.read("files/a"), yield* store.read("files/a")]
          yield* store.remove("files/a")
          assert.strictEqual(list(dir, "drafts").length, 1)
          assert.strictEqual(Bytes.concat(yield* Stream.runCollect(first)).length, 900_000)
          assert.strictEqual(Bytes.concat(yield* Stream.runCollect(second)).length, 900_000)
        })
      )
      while (list(dir, "drafts").length > 0) yield* Effect.promise(() => new Promise(setImmediate))
    })
  )

  it.effect("show only complete blobs to concurrent readers and writers of one key", () =>
    Effect.gen(function* () {
      const dir = freshDir()
      const store = yield* openStore(dir)
      yield* joined(store, [1, 2], 200_000)
      const change = Effect.forEach([3, 4, 5, 6, 7, 8], (number) =>
        number % 3 === 0 ? store.put("files/a", filled(400_000, number)) : joined(store, [number, number + 10], 200_000)
      )
      const reads = Effect.forEach(Array.from({ length: 30 }), () =>
        Effect.map(readAll(store), (read) => {
          assert.strictEqual(read.length, 400_000)
          const [first = 0, last = 0] = [read[0], read[399_999]]
          assert.isTrue(read.subarray(0, 200_000).every((value) => value === first))
          assert.isTrue(read.subarray(200_000).every((value) => value === last))
          assert.include(first <= 2 ? [2] : [first, first + 10], last)
        })
      )
      yield* Effect.all([change, reads, reads], { concurrency: "unbounded" })
      assert.strictEqual(lstatSync(join(dir, "content", "files", "a")).isSymbolicLink(), true)
      assert.strictEqual(list(dir, "content", "files", "a~").length, 1)
    })
  )
})

describe("streams from a folder", () => {
  it.effect("are read with back-pressure", () =>
    Effect.gen(function* () {
      const dir = freshDir()
      const store = yield* openStore(dir)
      yield* store.write("files/a", Stream.make(filled(32_000_000, 1)))
      const bytesRead = () => Number(/rchar: (\d+)/.exec(readFileSync("/proc/self/io", "utf8"))?.[1] ?? 0)
      yield* Effect.scoped(
        Effect.gen(function* () {
          const pull = yield* Stream.toPull(yield* store.read("files/a"))
          const before = bytesRead()
          yield* pull
          yield* pull
          for (let round = 0; round < 50; round++) yield* Effect.promise(() => new Promise(setImmediate))
          assert.isBelow(bytesRead() - before, 1_000_000)
        })
      )
    })
  )
})
