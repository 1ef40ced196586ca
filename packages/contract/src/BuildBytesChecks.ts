/** Contract of `BuildStore` and `ProjectStore` for the bytes of builds: a build uses them, or they are reserved. */
import { assert } from "@effect/vitest"
import { artifactKey, BuildStore, FileStore, ProjectStore } from "@weft/core/adapter"
import { Effect } from "effect"
import { type Check, check } from "./Check.ts"
import { at, build, emptyManifest, envId, project, projectId } from "./Samples.ts"

const setUp = Effect.gen(function* () {
  const projects = yield* ProjectStore
  yield* projects.insert(project(1))
  yield* projects.insert(project(2))
  return { projects, builds: yield* BuildStore, files: yield* FileStore }
})

/** Takes all keys whose reservation has expired. */
const takeAll = (files: FileStore["Service"]) => files.claimExpired(at(1_000_000), at(2_000_000), 100)

const first = build(1, { storage_path: "builds/first.zip" })
const other = build(2, { storage_path: "builds/other.zip", project_id: projectId(2), project_name: "project 2" })

export const buildBytesChecks: ReadonlyArray<Check<BuildStore | ProjectStore | FileStore>> = [
  check("releases the reservation of a stored build's bytes, and no other", function* () {
    const { builds, files } = yield* setUp
    for (const key of [first.storage_path, other.storage_path, "builds/third.zip"]) yield* files.reserve(key, at(10))
    yield* builds.insert(first)
    yield* builds.goLive(other, emptyManifest)
    assert.deepStrictEqual(yield* takeAll(files), ["builds/third.zip"])
  }),

  check("rejects a build whose bytes were garbage-collected", function* () {
    const { builds, files } = yield* setUp
    for (const { storage_path } of [first, other]) yield* files.reserve(storage_path, at(10))
    assert.strictEqual((yield* takeAll(files)).length, 2)
    assert.strictEqual((yield* Effect.flip(builds.insert(first)))._tag, "StoreUnavailable")
    assert.strictEqual((yield* Effect.flip(builds.goLive(other, emptyManifest)))._tag, "StoreUnavailable")
    for (const { build_id } of [first, other]) {
      assert.strictEqual((yield* Effect.flip(builds.get(envId(1), build_id)))._tag, "NotFound")
    }
    assert.sameMembers(
      [...(yield* files.claimExpired(at(3_000_000), at(4_000_000), 100))],
      [first.storage_path, other.storage_path]
    )
  }),

  check("keeps the reservation of a rejected build", function* () {
    const { builds, files } = yield* setUp
    yield* builds.insert(first)
    const again = build(1, { storage_path: "builds/again.zip" })
    yield* files.reserve(again.storage_path, at(10))
    assert.strictEqual((yield* Effect.flip(builds.insert(again)))._tag, "Taken")
    assert.deepStrictEqual(yield* takeAll(files), [again.storage_path])
  }),

  check("reserves the bytes of a removed project's builds for garbage collection, and no others", function* () {
    const { builds, files, projects } = yield* setUp
    yield* builds.insert(first)
    yield* builds.insert(other)
    yield* projects.remove(envId(1), projectId(1), at(1000))
    assert.sameMembers([...(yield* files.claimExpired(at(0), at(1000), 100))], [first.storage_path, artifactKey(first)])
    assert.strictEqual((yield* takeAll(files)).length, 2)
  })
]
