import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { StoreUnavailable } from "../../../src/foundation/Errors.ts"
import { firstPage } from "../../../src/foundation/Page.ts"
import { MemoryStores } from "../../../src/memory/MemoryStores.ts"
import { trustedSandbox, trustedZip } from "../../../src/memory/TrustedSandbox.ts"
import { BlobStore } from "../../../src/platform/blobs/BlobStore.ts"
import { BundleRejected } from "../../../src/platform/sandbox/Sandbox.ts"
import { BuildStore } from "../../../src/resources/builds/BuildStore.ts"
import { Builds } from "../../../src/resources/builds/Builds.ts"
import { as, failure, onStores } from "../../Services.ts"
import { deploy, hashOf, modules, run, servedBy, setUp, withSandbox } from "./Fixtures.ts"

const id = "01890000-0000-4000-8000-00000000000b"

const goLive = Effect.fnUntraced(function* (project: string, key: string, build_id?: string) {
  const zip = trustedZip(key)
  const named = build_id === undefined ? {} : { build_id }
  return yield* (yield* Builds).upload(project, { zip, hash: yield* hashOf(zip), build_type: "live", ...named })
})

describe("a live build", () => {
  it.effect("is active from its upload until it is replaced or ended", () =>
    run(
      Effect.gen(function* () {
        const { env, builds, host } = yield* setUp
        const deployed = yield* host(deploy("alpha", "one"))
        assert.strictEqual(yield* servedBy(env.env_id), deployed.build_id)
        yield* TestClock.adjust(1000)
        const { build: first } = yield* host(goLive("alpha", "two"))
        assert.deepInclude(first, { build_type: "live", deployed: false })
        assert.strictEqual(yield* servedBy(env.env_id), first.build_id)
        yield* TestClock.adjust(1000)
        const { build: second } = yield* host(goLive("alpha", "one"))
        assert.strictEqual(yield* servedBy(env.env_id), second.build_id)
        assert.strictEqual((yield* host(builds.live("alpha"))).build_id, second.build_id)
        assert.deepStrictEqual(
          (yield* host(builds.listOf("alpha", firstPage))).items.map((build) => build.build_id),
          [second.build_id, first.build_id, deployed.build_id]
        )
        yield* host(builds.endLive("alpha"))
        assert.strictEqual(yield* servedBy(env.env_id), deployed.build_id)
        assert.strictEqual(yield* host(failure(builds.live("alpha"))), "NotFound")
        assert.strictEqual((yield* host(Effect.flip(builds.endLive("alpha")))).message, "There is no such live build")
      })
    )
  )

  it.effect("is stored once if uploads with one build_id, or several live uploads, race", () =>
    run(
      Effect.gen(function* () {
        const { env, builds, host } = yield* setUp
        const all = yield* host(Effect.replicateEffect(goLive("alpha", "one", id), 8, { concurrency: 8 }))
        assert.strictEqual(all.filter((it) => !it.existed).length, 1)
        const uploads = Effect.forEach(["one", "two", "one", "two"], (key) => goLive("alpha", key), { concurrency: 4 })
        const ids = (yield* host(uploads)).map((it) => it.build.build_id)
        const serving = (yield* host(builds.live("alpha"))).build_id
        assert.include(ids, serving)
        assert.strictEqual(yield* servedBy(env.env_id), serving)
      })
    )
  )

  it.effect("does not conflict with a bundle of the same id, and vice versa", () =>
    run(
      Effect.gen(function* () {
        const { builds, host } = yield* setUp
        const zip = trustedZip("one")
        const bundle = { zip, hash: yield* hashOf(zip), build_id: id }
        yield* host(builds.upload("alpha", bundle))
        assert.include((yield* host(Effect.flip(goLive("alpha", "one", id)))).message, "build_type differs")
        assert.strictEqual(yield* host(failure(builds.live("alpha"))), "NotFound")
      })
    )
  )

  it.effect("checks both permissions before input, and input before existence", () =>
    run(
      Effect.gen(function* () {
        const { env, builds } = yield* setUp
        const bad = { zip: trustedZip("one"), hash: "", build_type: "live" } as const
        for (const [actions, tag] of [
          [["read", "create"], "Forbidden"],
          [["execute"], "BadRequest"]
        ] as const) {
          for (const project of ["alpha", "ghost"]) {
            const caller = as(env.env_id, { [`build:${project}`]: actions })
            assert.strictEqual(yield* caller(failure(builds.upload(project, bad))), tag)
          }
        }
        const both = as(env.env_id, { "build:*": ["create", "execute"] })
        assert.strictEqual(yield* both(failure(goLive("ghost", "one"))), "NotFound")
        assert.strictEqual(yield* both(failure(builds.live("alpha"))), "Forbidden")
        const reader = as(env.env_id, { "build:*": ["read", "create"] })
        assert.strictEqual(yield* reader(failure(builds.endLive("alpha"))), "Forbidden")
      })
    )
  )
})

describe("a failed live upload", () => {
  /** The services with the keys of all blobs, and a build store that the test changes. */
  const watched = (change: (store: BuildStore["Service"]) => Partial<BuildStore["Service"]>) => {
    const keys = new Set<string>()
    const stores = Layer.mergeAll(
      Layer.effect(
        BuildStore,
        Effect.map(BuildStore, (store) => ({ ...store, ...change(store) }))
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
    const layer = onStores.pipe(
      Layer.provideMerge(stores),
      Layer.provideMerge(Layer.mergeAll(MemoryStores.layer, trustedSandbox(modules)))
    )
    return { keys, layer }
  }
  const unavailable = Effect.fail(new StoreUnavailable({ operation: "goLive", cause: "test" }))

  it.effect("leaves no bytes, and keeps the active build", () => {
    const { keys, layer } = watched(() => ({}))
    return Effect.gen(function* () {
      const { env, host, builds } = yield* setUp
      const { build } = yield* host(goLive("alpha", "two"))
      const before = new Set(keys)
      assert.strictEqual(before.size, 2)
      assert.include((yield* host(Effect.flip(goLive("alpha", "bad")))).message, "main/broken")
      assert.include((yield* host(Effect.flip(goLive("beta", "one")))).message, "POST /shop/hello")
      assert.deepStrictEqual(keys, before)
      assert.strictEqual(yield* servedBy(env.env_id), build.build_id)
      assert.strictEqual((yield* host(builds.list(firstPage))).total, 1)
    }).pipe(Effect.provide(layer))
  })

  it.effect("leaves no bytes if the store fails", () => {
    const { keys, layer } = watched(() => ({ goLive: () => unavailable }))
    return Effect.gen(function* () {
      const { host } = yield* setUp
      assert.strictEqual(yield* host(failure(goLive("alpha", "one"))), "StoreUnavailable")
      assert.strictEqual(keys.size, 0)
    }).pipe(Effect.provide(layer))
  })

  it.effect("keeps the bytes if the store succeeded although it reported a failure", () => {
    const { keys, layer } = watched((store) => ({
      goLive: (build, manifest) => Effect.andThen(store.goLive(build, manifest), unavailable)
    }))
    return Effect.gen(function* () {
      const { host, builds } = yield* setUp
      assert.strictEqual(yield* host(failure(goLive("alpha", "one"))), "StoreUnavailable")
      assert.strictEqual(keys.size, 2)
      assert.strictEqual((yield* host(builds.live("alpha"))).build_type, "live")
    }).pipe(Effect.provide(layer))
  })

  it.effect("is rejected if its code does not load", () =>
    Effect.gen(function* () {
      const { host, builds } = yield* setUp
      const error = yield* host(Effect.flip(goLive("alpha", "one")))
      assert.strictEqual(error._tag, "BadRequest")
      assert.include(error.message, "it does not load")
      assert.strictEqual((yield* host(builds.list(firstPage))).total, 0)
    }).pipe(
      Effect.provide(
        withSandbox((trusted) => ({
          ...trusted,
          prepare: () => Effect.fail(new BundleRejected({ reason: "it does not load" }))
        }))
      )
    )
  )
})
