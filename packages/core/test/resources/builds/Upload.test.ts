import { assert, describe, it } from "@effect/vitest"
import { Bytes, Effect, Layer, Stream } from "effect"
import { StoreUnavailable } from "../../../src/foundation/Errors.ts"
import { firstPage } from "../../../src/foundation/Page.ts"
import { MemoryStores } from "../../../src/memory/MemoryStores.ts"
import { trustedSandbox, trustedZip } from "../../../src/memory/TrustedSandbox.ts"
import { BlobStore } from "../../../src/platform/blobs/BlobStore.ts"
import { BuildStore } from "../../../src/resources/builds/BuildStore.ts"
import type { BuildDownload } from "../../../src/resources/builds/Builds.ts"
import { ArchiveBytesMax } from "../../../src/resources/builds/Upload.ts"
import { Projects } from "../../../src/resources/projects/Projects.ts"
import { as, failure, newEnv, onStores, services } from "../../Services.ts"
import { hashOf, modules, run, setUp, upload } from "./Fixtures.ts"

/** Returns all bytes of a download. */
const zipOf = <E, R>(download: Effect.Effect<BuildDownload, E, R>) =>
  Effect.scoped(
    download.pipe(
      Effect.flatMap(({ read }) => read()),
      Effect.flatMap((bytes) => Stream.runCollect(bytes)),
      Effect.map(Bytes.concat)
    )
  )

const id = "01890000-0000-4000-8000-00000000000a"

describe("uploading a build", () => {
  it.effect("stores it with its bytes, not deployed", () =>
    run(
      Effect.gen(function* () {
        const { env, alpha, builds, host } = yield* setUp
        const { build, existed } = yield* host(upload("alpha", "one"))
        assert.isFalse(existed)
        assert.deepInclude(build, {
          project_id: alpha.project_id,
          project_name: "alpha",
          env_id: env.env_id,
          hash: yield* hashOf(trustedZip("one")),
          size: 3,
          build_type: "bundle",
          deployed: false,
          active: true,
          storage_backend: "memory"
        })
        assert.deepStrictEqual(yield* zipOf(host(builds.download(alpha.project_id, build.build_id))), trustedZip("one"))
        assert.strictEqual(yield* host(failure(builds.deployed("alpha"))), "NotFound")
      })
    )
  )

  it.effect("is idempotent for a build_id", () =>
    run(
      Effect.gen(function* () {
        const { builds, host } = yield* setUp
        const first = yield* host(upload("alpha", "one", id.toUpperCase()))
        assert.strictEqual(first.build.build_id, id)
        const again = yield* host(upload("alpha", "one", id))
        assert.deepStrictEqual([again.existed, again.build], [true, first.build])
        const other = yield* host(upload("alpha", "two", id))
        assert.deepStrictEqual([other.existed, other.build], [true, first.build])
        assert.deepStrictEqual(yield* zipOf(host(builds.download("alpha", id))), trustedZip("one"))
        const torn = { zip: trustedZip("one"), hash: yield* hashOf(trustedZip("two")), build_id: id }
        assert.include((yield* host(Effect.flip(builds.upload("alpha", torn)))).message, "hash is not the SHA-256")
        const elsewhere = yield* host(Effect.flip(upload("beta", "one", id)))
        assert.strictEqual(elsewhere.message, "build_id is already in use")
        assert.strictEqual((yield* host(builds.list(firstPage))).total, 1)
      })
    )
  )

  it.effect("rejects a build_id of another environment", () =>
    run(
      Effect.gen(function* () {
        const { host, builds } = yield* setUp
        const other = yield* newEnv("other")
        yield* as(other.env_id)((yield* Projects).create({ name: "alpha" }))
        yield* host(upload("alpha", "one", id))
        const error = yield* as(other.env_id)(Effect.flip(upload("alpha", "one", id)))
        assert.deepStrictEqual([error._tag, error.message], ["BadRequest", "build_id is already in use"])
        assert.deepStrictEqual(yield* zipOf(host(builds.download("alpha", id))), trustedZip("one"))
      })
    )
  )

  it.effect("stores one build and its bytes if uploads with one build_id race", () =>
    run(
      Effect.gen(function* () {
        const { builds, host } = yield* setUp
        const all = yield* host(Effect.replicateEffect(upload("alpha", "one", id), 8, { concurrency: 8 }))
        assert.strictEqual(all.filter((it) => !it.existed).length, 1)
        assert.deepStrictEqual(yield* zipOf(host(builds.download("alpha", id))), trustedZip("one"))
      })
    )
  )

  it.effect("rejects invalid input and stores nothing", () =>
    run(
      Effect.gen(function* () {
        const { builds, host } = yield* setUp
        const zip = trustedZip("one")
        const hash = yield* hashOf(zip)
        const cases = [
          [{ zip, hash: hash.slice(1) }, "hash must be a SHA-256"],
          [{ zip, hash: `${hash.slice(1)}g` }, "hash must be a SHA-256"],
          [{ zip, hash, build_id: "one" }, "build_id must be a UUID"],
          [{ zip: trustedZip("two"), hash }, "hash is not the SHA-256"],
          [{ zip: trustedZip("none"), hash: yield* hashOf(trustedZip("none")) }, "file: The file is not a zip"]
        ] as const
        for (const [input, reason] of cases) {
          const error = yield* host(Effect.flip(builds.upload("alpha", input)))
          assert.strictEqual(error._tag, "BadRequest")
          assert.include(error.message, reason)
        }
        assert.strictEqual((yield* host(builds.list(firstPage))).total, 0)
        const large = yield* host(builds.upload("alpha", { zip, hash: hash.toUpperCase() }))
        assert.isFalse(large.existed)
      })
    )
  )

  it.effect("rejects a zip above the limit before reading it", () =>
    Effect.gen(function* () {
      const { builds, host } = yield* setUp
      const error = yield* host(Effect.flip(builds.upload("alpha", { zip: new Uint8Array(11), hash: "0".repeat(64) })))
      assert.strictEqual(error.message, "file must have at most 10 bytes")
    }).pipe(Effect.provide(services(modules).pipe(Layer.provide(Layer.succeed(ArchiveBytesMax, 10)))))
  )

  it.effect("checks permission before input, and input before existence", () =>
    run(
      Effect.gen(function* () {
        const { env, builds } = yield* setUp
        const bad = { zip: trustedZip("one"), hash: "" }
        const asOther = as(env.env_id, { "build:beta": ["create"], "build:ghost": ["create"], "build:*": ["read"] })
        assert.strictEqual(yield* asOther(failure(builds.upload("alpha", bad))), "Forbidden")
        assert.strictEqual(yield* asOther(failure(builds.upload("ghost", bad))), "BadRequest")
        const good = { ...bad, hash: yield* hashOf(bad.zip) }
        assert.strictEqual(yield* asOther(failure(builds.upload("ghost", good))), "NotFound")
        assert.isFalse((yield* asOther(builds.upload("beta", good))).existed)
      })
    )
  )
})

describe("an upload during failures of the stores", () => {
  /** Runs the body with a build store whose inserts the test changes. Returns the keys of all blobs. */
  const failing = (insert: (store: BuildStore["Service"]) => BuildStore["Service"]["insert"]) => {
    const keys = new Set<string>()
    const stores = Layer.mergeAll(
      Layer.effect(
        BuildStore,
        Effect.map(BuildStore, (store) => ({ ...store, insert: insert(store) }))
      ),
      Layer.effect(
        BlobStore,
        Effect.map(BlobStore, (blobs) => ({
          ...blobs,
          put: (key: string, bytes: Uint8Array) =>
            Effect.tap(blobs.put(key, bytes), () => Effect.sync(() => keys.add(key))),
          remove: (key: string) => Effect.tap(blobs.remove(key), () => Effect.sync(() => keys.delete(key)))
        }))
      )
    )
    return {
      keys,
      layer: onStores.pipe(
        Layer.provideMerge(stores),
        Layer.provideMerge(Layer.mergeAll(MemoryStores.layer, trustedSandbox(modules)))
      )
    }
  }
  const unavailable = Effect.fail(new StoreUnavailable({ operation: "insert", cause: "test" }))

  it.effect("leaves no bytes", () => {
    const { keys, layer } = failing(() => () => unavailable)
    return Effect.gen(function* () {
      const { host } = yield* setUp
      assert.strictEqual(yield* host(failure(upload("alpha", "one"))), "StoreUnavailable")
      assert.strictEqual(keys.size, 0)
    }).pipe(Effect.provide(layer))
  })

  it.effect("keeps the bytes of a build that was stored although the store reported a failure", () => {
    const { keys, layer } = failing((store) => (build) => Effect.andThen(store.insert(build), unavailable))
    return Effect.gen(function* () {
      const { builds, host } = yield* setUp
      assert.strictEqual(yield* host(failure(upload("alpha", "one", id))), "StoreUnavailable")
      assert.strictEqual(keys.size, 1)
      assert.isTrue((yield* host(upload("alpha", "one", id))).existed)
      assert.deepStrictEqual(yield* zipOf(host(builds.download("alpha", id))), trustedZip("one"))
    }).pipe(Effect.provide(layer))
  })

  it.effect("leaves no bytes if the client disconnects", () => {
    const { keys, layer } = failing(() => () => Effect.never)
    return Effect.gen(function* () {
      const { host } = yield* setUp
      const waiting = yield* Effect.forkChild(host(upload("alpha", "one")))
      yield* Effect.yieldNow.pipe(Effect.repeat({ until: () => keys.size > 0 }))
      yield* Effect.sync(() => waiting.interruptUnsafe())
      yield* Effect.yieldNow.pipe(Effect.repeat({ until: () => keys.size === 0 }))
      assert.strictEqual(keys.size, 0)
    }).pipe(Effect.provide(layer))
  })
})
