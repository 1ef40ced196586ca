/** Contract of `PreviewStore` together with the tenants, projects and runs of the same database. Adapters run this suite. */
import { assert } from "@effect/vitest"
import {
  EventStore,
  FileStore,
  JournalStore,
  monthOf,
  type Preview,
  type PreviewLimits,
  PreviewStore,
  ProjectStore,
  TenantStore,
  UsageStore
} from "@weft/core/adapter"
import { Effect, type Layer } from "effect"
import { type Check, check, suite } from "./Check.ts"
import type { JournalStores } from "./Claims.ts"
import { file, upload } from "./FileStoreSamples.ts"
import {
  at,
  buildId,
  claimedOnInsert,
  ended,
  env,
  envId,
  everything,
  nodeId,
  org,
  orgId,
  project,
  projectId,
  run,
  runId,
  settled
} from "./Samples.ts"

type Stores = PreviewStore | TenantStore | ProjectStore | FileStore | UsageStore | JournalStores

export const previewStoreContract = <E>(adapter: string, layer: Layer.Layer<Stores, E>): void =>
  suite(`PreviewStore contract: ${adapter}`, previewStoreChecks, layer)

/** Preview `n` of project 1 of environment 1. It is environment `10 + n`, with project `10 + n`. */
const preview = (n: number, fields: Partial<Preview> = {}): Preview => ({
  env_id: envId(10 + n),
  parent_env_id: envId(1),
  project_id: projectId(1),
  copy_project_id: projectId(10 + n),
  name: `pr-${n}`,
  build_id: buildId(1),
  schedules: false,
  copy_events: false,
  secrets: "project",
  created_at: at(n),
  updated_at: at(n),
  expires_at: at(1000 * n),
  ...fields
})

const toParts = (of: Preview) => {
  const { env_id, name, parent_env_id, project_id: parent_project_id, copy_project_id: project_id, secrets } = of
  const marks = { name, parent_env_id, parent_project_id, project_id, secrets }
  return {
    preview: of,
    env: env(0, { env_id, name: `env-1~${name}`, preview: marks }),
    project: project(1, { project_id, env_id })
  }
}

const unlimited: PreviewLimits = { ofEnv: -1, ofProject: -1 }

const store = <A, E, R>(use: (store: PreviewStore["Service"]) => Effect.Effect<A, E, R>) => PreviewStore.use(use)
const insert = (of: Preview, limits = unlimited) => store((previews) => previews.insert(toParts(of), limits))
const get = (name: string, parent = 1) => store((previews) => previews.get(envId(parent), name))
const remove = (of: Preview, millis: number) => store((previews) => previews.remove(of, at(millis), at(millis + 100)))
const due = (which: "expired" | "removed", millis: number) => store((previews) => previews.due(which, at(millis), 10))
const listNames = (n: number) =>
  Effect.map(
    store((previews) => previews.list(envId(1), projectId(n), everything)),
    ({ items }) => items.map(({ name }) => name)
  )
const purge = (of: Preview) => store((previews) => previews.purge(of.env_id, at(9000), 100))

/** Organizations 1 and 2 with the environments 1 and 2, and project 1. */
const setUp = Effect.gen(function* () {
  const tenants = yield* TenantStore
  for (const n of [1, 2]) {
    yield* tenants.insertOrg(org(n))
    yield* tenants.insertEnv(env(n, { org_id: orgId(n) }))
  }
  yield* ProjectStore.use((projects) => projects.insert(project(1)))
})

/** Lets the removal of the project of a preview be complete. */
const sweep = ({ env_id, copy_project_id }: Preview) =>
  ProjectStore.use((projects) =>
    Effect.andThen(projects.remove(env_id, copy_project_id, at(500)), projects.markSwept(copy_project_id))
  )

export const previewStoreChecks: ReadonlyArray<Check<Stores>> = [
  check("stores a preview with its environment and project", function* () {
    yield* setUp
    const parts = toParts(preview(1))
    assert.strictEqual(yield* insert(preview(1)), "Stored")
    assert.deepStrictEqual(yield* get("pr-1"), preview(1))
    const tenants = yield* TenantStore
    assert.deepStrictEqual(yield* tenants.getEnv(envId(11)), parts.env)
    assert.deepStrictEqual(yield* tenants.findEnv("org-1", "env-1~pr-1"), parts.env)
    assert.deepStrictEqual(yield* ProjectStore.use((projects) => projects.get(envId(11), "project 1")), parts.project)
  }),

  check("finds previews only in the environment of their project", function* () {
    yield* setUp
    yield* insert(preview(1))
    assert.strictEqual((yield* Effect.flip(get("pr-1", 2)))._tag, "NotFound")
    assert.strictEqual((yield* Effect.flip(get("pr-2")))._tag, "NotFound")
    const other = { ...preview(1), parent_env_id: envId(2) }
    assert.strictEqual((yield* Effect.flip(remove(other, 5)))._tag, "NotFound")
    assert.strictEqual((yield* Effect.flip(store((previews) => previews.update(other))))._tag, "NotFound")
    assert.deepStrictEqual(yield* get("pr-1"), preview(1))
  }),

  check("lists environments with and without previews", function* () {
    yield* setUp
    yield* insert(preview(1))
    const tenants = yield* TenantStore
    const idsOf = (which: "standing" | "all") =>
      Effect.map(tenants.listEnvs(orgId(1), everything, which), ({ items, total }) => [
        ...items.map(({ env_id }) => env_id),
        total
      ])
    assert.deepStrictEqual(yield* idsOf("all"), [envId(11), envId(1), 2])
    assert.deepStrictEqual(yield* idsOf("standing"), [envId(1), 1])
  }),

  check("lists the previews of a project in pages, newest first", function* () {
    yield* setUp
    for (const n of [2, 1, 3]) yield* insert(preview(n))
    yield* insert(preview(4, { project_id: projectId(2) }))
    assert.deepStrictEqual(yield* listNames(1), ["pr-3", "pr-2", "pr-1"])
    assert.deepStrictEqual(yield* listNames(2), ["pr-4"])
    const page = yield* store((previews) => previews.list(envId(1), projectId(1), { limit: 1, offset: 1 }))
    assert.deepStrictEqual(page, { items: [preview(2)], total: 3 })
  }),

  check("refuses a name in use, and previews beyond the limits", function* () {
    yield* setUp
    yield* insert(preview(1))
    yield* insert(preview(2, { project_id: projectId(2) }))
    assert.strictEqual(yield* insert(preview(3, { name: "pr-1" })), "NameTaken")
    assert.strictEqual(yield* insert(preview(3), { ofEnv: 2, ofProject: 9 }), "OverEnvLimit")
    assert.strictEqual(yield* insert(preview(3), { ofEnv: 9, ofProject: 1 }), "OverProjectLimit")
    assert.strictEqual((yield* Effect.flip(TenantStore.use((tenants) => tenants.getEnv(envId(13)))))._tag, "NotFound")
    assert.strictEqual(yield* insert(preview(3), { ofEnv: 3, ofProject: 2 }), "Stored")
  }),

  check("changes the settings of a preview, and when it is due", function* () {
    yield* setUp
    yield* insert(preview(1))
    const changed = preview(1, {
      ...{ build_id: buildId(2), schedules: true, copy_events: true, secrets: "own" },
      ...{ updated_at: at(7), expires_at: at(5000) }
    })
    yield* store((previews) => previews.update({ ...changed, name: "other" }))
    assert.deepStrictEqual(yield* get("pr-1"), changed)
    const { preview: marks } = yield* TenantStore.use((tenants) => tenants.getEnv(envId(11)))
    assert.strictEqual(marks?.secrets, "own")
    assert.deepStrictEqual(yield* due("expired", 4999), [])
    assert.deepStrictEqual(yield* due("expired", 5000), [changed])
  }),

  check("lists the previews that get copies of events until they are removed", function* () {
    yield* setUp
    yield* insert(preview(1))
    yield* insert(preview(2, { copy_events: true }))
    const receivers = TenantStore.use((tenants) => tenants.copiesTo(envId(1)))
    assert.deepStrictEqual(yield* receivers, [envId(12)])
    assert.deepStrictEqual(yield* TenantStore.use((tenants) => tenants.copiesTo(envId(2))), [])
    yield* remove(preview(2), 50)
    assert.deepStrictEqual(yield* receivers, [])
  }),

  check("frees the name of a removed preview, whose environment is inactive", function* () {
    yield* setUp
    yield* insert(preview(1))
    yield* remove(preview(1), 50)
    assert.strictEqual((yield* Effect.flip(get("pr-1")))._tag, "NotFound")
    assert.strictEqual((yield* Effect.flip(remove(preview(1), 60)))._tag, "NotFound")
    assert.strictEqual((yield* Effect.flip(store((previews) => previews.update(preview(1)))))._tag, "NotFound")
    assert.deepStrictEqual(yield* listNames(1), [])
    const tenants = yield* TenantStore
    assert.isFalse((yield* tenants.getEnv(envId(11))).active)
    assert.strictEqual((yield* Effect.flip(tenants.findEnv("org-1", "env-1~pr-1")))._tag, "NotFound")
    assert.strictEqual(yield* insert(preview(2, { name: "pr-1" }), { ofEnv: 1, ofProject: 1 }), "Stored")
    assert.strictEqual((yield* tenants.findEnv("org-1", "env-1~pr-1")).env_id, envId(12))
  }),

  check("lists due previews, the longest due first", function* () {
    yield* setUp
    for (const n of [2, 1, 3]) yield* insert(preview(n))
    yield* remove(preview(3), 200)
    assert.deepStrictEqual(yield* due("removed", 299), [])
    assert.deepStrictEqual(yield* due("removed", 300), [preview(3)])
    assert.deepStrictEqual(yield* due("expired", 999), [])
    assert.deepStrictEqual(yield* due("expired", 2000), [preview(1), preview(2)])
    assert.deepStrictEqual(yield* store((previews) => previews.due("expired", at(2000), 1)), [preview(1)])
    yield* store((previews) => previews.postpone(envId(13), at(9000)))
    yield* store((previews) => previews.postpone(envId(11), at(9000)))
    assert.deepStrictEqual(yield* due("removed", 8999), [])
    assert.deepStrictEqual(yield* due("expired", 1000), [preview(1)])
    const found = yield* JournalStore.use((journal) => journal.findPendingWork(nodeId(1), at(1000)))
    assert.isTrue(found.previews)
    assert.isFalse((yield* JournalStore.use((journal) => journal.findPendingWork(nodeId(1), at(999)))).previews)
  }),

  check("lets the previews of a removed project expire at once", function* () {
    yield* setUp
    yield* insert(preview(1))
    yield* insert(preview(2, { project_id: projectId(2) }))
    yield* ProjectStore.use((projects) => projects.remove(envId(1), projectId(1), at(30)))
    assert.deepStrictEqual(yield* due("expired", 30), [preview(1, { expires_at: at(30) })])
  }),

  check("deletes the rows of a removed preview, and no others", function* () {
    yield* setUp
    yield* insert(preview(1))
    const of = { env_id: envId(11) }
    const journal = yield* JournalStore
    yield* journal.commit([claimedOnInsert(1, 1, of), claimedOnInsert(2)], null)
    yield* journal.commit([settled(1, ended(run(1, of))), settled(2, ended(run(2)))], null)
    assert.strictEqual(yield* purge(preview(1)), "Waiting")
    yield* remove(preview(1), 50)
    assert.strictEqual(yield* purge(preview(1)), "Waiting")
    yield* sweep(preview(1))
    assert.strictEqual(yield* purge(preview(1)), "Waiting")
    yield* journal.purge(envId(11), runId(1000), 10)
    assert.strictEqual(yield* purge(preview(1)), "Empty")
    const eventsIn = (n: number) =>
      Effect.map(
        EventStore.use((events) => events.list(envId(n), everything)),
        ({ items, total }) => [items.length, total]
      )
    assert.deepStrictEqual(yield* eventsIn(11), [0, 0])
    assert.deepStrictEqual(yield* eventsIn(1), [1, 1])
  }),

  check("waits for files and uploads, and lets uploads expire", function* () {
    yield* setUp
    yield* insert(preview(1))
    yield* remove(preview(1), 50)
    yield* sweep(preview(1))
    const files = yield* FileStore
    const ofPreview = file(1, { env_id: envId(11) })
    const terms = { org_id: orgId(1), storage_bytes: -1, mayCreate: true, mayReplace: true, reclaimAt: at(1) }
    yield* files.reserve(ofPreview.storage_path, at(100_000))
    yield* files.store(ofPreview, terms)
    yield* files.insertUpload(upload(1, { env_id: envId(11), expires_at: at(100_000) }))
    assert.strictEqual(yield* purge(preview(1)), "Waiting")
    yield* files.remove(envId(11), ofPreview.file_id, at(1))
    assert.strictEqual(yield* purge(preview(1)), "Waiting")
    const [expired] = yield* files.expiredUploads(at(9000), 10, null)
    assert.strictEqual(expired?.env_id, envId(11))
    yield* files.removeUpload(envId(11), upload(1).upload_id)
    assert.strictEqual(yield* purge(preview(1)), "Empty")
  }),

  check("forgets a removed preview, whose runs of the month still count", function* () {
    yield* setUp
    yield* insert(preview(1))
    const journal = yield* JournalStore
    yield* journal.commit([claimedOnInsert(1, 1, { env_id: envId(11) })], null)
    yield* journal.commit([settled(1, ended(run(1, { env_id: envId(11) })))], null)
    yield* store((previews) => previews.forget(preview(1)))
    assert.deepStrictEqual(yield* get("pr-1"), preview(1))
    yield* remove(preview(1), 50)
    yield* sweep(preview(1))
    yield* journal.purge(envId(11), runId(1000), 10)
    yield* purge(preview(1))
    yield* store((previews) => previews.forget(preview(1)))
    assert.strictEqual((yield* Effect.flip(TenantStore.use((tenants) => tenants.getEnv(envId(11)))))._tag, "NotFound")
    assert.deepStrictEqual(yield* due("removed", 99_999), [])
    const usage = yield* UsageStore.use((usages) => usages.runs(orgId(1), monthOf(at(0))))
    assert.deepStrictEqual(usage, { runs_this_period: 1, call_count: 0, call_storage_bytes: 0 })
  })
]
