/**
 * Contract of concurrent transactions that read, decide and write: several nodes may try, and only one may succeed.
 *
 * A store with serial transactions always passes. One with parallel transactions may pass by luck, so each check runs
 * many at once.
 */
import { assert } from "@effect/vitest"
import {
  BuildStore,
  JournalStore,
  ProjectStore,
  RunControlStore,
  RunStore,
  type Stores,
  TenantStore
} from "@weft/core/adapter"
import { Effect, Exit, type Layer } from "effect"
import { type Check, check, suite } from "./Check.ts"
import { claimAll, claimRequest } from "./Claims.ts"
import { blobKey, file, fileId, terms, setUp as withFiles } from "./FileStoreSamples.ts"
import {
  at,
  build,
  buildId,
  claimedOnInsert,
  delivery,
  deliveryId,
  ended,
  env,
  envId,
  manifestServing,
  nodeId,
  org,
  project,
  projectId,
  run,
  runHolding,
  runId,
  runIds,
  settled,
  waiting
} from "./Samples.ts"

export const concurrencyContract = <E>(adapter: string, layer: Layer.Layer<Stores, E>): void =>
  suite(`Concurrency contract: ${adapter}`, concurrencyChecks, layer)

const unbounded = { concurrency: "unbounded" } as const
const many = Array.from({ length: 40 }, (_, n) => n + 1)

/** Node 2 holds deliveries 1 to 40 with runs of the same numbers, and is dead at 1000. */
const held = Effect.gen(function* () {
  const journal = yield* JournalStore
  yield* journal.commit(
    many.map((n) => claimedOnInsert(n, 2)),
    { node_id: nodeId(2), until: at(500) }
  )
  return journal
})

const heldRun = (n: number) => runHolding(n, delivery(n), { node_id: nodeId(2) })
const next = (n: number) => ({ attempt: 2, due_at: at(600), first_run_id: runId(n) })

/** Claims the pending deliveries, and returns their ids in ascending order. */
const claimPending = Effect.map(claimAll(at(5000)), ({ claims }) =>
  claims.map((claim) => claim.delivery.delivery_id).sort()
)

const ids = (numbers: ReadonlyArray<number>) => numbers.map(deliveryId)

const concurrencyChecks: ReadonlyArray<Check<Stores>> = [
  check("requeues the deliveries of a dead node once when many nodes reap it", function* () {
    const journal = yield* held
    const reaped = yield* Effect.all(
      [1, 3, 4, 5, 6, 7].map((node) => journal.reap(nodeId(node), at(1000 + node), 100)),
      unbounded
    )
    assert.deepStrictEqual(
      reaped
        .flat()
        .map((lost) => lost.run_id)
        .sort(),
      many.map(runId)
    )
    assert.strictEqual((yield* (yield* RunStore).stats(envId(1))).failed, 40)
    assert.deepStrictEqual(yield* claimPending, ids(many))
  }),

  check("ends a run once when its node ends it while another reaps it", function* () {
    const journal = yield* held
    const over = many.map((n) => journal.commit([settled(n, ended(heldRun(n), { status: "failed" }), next(n))], null))
    const [counted, lost] = yield* Effect.all(
      [
        Effect.all(over, unbounded),
        Effect.all(
          [1, 3, 4].map((node) => journal.reap(nodeId(node), at(1000), 100)),
          unbounded
        )
      ],
      unbounded
    )
    assert.strictEqual(counted.flat().filter((each) => each).length + lost.flat().length, 40)
    assert.strictEqual((yield* (yield* RunStore).stats(envId(1))).failed, 40)
    assert.deepStrictEqual(yield* claimPending, ids(many))
  }),

  check("ends a run once when it is cancelled while its node ends it", function* () {
    const journal = yield* held
    const control = yield* RunControlStore
    const over = many.map((n) => journal.commit([settled(n, ended(heldRun(n), { status: "failed" }), next(n))], null))
    const [counted, cancelled] = yield* Effect.all(
      [Effect.all(over, unbounded), Effect.replicateEffect(control.cancel(envId(1), {}, at(700), 100), 4, unbounded)],
      unbounded
    )
    const settledOnes = many.filter((_, index) => counted[index]?.[0] === true)
    assert.strictEqual(settledOnes.length + cancelled.flat().length, 40)
    const { failed, cancelled: stored, running } = yield* (yield* RunStore).stats(envId(1))
    assert.deepStrictEqual([failed, stored, running], [settledOnes.length, cancelled.flat().length, 0])
    assert.deepStrictEqual(yield* claimPending, ids(settledOnes))
  }),

  check("ends a run once when its node ends it twice", function* () {
    const journal = yield* held
    const over = many.flatMap((n) => {
      const entry = settled(n, ended(heldRun(n), { status: "failed" }), next(n))
      return [journal.commit([entry], null), journal.commit([entry], null), journal.commit([entry, entry], null)]
    })
    const counted = yield* Effect.all(over, unbounded)
    assert.strictEqual(counted.flat().filter((each) => each).length, 40)
    assert.deepStrictEqual(yield* claimPending, ids(many))
  }),

  check("subtracts removed runs from the counts once when many nodes purge them", function* () {
    const journal = yield* JournalStore
    yield* journal.commit(
      many.map((n) => ({ _tag: "Ended", run: ended(run(n)), logs: [] })),
      null
    )
    const removed = yield* Effect.replicateEffect(journal.purge(envId(1), runId(1000), 15), 8, unbounded)
    const rest = yield* journal.purge(envId(1), runId(1000), 100)
    assert.strictEqual(
      removed.reduce((sum, count) => sum + count, rest),
      40
    )
    assert.strictEqual((yield* (yield* RunStore).stats(envId(1))).total_runs, 0)
  }),

  check("concurrent claims take each delivery once, and no more of a group than its limit", function* () {
    const journal = yield* JournalStore
    yield* journal.commit(
      many.map((n) => {
        const group = n % 4 === 0 ? null : { key: `group ${n % 4}`, limit: 2 }
        return waiting(n, { created_at: at(0) }, { group })
      }),
      null
    )
    const claim = (node: number) =>
      journal.claim(
        claimRequest(at(100), {
          lease: { node_id: nodeId(node), until: at(5000) },
          runIds: runIds(10_000 + node * 100, 12)
        })
      )
    const claimed = yield* Effect.all([1, 2, 3, 4, 5, 6].map(claim), unbounded)
    const claims = claimed.flatMap((result) => result.claims)
    assert.strictEqual(new Set(claims.map(({ delivery }) => delivery.delivery_id)).size, claims.length)
    for (const key of ["group 1", "group 2", "group 3"]) {
      assert.isAtMost(claims.filter(({ delivery }) => delivery.group?.key === key).length, 2)
    }
  }),

  check("deploys one of several projects that claim the same endpoint", function* () {
    const builds = yield* BuildStore
    yield* serving
    const deploy = (n: number) =>
      builds.deploy(build(n, { project_id: projectId(n) }), manifestServing("shop", `/only-${n}`, "/a"), at(n))
    const exits = yield* Effect.all(
      [1, 2, 3, 4, 5, 6].map((n) => Effect.exit(deploy(n))),
      unbounded
    )
    assert.strictEqual(exits.filter(Exit.isSuccess).length, 1)
    const served = (yield* builds.deployments(envId(1))).flatMap(({ manifest }) => manifest.endpoints)
    assert.strictEqual(served.filter(({ path }) => path === "/a").length, 1)
  }),

  check("leaves no endpoint of a project that is removed during a deployment", function* () {
    const builds = yield* BuildStore
    const projects = yield* ProjectStore
    yield* serving
    const numbers = [1, 2, 3, 4, 5, 6]
    yield* Effect.all(
      numbers.flatMap((n) => [
        Effect.exit(builds.deploy(build(n, { project_id: projectId(n) }), manifestServing("shop", `/${n}`), at(n))),
        projects.remove(envId(1), projectId(n), at(1000))
      ]),
      unbounded
    )
    assert.deepStrictEqual(yield* builds.deployments(envId(1)), [])
    // Other projects can use their endpoints.
    yield* projects.insert(project(9))
    yield* builds.insert(build(9, { project_id: projectId(9) }))
    const all = manifestServing("shop", ...numbers.map((n) => `/${n}`))
    yield* builds.deploy(build(9, { build_id: buildId(9), project_id: projectId(9) }), all, at(9))
  }),

  check("gives bytes to a file or to garbage collection, never to both", function* () {
    const store = yield* withFiles
    for (const n of many) yield* store.reserve(blobKey(n), at(10))
    const [stored, taken] = yield* Effect.all(
      [
        Effect.all(
          many.map((n) => store.store(file(n, { file_id: fileId(n) }), terms())),
          unbounded
        ),
        Effect.replicateEffect(store.claimExpired(at(10), at(1000), 7), 6, unbounded)
      ],
      unbounded
    )
    const keys = stored.flatMap((each) => (each._tag === "Stored" ? [each.file.storage_path] : []))
    const both = keys.filter((key) => taken.flat().includes(key))
    assert.deepStrictEqual(both, [])
    assert.strictEqual(
      new Set([...keys, ...taken.flat(), ...(yield* store.claimExpired(at(10), at(1000), 100))]).size,
      40
    )
  })
]

/** Six projects with a build each. */
const serving = Effect.gen(function* () {
  const tenants = yield* TenantStore
  const projects = yield* ProjectStore
  const builds = yield* BuildStore
  yield* tenants.insertOrg(org(1))
  yield* tenants.insertEnv(env(1))
  for (const n of [1, 2, 3, 4, 5, 6]) {
    yield* projects.insert(project(n))
    yield* builds.insert(build(n, { project_id: projectId(n) }))
  }
})
