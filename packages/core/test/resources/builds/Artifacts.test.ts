import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { utf8Encode } from "../../../src/foundation/Utf8.ts"
import { BlobStore } from "../../../src/platform/blobs/BlobStore.ts"
import { Artifacts, artifactKey } from "../../../src/resources/builds/Artifacts.ts"
import { Projects } from "../../../src/resources/projects/Projects.ts"
import { failure } from "../../Services.ts"
import { setUp, upload, withSandbox } from "./Fixtures.ts"

/** A sandbox that counts its preparations, and whose artifacts differ from the zip. */
const countingPreparations = () => {
  const state = { prepared: 0 }
  const layer = withSandbox((trusted) => ({
    ...trusted,
    prepare: (zip) =>
      Effect.gen(function* () {
        state.prepared++
        yield* Effect.yieldNow
        return { ...(yield* trusted.prepare(zip)), artifact: utf8Encode("artifact") }
      })
  }))
  return { state, layer }
}

const deployed = Effect.gen(function* () {
  const { host, builds } = yield* setUp
  const { build } = yield* host(upload("alpha", "one"))
  return {
    host,
    blobs: yield* BlobStore,
    artifacts: yield* Artifacts,
    build: yield* host(builds.deploy("alpha", build.build_id))
  }
})

describe("Artifacts", () => {
  it.effect("provides the artifact of the deployment", () => {
    const { state, layer } = countingPreparations()
    return Effect.gen(function* () {
      const { artifacts, build } = yield* deployed
      const ref = artifacts.ref(build)
      assert.deepStrictEqual([ref.env_id, ref.build_id], [build.env_id, build.build_id])
      assert.deepStrictEqual(yield* ref.artifact, utf8Encode("artifact"))
      assert.strictEqual(state.prepared, 1)
    }).pipe(Effect.provide(layer))
  })

  it.effect("compiles a lost artifact again, once for concurrent callers", () => {
    const { state, layer } = countingPreparations()
    return Effect.gen(function* () {
      const { artifacts, blobs, build } = yield* deployed
      yield* blobs.remove(artifactKey(build))
      const read = Effect.suspend(() => artifacts.ref(build).artifact)
      const all = yield* Effect.replicateEffect(read, 5, { concurrency: 5 })
      assert.deepStrictEqual(all[4], utf8Encode("artifact"))
      assert.strictEqual(state.prepared, 2)
      yield* read
      assert.strictEqual(state.prepared, 2)
    }).pipe(Effect.provide(layer))
  })

  it.effect("replaces a rejected artifact", () => {
    const { layer } = countingPreparations()
    return Effect.gen(function* () {
      const { artifacts, blobs, build } = yield* deployed
      yield* blobs.put(artifactKey(build), utf8Encode("of another engine"))
      assert.deepStrictEqual(yield* artifacts.renew(build), utf8Encode("artifact"))
      assert.deepStrictEqual(yield* artifacts.ref(build).artifact, utf8Encode("artifact"))
    }).pipe(Effect.provide(layer))
  })

  it.effect("fails if the zip is also missing", () => {
    const { layer } = countingPreparations()
    return Effect.gen(function* () {
      const { artifacts, blobs, build } = yield* deployed
      yield* blobs.remove(artifactKey(build))
      yield* blobs.remove(build.storage_path)
      assert.strictEqual(yield* failure(artifacts.ref(build).artifact), "StoreUnavailable")
    }).pipe(Effect.provide(layer))
  })

  it.effect("removes artifacts and zips with their project", () => {
    const { layer } = countingPreparations()
    return Effect.gen(function* () {
      const { host, blobs, build } = yield* deployed
      yield* host((yield* Projects).remove("alpha"))
      assert.strictEqual(yield* failure(blobs.get(artifactKey(build))), "NotFound")
      assert.strictEqual(yield* failure(blobs.get(build.storage_path)), "NotFound")
    }).pipe(Effect.provide(layer))
  })
})

describe("a damaged build", () => {
  const damage = (blobs: BlobStore["Service"], key: string) =>
    Effect.flatMap(blobs.get(key), (stored) => blobs.put(key, Uint8Array.from([...stored.slice(0, -1), 0])))

  it.effect("is not deployed", () => {
    const { state, layer } = countingPreparations()
    return Effect.gen(function* () {
      const { host, builds } = yield* setUp
      const { build } = yield* host(upload("alpha", "one"))
      yield* damage(yield* BlobStore, build.storage_path)
      assert.strictEqual(yield* failure(host(builds.deploy("alpha", build.build_id))), "ContentDamaged")
      assert.strictEqual(state.prepared, 0)
      assert.strictEqual(yield* failure(host(builds.deployed("alpha"))), "NotFound")
    }).pipe(Effect.provide(layer))
  })

  it.effect("is not compiled again, so its code never runs, until its bytes are restored", () => {
    const { state, layer } = countingPreparations()
    return Effect.gen(function* () {
      const { artifacts, blobs, build } = yield* deployed
      const zip = yield* blobs.get(build.storage_path)
      yield* damage(blobs, build.storage_path)
      yield* blobs.remove(artifactKey(build))
      assert.strictEqual(yield* failure(artifacts.ref(build).artifact), "StoreUnavailable")
      assert.strictEqual(state.prepared, 1)
      yield* blobs.put(build.storage_path, zip)
      assert.deepStrictEqual(yield* artifacts.ref(build).artifact, utf8Encode("artifact"))
    }).pipe(Effect.provide(layer))
  })
})
