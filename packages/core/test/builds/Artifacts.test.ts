import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { BlobStore } from "../../src/blobs/BlobStore.ts"
import { Artifacts, artifactKey } from "../../src/builds/Artifacts.ts"
import { utf8Encode } from "../../src/ids/Utf8.ts"
import { Projects } from "../../src/projects/Projects.ts"
import { failure } from "../Services.ts"
import { setUp, upload, withSandbox } from "./Scene.ts"

/** A sandbox that counts how often it prepares; what it makes differs from the zip. */
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
  it.effect("hands out what deploying made", () => {
    const { state, layer } = countingPreparations()
    return Effect.gen(function* () {
      const { artifacts, build } = yield* deployed
      const ref = artifacts.ref(build)
      assert.deepStrictEqual([ref.env_id, ref.build_id], [build.env_id, build.build_id])
      assert.deepStrictEqual(yield* ref.artifact, utf8Encode("artifact"))
      assert.strictEqual(state.prepared, 1)
    }).pipe(Effect.provide(layer))
  })

  it.effect("makes a lost artifact again, once for all who wait", () => {
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

  it.effect("replaces a refused artifact", () => {
    const { layer } = countingPreparations()
    return Effect.gen(function* () {
      const { artifacts, blobs, build } = yield* deployed
      yield* blobs.put(artifactKey(build), utf8Encode("of another engine"))
      assert.deepStrictEqual(yield* artifacts.renew(build), utf8Encode("artifact"))
      assert.deepStrictEqual(yield* artifacts.ref(build).artifact, utf8Encode("artifact"))
    }).pipe(Effect.provide(layer))
  })

  it.effect("says that it has nothing when the zip is gone too", () => {
    const { layer } = countingPreparations()
    return Effect.gen(function* () {
      const { artifacts, blobs, build } = yield* deployed
      yield* blobs.remove(artifactKey(build))
      yield* blobs.remove(build.storage_path)
      assert.strictEqual(yield* failure(artifacts.ref(build).artifact), "StoreUnavailable")
    }).pipe(Effect.provide(layer))
  })

  it.effect("go with their project, and so do the zips", () => {
    const { layer } = countingPreparations()
    return Effect.gen(function* () {
      const { host, blobs, build } = yield* deployed
      yield* host((yield* Projects).remove("alpha"))
      assert.strictEqual(yield* failure(blobs.get(artifactKey(build))), "NotFound")
      assert.strictEqual(yield* failure(blobs.get(build.storage_path)), "NotFound")
    }).pipe(Effect.provide(layer))
  })
})
