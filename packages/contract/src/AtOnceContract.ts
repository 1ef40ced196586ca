/**
 * What several nodes may do at once and only one may have done: read to decide, then write.
 *
 * A store whose transactions come one after the other cannot but pass. One that runs them side by side passes by luck
 * now and then, so each of these is tried with many at once.
 */
import { assert } from "@effect/vitest"
import { BuildStore, JournalStore, ProjectStore, RunControlStore, RunStore, type Stores, TenantStore } from "@weft/core"
import { Effect, Exit, type Layer } from "effect"
import { type Check, check, suite } from "./Check.ts"
import { file, fileId, keyOf, terms, setUp as withFiles } from "./FileStoreSamples.ts"
import {
  at,
  bornRun,
  build,
  buildId,
  claimedAtBirth,
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
  runId,
  runIds,
  settled,
  waiting
} from "./Samples.ts"
import { claimAll, claimRequest } from "./Waiting.ts"

export const atOnceContract = <E>(adapter: string, layer: Layer.Layer<Stores, E>): void =>
  suite(`At once: ${adapter}`, atOnceChecks, layer)

const together = { concurrency: "unbounded" } as const
const many = Array.from({ length: 40 }, (_, n) => n + 1)

/** Node 2 holds deliveries 1 to 40 by runs of the same numbers, and is dead at 1000. */
const held = Effect.gen(function* () {
  const journal = yield* JournalStore
  yield* journal.commit(
    many.map((n) => claimedAtBirth(n, 2)),
    { node_id: nodeId(2), until: at(500) }
  )
  return journal
})

const heldRun = (n: number) => bornRun(n, delivery(n), { node_id: nodeId(2) })
const next = (n: number) => ({ attempt: 2, due_at: at(600), first_run_id: runId(n) })

/** The numbers of the deliveries that wait, ascending. */
const waitingNow = Effect.map(claimAll(at(5000)), ({ claims }) =>
  claims.map((claim) => claim.delivery.delivery_id).sort()
)

const ids = (numbers: ReadonlyArray<number>) => numbers.map(deliveryId)

export const atOnceChecks: ReadonlyArray<Check<Stores>> = [
  check("what a dead node held is given back once, however many nodes find it dead", function* () {
    const journal = yield* held
    const reaped = yield* Effect.all(
      [1, 3, 4, 5, 6, 7].map((node) => journal.reap(nodeId(node), at(1000 + node), 100)),
      together
    )
    assert.deepStrictEqual(
      reaped
        .flat()
        .map((lost) => lost.run_id)
        .sort(),
      many.map(runId)
    )
    assert.strictEqual((yield* (yield* RunStore).stats(envId(1))).failed, 40)
    assert.deepStrictEqual(yield* waitingNow, ids(many))
  }),

  check("a run that its node ends while another takes it for lost is over once", function* () {
    const journal = yield* held
    const over = many.map((n) => journal.commit([settled(n, ended(heldRun(n), { status: "failed" }), next(n))], null))
    const [counted, lost] = yield* Effect.all(
      [
        Effect.all(over, together),
        Effect.all(
          [1, 3, 4].map((node) => journal.reap(nodeId(node), at(1000), 100)),
          together
        )
      ],
      together
    )
    assert.strictEqual(counted.flat().filter((each) => each).length + lost.flat().length, 40)
    assert.strictEqual((yield* (yield* RunStore).stats(envId(1))).failed, 40)
    assert.deepStrictEqual(yield* waitingNow, ids(many))
  }),

  check("a run that is cancelled while its node ends it is over once", function* () {
    const journal = yield* held
    const control = yield* RunControlStore
    const over = many.map((n) => journal.commit([settled(n, ended(heldRun(n), { status: "failed" }), next(n))], null))
    const [counted, cancelled] = yield* Effect.all(
      [Effect.all(over, together), Effect.replicateEffect(control.cancel(envId(1), {}, at(700), 100), 4, together)],
      together
    )
    const settledOnes = many.filter((_, index) => counted[index]?.[0] === true)
    assert.strictEqual(settledOnes.length + cancelled.flat().length, 40)
    const { failed, cancelled: stored, running } = yield* (yield* RunStore).stats(envId(1))
    assert.deepStrictEqual([failed, stored, running], [settledOnes.length, cancelled.flat().length, 0])
    assert.deepStrictEqual(yield* waitingNow, ids(settledOnes))
  }),

  check("a run that its node ends twice is over once", function* () {
    const journal = yield* held
    const over = many.flatMap((n) => {
      const entry = settled(n, ended(heldRun(n), { status: "failed" }), next(n))
      return [journal.commit([entry], null), journal.commit([entry], null), journal.commit([entry, entry], null)]
    })
    const counted = yield* Effect.all(over, together)
    assert.strictEqual(counted.flat().filter((each) => each).length, 40)
    assert.deepStrictEqual(yield* waitingNow, ids(many))
  }),

  check("runs that several nodes remove are counted off once", function* () {
    const journal = yield* JournalStore
    yield* journal.commit(
      many.map((n) => ({ _tag: "Ended", run: ended(run(n)), logs: [] })),
      null
    )
    const removed = yield* Effect.replicateEffect(journal.purge(envId(1), runId(1000), 15), 8, together)
    const rest = yield* journal.purge(envId(1), runId(1000), 100)
    assert.strictEqual(
      removed.reduce((sum, count) => sum + count, rest),
      40
    )
    assert.strictEqual((yield* (yield* RunStore).stats(envId(1))).total_runs, 0)
  }),

  check("claims at once take each delivery once and no more of a group than its limit", function* () {
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
    const claimed = yield* Effect.all([1, 2, 3, 4, 5, 6].map(claim), together)
    const claims = claimed.flatMap((result) => result.claims)
    assert.strictEqual(new Set(claims.map(({ delivery }) => delivery.delivery_id)).size, claims.length)
    for (const key of ["group 1", "group 2", "group 3"]) {
      assert.isAtMost(claims.filter(({ delivery }) => delivery.group?.key === key).length, 2)
    }
  }),

  check("of projects that come to serve the same endpoint at once one does", function* () {
    const builds = yield* BuildStore
    yield* serving
    const deploy = (n: number) =>
      builds.deploy(build(n, { project_id: projectId(n) }), manifestServing("shop", `/only-${n}`, "/a"), at(n))
    const exits = yield* Effect.all(
      [1, 2, 3, 4, 5, 6].map((n) => Effect.exit(deploy(n))),
      together
    )
    assert.strictEqual(exits.filter(Exit.isSuccess).length, 1)
    const served = (yield* builds.deployments(envId(1))).flatMap(({ manifest }) => manifest.endpoints)
    assert.strictEqual(served.filter(({ path }) => path === "/a").length, 1)
  }),

  check("a project that is removed while it is deployed leaves nothing that serves", function* () {
    const builds = yield* BuildStore
    const projects = yield* ProjectStore
    yield* serving
    const numbers = [1, 2, 3, 4, 5, 6]
    yield* Effect.all(
      numbers.flatMap((n) => [
        Effect.exit(builds.deploy(build(n, { project_id: projectId(n) }), manifestServing("shop", `/${n}`), at(n))),
        projects.remove(envId(1), projectId(n))
      ]),
      together
    )
    assert.deepStrictEqual(yield* builds.deployments(envId(1)), [])
    // Their endpoints are free for others.
    yield* projects.insert(project(9))
    yield* builds.insert(build(9, { project_id: projectId(9) }))
    const all = manifestServing("shop", ...numbers.map((n) => `/${n}`))
    yield* builds.deploy(build(9, { build_id: buildId(9), project_id: projectId(9) }), all, at(9))
  }),

  check("bytes are a file's or the janitor's, never both", function* () {
    const store = yield* withFiles
    for (const n of many) yield* store.announce(keyOf(n), at(10))
    const [stored, taken] = yield* Effect.all(
      [
        Effect.all(
          many.map((n) => store.store(file(n, { file_id: fileId(n) }), terms())),
          together
        ),
        Effect.replicateEffect(store.takeLoose(at(10), at(1000), 7), 6, together)
      ],
      together
    )
    const keys = stored.flatMap((each) => (each._tag === "Stored" ? [each.file.storage_path] : []))
    const both = keys.filter((key) => taken.flat().includes(key))
    assert.deepStrictEqual(both, [])
    assert.strictEqual(new Set([...keys, ...taken.flat(), ...(yield* store.takeLoose(at(10), at(1000), 100))]).size, 40)
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
