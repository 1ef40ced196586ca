/** Contract of `ScrubStore` together with the stores of its targets. Adapters run this suite. */
import { assert } from "@effect/vitest"
import { BuildStore, FileStore, ProjectStore, ScrubStore, TenantStore } from "@weft/core/adapter"
import { Effect, type Layer } from "effect"
import { type Check, check, suite } from "./Check.ts"
import { blobKey, file, fileId } from "./FileStoreSamples.ts"
import { at, build, buildId, env, envId, nodeId, org, orgId, project, projectId } from "./Samples.ts"

type Stores = ScrubStore | BuildStore | FileStore | ProjectStore | TenantStore

export const scrubStoreContract = <E>(adapter: string, layer: Layer.Layer<Stores, E>) =>
  suite(`ScrubStore contract: ${adapter}`, scrubStoreChecks, layer)

const claim = (node: number, now: number, until: number) =>
  ScrubStore.use((store) => store.claim(nodeId(node), at(now), at(until)))

const advance = (node: number, position: string, until: number) =>
  ScrubStore.use((store) => store.advance(nodeId(node), position, at(until)))

/** Stores file `n`, whose bytes are reserved before. */
const storeFile = (n: number, checksum: string | null) =>
  FileStore.use((store) =>
    Effect.andThen(
      store.reserve(blobKey(n), at(1000)),
      store.store(file(n, { checksum }), {
        ...{ org_id: orgId(1), storage_bytes: -1, mayCreate: true, mayReplace: true, reclaimAt: at(1000) }
      })
    )
  )

export const scrubStoreChecks: ReadonlyArray<Check<Stores>> = [
  check("lets one node at a time verify, from the stored position", function* () {
    assert.strictEqual(yield* claim(1, 0, 100), "")
    assert.isNull(yield* claim(2, 99, 200))
    assert.isTrue(yield* advance(1, "file a", 150))
    assert.isNull(yield* claim(2, 149, 200))
    assert.strictEqual(yield* claim(1, 149, 300), "file a")
    assert.strictEqual(yield* claim(2, 300, 400), "file a")
    assert.isFalse(yield* advance(1, "file b", 500))
    assert.isTrue(yield* advance(2, "", 450))
    assert.strictEqual(yield* claim(2, 460, 500), "")
  }),

  check("does not advance without a claim", function* () {
    assert.isFalse(yield* advance(1, "file a", 100))
    assert.strictEqual(yield* claim(1, 0, 100), "")
  }),

  check("returns builds, then files, of all environments by id, with what verifies them", function* () {
    const store = yield* ScrubStore
    const tenants = yield* TenantStore
    yield* tenants.insertOrg(org(1))
    yield* tenants.insertEnv(env(1))
    const projects = yield* ProjectStore
    const builds = yield* BuildStore
    yield* projects.insert(project(1))
    yield* projects.insert(project(2, { env_id: envId(2) }))
    const hash = "ab".repeat(32)
    yield* builds.insert(build(2))
    yield* builds.insert(
      build(1, { env_id: envId(2), project_id: projectId(2), project_name: "project 2", storage_path: "builds/one" })
    )
    yield* storeFile(2, null)
    yield* storeFile(1, "checksum of 1")
    const all = yield* store.targets("", 10)
    assert.deepStrictEqual(all, [
      {
        ...{ kind: "build", id: buildId(1), env_id: envId(2), name: "project 2", storage_path: "builds/one" },
        ...{ etag: `"${hash}"`, checksum: `builds/one sha256:${hash}` }
      },
      {
        ...{ kind: "build", id: buildId(2), env_id: envId(1), name: "project 1", storage_path: build(2).storage_path },
        ...{ etag: `"${hash}"`, checksum: `${build(2).storage_path} sha256:${hash}` }
      },
      {
        ...{ kind: "file", id: fileId(1), env_id: envId(1), name: file(1).path, storage_path: blobKey(1) },
        ...{ etag: file(1).etag, checksum: "checksum of 1" }
      },
      {
        ...{ kind: "file", id: fileId(2), env_id: envId(1), name: file(2).path, storage_path: blobKey(2) },
        ...{ etag: file(2).etag, checksum: null }
      }
    ])
    assert.deepStrictEqual(yield* store.targets("", 3), all.slice(0, 3))
    assert.deepStrictEqual(yield* store.targets(`build ${buildId(1)}`, 2), all.slice(1, 3))
    assert.deepStrictEqual(yield* store.targets(`build ${buildId(2)}`, 1), all.slice(2, 3))
    assert.deepStrictEqual(yield* store.targets(`file ${fileId(1)}`, 10), all.slice(3))
    assert.deepStrictEqual(yield* store.targets(`file ${fileId(2)}`, 10), [])
  })
]
