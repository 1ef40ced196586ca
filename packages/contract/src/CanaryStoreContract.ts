/** Contract of `CanaryStore` together with the builds, schedules and deliveries of the same database. Adapters run this suite. */
import { assert } from "@effect/vitest"
import {
  type AdmissionStore,
  BuildStore,
  type Canary,
  type CanaryCounts,
  CanaryId,
  CanaryStore,
  canariesVersion,
  JournalStore,
  type Manifest,
  ProjectStore,
  type ScheduleStore,
  sumCounts
} from "@weft/core/adapter"
import { Effect, type Layer } from "effect"
import { type Check, check, suite } from "./Check.ts"
import { claimAll, claimRequest, type JournalStores } from "./Claims.ts"
import {
  at,
  build,
  buildId,
  claimedOnInsert,
  deliveryId,
  ended,
  envId,
  manifestServing,
  nodeId,
  project,
  projectId,
  run,
  runId,
  settled,
  waiting
} from "./Samples.ts"
import { scheduling } from "./ScheduleSamples.ts"

type Stores = CanaryStore | BuildStore | ProjectStore | ScheduleStore | AdmissionStore | JournalStores

export const canaryStoreContract = <E>(adapter: string, layer: Layer.Layer<Stores, E>): void =>
  suite(`CanaryStore contract: ${adapter}`, canaryStoreChecks, layer)

/** A canary: build 2 of project 1, next to build 1. */
const canary = (n: number, fields: Partial<Canary> = {}): Canary => ({
  canary_id: CanaryId.make(`01977420-01ff-7000-8000-${n.toString(16).padStart(12, "0")}`),
  env_id: envId(1),
  project_id: projectId(1),
  build_id: buildId(2),
  base_build_id: buildId(1),
  state: "active",
  settings: {
    ...{ share: 0.1, key: "event.data.customer", window_ms: 60_000, min_runs: 10, promote: "auto" },
    ...{ max_failure_share: 0.5, max_failure_share_over_base: null, max_latency_ratio: 1.5 }
  },
  started_at: at(n),
  ended_at: null,
  reason: null,
  ...fields
})

const store = <A, E, R>(use: (store: CanaryStore["Service"]) => Effect.Effect<A, E, R>) => CanaryStore.use(use)
const begin = (one: Canary, manifest: Manifest = manifestServing("shop", "/new"), replace = false) =>
  store((canaries) => canaries.begin(one, manifest, replace))
const end = ({ env_id, canary_id }: Canary, state: "promoted" | "rolled_back" | "replaced", millis = 500) =>
  store((canaries) => canaries.end(env_id, canary_id, { state, reason: "because", at: at(millis) }))
const latest = store((canaries) => canaries.latest(envId(1), projectId(1)))
const activeIn = (n: number) =>
  Effect.map(
    store((canaries) => canaries.active(envId(n))),
    (found) => found.map((each) => each.canary.canary_id)
  )

const deploy = (n: number, manifest: Manifest, millis = 0) =>
  BuildStore.use((builds) => builds.deploy(build(n), manifest, at(millis)))

/** Project 1 with the builds 1 to 3, of which 1 is deployed. */
const setUp = Effect.gen(function* () {
  yield* ProjectStore.use((projects) => projects.insert(project(1)))
  yield* BuildStore.use((builds) => Effect.forEach([1, 2, 3], (n) => builds.insert(build(n)), { discard: true }))
  yield* deploy(1, manifestServing("shop", "/old"))
})

const side = (runs: number, failures: number) => ({ runs, failures, latencies: { "8": runs } })
const counted = (runs: number, failures: number): CanaryCounts => ({
  canary: side(runs, failures),
  base: side(runs, 0)
})

/** Claims all due deliveries, and returns their builds by delivery. */
const claimBuilds = (now: number) =>
  Effect.map(
    claimAll(at(now), { runIds: claimRequest(at(now)).runIds.slice(now - 1_000, now - 900) }),
    ({ claims }) => new Map(claims.map(({ delivery }) => [delivery.delivery_id, delivery.build_id]))
  )

const commit = (...entries: Parameters<JournalStore["Service"]["commit"]>[0]) =>
  JournalStore.use((journal) => journal.commit(entries, null))

const beginnings: ReadonlyArray<Check<Stores>> = [
  check("a canary is stored with its build, until another one of the project replaces it", function* () {
    yield* setUp
    const one = canary(1)
    assert.strictEqual((yield* Effect.flip(latest))._tag, "NotFound")
    yield* begin(one)
    assert.deepStrictEqual(yield* latest, one)
    const [found] = yield* store((canaries) => canaries.active(envId(1)))
    assert.deepStrictEqual(found?.canary, one)
    assert.deepStrictEqual(found?.build, build(2))
    assert.deepStrictEqual(found?.manifest, manifestServing("shop", "/new"))
    assert.deepStrictEqual(yield* activeIn(2), [])
    const refused = yield* Effect.flip(begin(canary(2)))
    assert.isTrue(refused._tag === "Taken" && refused.what === "canary")
    yield* store((canaries) => canaries.report(one, nodeId(1), counted(3, 1)))
    const two = canary(2, { build_id: buildId(3) })
    yield* begin(two, undefined, true)
    assert.deepStrictEqual(yield* latest, two)
    assert.deepStrictEqual(yield* store((canaries) => canaries.counts(two)), sumCounts([]))
    assert.strictEqual((yield* Effect.flip(end(one, "promoted")))._tag, "NotFound")
  }),

  check("a canary needs its base as the deployed build, and endpoints that no other project has", function* () {
    yield* setUp
    assert.strictEqual((yield* Effect.flip(begin(canary(1, { base_build_id: buildId(3) }))))._tag, "NotFound")
    assert.strictEqual((yield* Effect.flip(begin(canary(1, { env_id: envId(2) }))))._tag, "NotFound")
    const other = build(4, { project_id: projectId(2), project_name: "project 2" })
    const builds = yield* BuildStore
    yield* ProjectStore.use((projects) => projects.insert(project(2)))
    yield* builds.insert(other)
    yield* builds.deploy(other, manifestServing("shop", "/other"), at(0))
    const clash = yield* Effect.flip(begin(canary(1), manifestServing("shop", "/other")))
    assert.isTrue(clash._tag === "Taken" && clash.what === "GET /shop/other")
    yield* begin(canary(1))
    const taken = yield* Effect.flip(builds.deploy(other, manifestServing("shop", "/new"), at(1)))
    assert.strictEqual(taken._tag, "Taken")
    yield* end(canary(1), "rolled_back")
    yield* builds.deploy(other, manifestServing("shop", "/new"), at(2))
  }),

  check("another deployment, a live build and the removal of the project end the share of a canary", function* () {
    yield* setUp
    const one = canary(1)
    yield* begin(one)
    const builds = yield* BuildStore
    yield* builds.goLive(build(5), manifestServing("shop", "/live"))
    assert.deepStrictEqual(yield* activeIn(1), [])
    yield* builds.endLive(envId(1), projectId(1), at(5))
    assert.deepStrictEqual(yield* activeIn(1), [one.canary_id])
    yield* deploy(3, manifestServing("shop", "/old"))
    assert.deepStrictEqual(yield* activeIn(1), [])
    const { isCurrent } = yield* store((canaries) => canaries.report(one, nodeId(1), counted(1, 0)))
    assert.isFalse(isCurrent)
    assert.strictEqual((yield* Effect.flip(end(one, "promoted")))._tag, "NotFound")
    assert.strictEqual((yield* latest).state, "active")
    yield* begin(canary(2, { base_build_id: buildId(3) }))
    yield* ProjectStore.use((projects) => projects.remove(envId(1), projectId(1), at(9)))
    assert.strictEqual((yield* Effect.flip(latest))._tag, "NotFound")
    assert.isEmpty(yield* store((canaries) => canaries.known(at(0))))
  }),

  check("the counts of several nodes add up, and each node replaces its own", function* () {
    yield* setUp
    const one = canary(1)
    yield* begin(one)
    const report = (n: number, counts: CanaryCounts) => store((canaries) => canaries.report(one, nodeId(n), counts))
    assert.deepStrictEqual(yield* report(1, counted(3, 1)), { counts: counted(3, 1), isCurrent: true })
    yield* report(1, counted(5, 2))
    assert.deepStrictEqual((yield* report(2, counted(10, 0))).counts, sumCounts([counted(5, 2), counted(10, 0)]))
    yield* end(one, "rolled_back")
    assert.isFalse((yield* report(2, counted(11, 0))).isCurrent)
    assert.deepStrictEqual(yield* store((canaries) => canaries.counts(one)), sumCounts([counted(5, 2), counted(10, 0)]))
  })
]

const endings: ReadonlyArray<Check<Stores>> = [
  check("a promoted canary is the deployed build, with its schedules, and ends once", function* () {
    yield* setUp
    yield* begin(canary(1), scheduling(1, ["tick", "0 * * * *"]))
    const { base_build_id, ...promoted } = yield* end(canary(1), "promoted")
    assert.strictEqual(base_build_id, buildId(1))
    assert.deepInclude(promoted, { state: "promoted", reason: "because", ended_at: at(500) })
    const { build: deployed, manifest } = yield* BuildStore.use((builds) => builds.deployed(envId(1), projectId(1)))
    assert.strictEqual(deployed.build_id, buildId(2))
    assert.strictEqual(deployed.updated_at, at(500))
    assert.lengthOf(manifest.schedules, 1)
    assert.deepStrictEqual(yield* activeIn(1), [])
    assert.strictEqual((yield* Effect.flip(end(canary(1), "rolled_back")))._tag, "NotFound")
  }),

  check(
    "the pending deliveries of a rolled back canary go to the deployed build, if it has the function",
    function* () {
      yield* setUp
      yield* begin(canary(1))
      const ofCanary = { build_id: buildId(2), ns: "main", var: "hello" }
      yield* commit(
        waiting(1, {}, ofCanary),
        waiting(2, {}, { ...ofCanary, var: "onlyInCanary" }),
        waiting(3, {}, { ...ofCanary, build_id: buildId(3) })
      )
      yield* end(canary(1), "rolled_back")
      const claimed = yield* claimBuilds(1_000)
      assert.deepStrictEqual(
        [1, 2, 3].map((n) => claimed.get(deliveryId(n))),
        [1, 2, 3].map(buildId)
      )
      yield* commit(waiting(4, {}, ofCanary))
      yield* store((canaries) => canaries.redirect(canary(1)))
      assert.strictEqual((yield* claimBuilds(1_100)).get(deliveryId(4)), buildId(1))
    }
  ),

  check("an attempt may end with another build for the next one", function* () {
    yield* commit(claimedOnInsert(1))
    const first_run_id = runId(1)
    const next = { attempt: 2, due_at: at(900), first_run_id, build_id: buildId(7) }
    yield* commit(settled(1, ended(run(1), { status: "failed" }), next))
    assert.strictEqual((yield* claimBuilds(1_100)).get(deliveryId(1)), buildId(7))
  }),

  check("nodes know active canaries, and where the retries of those go that were rolled back lately", function* () {
    yield* setUp
    yield* begin(canary(1))
    assert.deepStrictEqual(yield* store((canaries) => canaries.known(at(0))), [{ canary: canary(1), redirect: null }])
    const rolledBack = yield* end(canary(1), "rolled_back")
    const redirect = { build_id: buildId(1), functions: ["main/hello"] }
    assert.deepStrictEqual(yield* store((canaries) => canaries.known(at(500))), [{ canary: rolledBack, redirect }])
    assert.isEmpty(yield* store((canaries) => canaries.known(at(501))))
    yield* deploy(2, manifestServing("shop", "/new"))
    assert.isEmpty(yield* store((canaries) => canaries.known(at(500))))
  }),

  check("each change of a canary changes the version that polls read", function* () {
    yield* setUp
    const version = Effect.map(
      JournalStore.use((journal) => journal.findPendingWork(nodeId(1), at(100))),
      ({ canaries_version }) => canaries_version
    )
    assert.strictEqual(yield* version, canariesVersion([]))
    yield* begin(canary(1))
    assert.strictEqual(yield* version, canariesVersion([canary(1)]))
    yield* end(canary(1), "promoted")
    assert.strictEqual(yield* version, canariesVersion([canary(1, { ended_at: at(500) })]))
  })
]

const canaryStoreChecks: ReadonlyArray<Check<Stores>> = [...beginnings, ...endings]
