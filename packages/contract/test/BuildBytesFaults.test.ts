/** The contract of builds notices stores that are wrong about the bytes of builds. */
import { buildStoreChecks } from "@weft/contract"
import { artifactKey, BuildStore, FileStore, ProjectStore } from "@weft/core"
import { Effect, Layer } from "effect"
import { at, build } from "../src/Samples.ts"
import { all, faulty, notices } from "./Faults.ts"

/** One store of builds that does something with the notes before, or after, a build is stored. */
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

notices("the contract of the bytes of builds", buildStoreChecks, {
  "leaves the note of a build that is stored": around((store, files) => ({
    insert: (stored) => Effect.andThen(store.insert(stored), files.announce(stored.storage_path, at(10)))
  })),
  "leaves the note of a live build": around((store, files) => ({
    goLive: (stored, manifest) =>
      Effect.andThen(store.goLive(stored, manifest), files.announce(stored.storage_path, at(10)))
  })),
  "stores a build whose bytes were taken": around((store, files) => ({
    insert: (stored) => Effect.andThen(files.forget([stored.storage_path]), store.insert(stored))
  })),
  "goes live with bytes that were taken": around((store, files) => ({
    goLive: (stored, manifest) => Effect.andThen(files.forget([stored.storage_path]), store.goLive(stored, manifest))
  })),
  "takes the note of a build that is refused": around((store, files) => ({
    insert: (stored) => Effect.tapError(store.insert(stored), () => files.forget([stored.storage_path]))
  })),
  "forgets the artifact of a project that is removed": Layer.effect(
    ProjectStore,
    Effect.gen(function* () {
      const store = yield* ProjectStore
      const files = yield* FileStore
      return ProjectStore.of({
        ...store,
        remove: (env, id) => Effect.andThen(store.remove(env, id), files.forget([artifactKey(build(1))]))
      })
    })
  ).pipe(Layer.provideMerge(all)),
  "takes notes late": faulty(FileStore, (store) => ({
    takeLoose: (now, retryAt, limit) => (now <= at(0) ? Effect.succeed([]) : store.takeLoose(now, retryAt, limit))
  }))
})
