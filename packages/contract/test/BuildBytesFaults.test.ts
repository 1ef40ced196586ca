/** Stores of builds with one fault each in the bytes of builds, which the contract must detect. */
import { buildStoreChecks } from "@weft/contract"
import { artifactKey, BuildStore, FileStore, ProjectStore } from "@weft/core/adapter"
import { Effect, Layer } from "effect"
import { at, build } from "../src/Samples.ts"
import { all, detects, faulty } from "./Faults.ts"

/** A store of builds that changes reservations before or after it stores a build. */
const around = (
  change: (store: BuildStore["Service"], files: FileStore["Service"]) => Partial<BuildStore["Service"]>
) =>
  Layer.effect(
    BuildStore,
    Effect.gen(function* () {
      const store = yield* BuildStore
      return BuildStore.of({ ...store, ...change(store, yield* FileStore) })
    })
  ).pipe(Layer.provideMerge(all))

detects("the contract of the bytes of builds", buildStoreChecks, {
  "keeps the reservation of a stored build": around((store, files) => ({
    insert: (stored) => Effect.andThen(store.insert(stored), files.reserve(stored.storage_path, at(10)))
  })),
  "keeps the reservation of a live build": around((store, files) => ({
    goLive: (stored, manifest) =>
      Effect.andThen(store.goLive(stored, manifest), files.reserve(stored.storage_path, at(10)))
  })),
  "stores a build whose bytes were garbage-collected": around((store, files) => ({
    insert: (stored) => Effect.andThen(files.release([stored.storage_path]), store.insert(stored))
  })),
  "starts a live build whose bytes were garbage-collected": around((store, files) => ({
    goLive: (stored, manifest) => Effect.andThen(files.release([stored.storage_path]), store.goLive(stored, manifest))
  })),
  "releases the reservation of a rejected build": around((store, files) => ({
    insert: (stored) => Effect.tapError(store.insert(stored), () => files.release([stored.storage_path]))
  })),
  "does not reserve the artifacts of a removed project": Layer.effect(
    ProjectStore,
    Effect.gen(function* () {
      const store = yield* ProjectStore
      const files = yield* FileStore
      return ProjectStore.of({
        ...store,
        remove: (env, id, time) => Effect.andThen(store.remove(env, id, time), files.release([artifactKey(build(1))]))
      })
    })
  ).pipe(Layer.provideMerge(all)),
  "takes reservations too late": faulty(FileStore, (store) => ({
    claimExpired: (now, retryAt, limit) => (now <= at(0) ? Effect.succeed([]) : store.claimExpired(now, retryAt, limit))
  }))
})
