/** After a crash at any point, records reference only existing bytes, and no other bytes remain. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { TestClock } from "effect/testing"
import { MemoryStores } from "../../../src/memory/MemoryStores.ts"
import { BlobStore } from "../../../src/platform/blobs/BlobStore.ts"
import { FileStore } from "../../../src/resources/files/FileStore.ts"
import { Files } from "../../../src/resources/files/Files.ts"
import { partBytesMin } from "../../../src/resources/files/MultipartUpload.ts"
import { Uploads } from "../../../src/resources/files/Uploads.ts"
import { as } from "../../Services.ts"
import { dieAt, interruptAt } from "./CrashPoints.ts"
import { bytes, content, envOn, onStores, putPart, read, reservedKeys, upload, withJanitor } from "./Fixtures.ts"

type Env = Effect.Success<ReturnType<typeof envOn>>

/** An operation `act` that is stopped at some point, after `before`. */
interface Scenario {
  /** True if the crash may leave open parts without bytes in the blob store, whose name is not stored yet. */
  readonly mayLeaveEmptyParts?: boolean
  readonly before: (env: Env) => Effect.Effect<string, unknown, Layer.Success<typeof onStores>>
  readonly act: (env: Env, id: string) => Effect.Effect<unknown, unknown, Layer.Success<typeof onStores>>
}

const idOf = Effect.map(
  Uploads.use((uploads) => uploads.initiate({ path: "a" })),
  ({ upload_id }) => upload_id
)

const startUpload = (env: Env) =>
  Effect.gen(function* () {
    const id = yield* env.host(idOf)
    yield* env.host(putPart(id, 1, bytes(partBytesMin)))
    yield* env.host(putPart(id, 2, bytes(50, 2)))
    return id
  })

const scenarios: Record<string, Scenario> = {
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
  "the start of a multipart upload": {
    mayLeaveEmptyParts: true,
    before: () => Effect.succeed(""),
    act: ({ host }) => host(idOf)
  },
  "a part": {
    before: startUpload,
    act: ({ host }, id) => host(putPart(id, 3, bytes(50, 3)))
  },
  "a part that replaces another": {
    before: startUpload,
    act: ({ host }, id) => host(putPart(id, 2, bytes(60, 3)))
  },
  "a completion": {
    before: startUpload,
    act: ({ host }, id) => host(Uploads.use((uploads) => uploads.complete(id)))
  },
  "a completion over a file": {
    before: (env) => Effect.andThen(env.host(upload("a", bytes(70))), startUpload(env)),
    act: ({ host }, id) => host(Uploads.use((uploads) => uploads.complete(id)))
  },
  "an abort": {
    before: startUpload,
    act: ({ host }, id) => host(Uploads.use((uploads) => uploads.abort(id)))
  }
}

/** Records every key and every name of parts that the store receives. */
const recordBlobs = () => {
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

const check = (scenario: Scenario, stop: typeof interruptAt, stopAt: number) => {
  const { keys, parts, layer } = recordBlobs()
  return Effect.gen(function* () {
    const { env, stopped } = yield* Effect.gen(function* () {
      const env = yield* envOn("Self-Host")
      const id = yield* scenario.before(env)
      return { env, stopped: yield* stop(stopAt, Effect.exit(scenario.act(env, id))) }
    }).pipe(Effect.provide(onStores))
    // A second process, and a third one after the uploads have expired.
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
        const isForgiven = stop === dieAt && scenario.mayLeaveEmptyParts === true
        assert.isTrue(Exit.isFailure(write) || isForgiven, `${stopAt}: parts of ${key}`)
      }
      const used = items.reduce((sum, file) => sum + file.size, 0)
      assert.strictEqual(yield* store.storageBytes(env.org_id), used)
      assert.deepStrictEqual(yield* reservedKeys, [])
    }).pipe(Effect.provide(withJanitor))
    return stopped
  }).pipe(Effect.provide(layer))
}

/** Stops the scenario at each of its steps in turn. Returns the number of steps. */
const stopEverywhere = Effect.fnUntraced(function* (scenario: Scenario, stop: typeof interruptAt) {
  let stopAt = 1
  while (yield* check(scenario, stop, stopAt)) stopAt += 1
  return stopAt - 1
})

for (const [name, scenario] of Object.entries(scenarios)) {
  describe(name, () => {
    it.effect("leaves nothing behind if it is interrupted at any step", () =>
      Effect.gen(function* () {
        assert.isAtLeast(yield* stopEverywhere(scenario, interruptAt), 2)
      })
    )

    it.effect("leaves nothing behind if the process is killed at any step", () =>
      Effect.gen(function* () {
        assert.isAtLeast(yield* stopEverywhere(scenario, dieAt), 2)
      })
    )
  })
}
