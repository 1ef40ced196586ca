/** Whatever is stopped, wherever: records name bytes that are there, and no other bytes stay. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { TestClock } from "effect/testing"
import { BlobStore } from "../../src/blobs/BlobStore.ts"
import { FileStore } from "../../src/files/FileStore.ts"
import { Files } from "../../src/files/Files.ts"
import { partBytesMin } from "../../src/files/MultipartUpload.ts"
import { Uploads } from "../../src/files/Uploads.ts"
import { MemoryStores } from "../../src/memory/MemoryStores.ts"
import { as } from "../Services.ts"
import { bytes, content, envOn, looseKeys, onStores, putPart, read, upload, withJanitor } from "./Scene.ts"
import { dieAt, interruptAt } from "./Steps.ts"

type Env = Effect.Success<ReturnType<typeof envOn>>

/** What is done, after `before`, until it is stopped. */
interface Story {
  /** Whether parts without bytes may stay open in the blob store when the process dies: nothing knows their name yet. */
  readonly mayLeaveEmptyParts?: boolean
  readonly before: (env: Env) => Effect.Effect<string, unknown, Layer.Success<typeof onStores>>
  readonly act: (env: Env, id: string) => Effect.Effect<unknown, unknown, Layer.Success<typeof onStores>>
}

const idOf = Effect.map(
  Uploads.use((uploads) => uploads.initiate({ path: "a" })),
  ({ upload_id }) => upload_id
)

const begun = (env: Env) =>
  Effect.gen(function* () {
    const id = yield* env.host(idOf)
    yield* env.host(putPart(id, 1, bytes(partBytesMin)))
    yield* env.host(putPart(id, 2, bytes(50, 2)))
    return id
  })

const stories: Record<string, Story> = {
  "an upload": {
    before: () => Effect.succeed(""),
    act: ({ host }) => host(upload("a", bytes(100)))
  },
  "an upload over a file": {
    before: ({ host }) => Effect.map(host(upload("a", bytes(70))), (file) => file.file_id),
    act: ({ host }) => host(upload("a", bytes(100), null))
  },
  "an upload that is refused in the end": {
    before: ({ host }) => Effect.map(host(upload("b", bytes(70))), (file) => file.file_id),
    act: ({ host }) => host(upload("a", bytes(100), 101))
  },
  "a removal": {
    before: ({ host }) => Effect.map(host(upload("a", bytes(70))), (file) => file.file_id),
    act: ({ host }, id) => host(Files.use((files) => files.remove(id)))
  },
  "the beginning of an upload in parts": {
    mayLeaveEmptyParts: true,
    before: () => Effect.succeed(""),
    act: ({ host }) => host(idOf)
  },
  "a part": {
    before: begun,
    act: ({ host }, id) => host(putPart(id, 3, bytes(50, 3)))
  },
  "a part that takes another's place": {
    before: begun,
    act: ({ host }, id) => host(putPart(id, 2, bytes(60, 3)))
  },
  "a completion": {
    before: begun,
    act: ({ host }, id) => host(Uploads.use((uploads) => uploads.complete(id)))
  },
  "a completion over a file": {
    before: (env) => Effect.andThen(env.host(upload("a", bytes(70))), begun(env)),
    act: ({ host }, id) => host(Uploads.use((uploads) => uploads.complete(id)))
  },
  "an abort": {
    before: begun,
    act: ({ host }, id) => host(Uploads.use((uploads) => uploads.abort(id)))
  }
}

/** Notes every key and every name of parts that the store was given. */
const watchedBlobs = () => {
  const keys = new Set<string>()
  const parts = new Map<string, string>()
  const layer = Layer.effect(
    BlobStore,
    Effect.map(BlobStore, (store) =>
      BlobStore.of({
        ...store,
        write: (key, stream) => {
          keys.add(key)
          return store.write(key, stream)
        },
        beginParts: (key) => {
          keys.add(key)
          return Effect.tap(store.beginParts(key), (name) => Effect.sync(() => parts.set(name, key)))
        }
      })
    )
  ).pipe(Layer.provideMerge(MemoryStores.layer))
  return { keys, parts, layer }
}

const check = (story: Story, stop: typeof interruptAt, stopAt: number) => {
  const { keys, parts, layer } = watchedBlobs()
  return Effect.gen(function* () {
    const { env, stopped } = yield* Effect.gen(function* () {
      const env = yield* envOn("Self-Host")
      const id = yield* story.before(env)
      return { env, stopped: yield* stop(stopAt, Effect.exit(story.act(env, id))) }
    }).pipe(Effect.provide(onStores))
    // Another life, and one more when uploads have expired too.
    yield* Effect.provide(TestClock.adjust("3 minutes"), withJanitor)
    yield* TestClock.adjust("25 hours")
    yield* Effect.gen(function* () {
      const store = yield* FileStore
      const blobs = yield* BlobStore
      yield* TestClock.adjust("3 minutes")
      const { items } = yield* store.list(env.env_id, { limit: 100, offset: 0 }, {})
      const named = new Set(items.map((file) => file.storage_path))
      for (const file of items) {
        assert.strictEqual((yield* as(env.env_id)(read(file.file_id))).length, file.size)
      }
      for (const key of keys) {
        assert.strictEqual(Exit.isSuccess(yield* Effect.exit(blobs.get(key))), named.has(key), `${stopAt}: ${key}`)
      }
      for (const [name, key] of parts) {
        const write = yield* Effect.exit(blobs.writePart(key, name, 9, content(bytes(1)).bytes))
        const isForgiven = stop === dieAt && story.mayLeaveEmptyParts === true
        assert.isTrue(Exit.isFailure(write) || isForgiven, `${stopAt}: parts of ${key}`)
      }
      const used = items.reduce((sum, file) => sum + file.size, 0)
      assert.strictEqual(yield* store.storageBytes(env.org_id), used)
      assert.deepStrictEqual(yield* looseKeys, [])
    }).pipe(Effect.provide(withJanitor))
    return stopped
  }).pipe(Effect.provide(layer))
}

/** Stops the story at its first step, its second, and so on until it gets to its end; how many steps it has. */
const stopEverywhere = Effect.fnUntraced(function* (story: Story, stop: typeof interruptAt) {
  let stopAt = 1
  while (yield* check(story, stop, stopAt)) stopAt += 1
  return stopAt - 1
})

for (const [name, story] of Object.entries(stories)) {
  describe(name, () => {
    it.effect("leaves nothing behind wherever it is interrupted", () =>
      Effect.gen(function* () {
        assert.isAtLeast(yield* stopEverywhere(story, interruptAt), 2)
      })
    )

    it.effect("leaves nothing behind wherever the process is killed", () =>
      Effect.gen(function* () {
        assert.isAtLeast(yield* stopEverywhere(story, dieAt), 2)
      })
    )
  })
}
