/** Checks that nothing of a removed project starts, and that its runs and deliveries can be ended. */
import { assert } from "@effect/vitest"
import { type EventStore, JournalStore, ProjectStore, RunControlStore, RunStore } from "@weft/core/adapter"
import { Effect } from "effect"
import { type Check, check } from "./Check.ts"
import { claimAll } from "./Claims.ts"
import {
  at,
  claimedOnInsert,
  deliveryId,
  ended,
  envId,
  event,
  nodeId,
  project,
  projectId,
  run,
  runId,
  runIds,
  settled,
  waiting
} from "./Samples.ts"

type Stores = RunControlStore | JournalStore | RunStore | EventStore | ProjectStore

const commit = (...entries: Parameters<JournalStore["Service"]["commit"]>[0]) =>
  JournalStore.use((journal) => journal.commit(entries, null))

const other = { project_id: projectId(2), project_name: "project 2" }

/** Removes project 1 of environment 1. */
const removeProject = Effect.gen(function* () {
  const projects = yield* ProjectStore
  yield* projects.insert(project(1))
  yield* projects.insert(project(2))
  yield* projects.remove(envId(1), projectId(1), at(50))
})

const claimedIds = (claimed: Effect.Success<ReturnType<typeof claimAll>>) =>
  claimed.claims.map(({ delivery }) => delivery.delivery_id)

export const projectRemovalChecks: ReadonlyArray<Check<Stores>> = [
  check("claims nothing of a removed project, and discards what is due", function* () {
    yield* commit(waiting(1), waiting(2, {}, other), waiting(3))
    yield* removeProject
    assert.deepStrictEqual(claimedIds(yield* claimAll(at(1000))), [deliveryId(2)])
    const empty = yield* claimAll(at(1000))
    assert.deepStrictEqual([empty.claims, empty.next_due_at], [[], null])
    const { discarded } = yield* RunControlStore.use((store) => store.discard(envId(1), {}, null, 10))
    assert.deepStrictEqual(discarded, [])
    assert.strictEqual((yield* RunStore.use((store) => store.stats(envId(1)))).total_runs, 1)
  }),

  check("discards a bounded number with each claim, and reports that more are due", function* () {
    yield* commit(...Array.from({ length: 12 }, (_, n) => waiting(n + 1)), waiting(13, { created_at: at(90) }, other))
    yield* removeProject
    const claimed: Array<string> = []
    for (let round = 0; round < 4; round++) {
      const { claims, next_due_at } = yield* claimAll(at(1000), { runIds: runIds(10_000 + 10 * round, 4) })
      claimed.push(...claims.map(({ delivery }) => delivery.delivery_id))
      if (next_due_at === null) break
      assert.isAtMost(next_due_at, at(1000))
    }
    assert.deepStrictEqual(claimed, [deliveryId(13)])
  }),

  check("claims nothing that arrives after the removal: a retry, an orphan, or a publication", function* () {
    yield* commit(claimedOnInsert(1), claimedOnInsert(2, 2))
    yield* removeProject
    const again = { attempt: 2, due_at: at(60), first_run_id: runId(1) }
    yield* commit(settled(1, ended(run(1), { status: "failed" }), again), waiting(3, { created_at: at(70) }))
    yield* JournalStore.use((journal) => journal.reap(nodeId(1), at(1000), 10))
    const first = yield* claimAll(at(2000))
    const second = yield* claimAll(at(2000))
    assert.deepStrictEqual([first.claims, second.claims, second.next_due_at], [[], [], null])
  }),

  check("cancels the running runs of a project, with and without a delivery", function* () {
    const started = (n: number, fields: Parameters<typeof run>[1] = {}) =>
      ({ _tag: "Started", run: run(n, fields) }) as const
    yield* commit(claimedOnInsert(1), started(2), started(3, other), started(4, { env_id: envId(2) }))
    const cancelled = yield* RunControlStore.use((store) =>
      store.cancel(envId(1), { projectId: projectId(1) }, at(100), 10)
    )
    assert.deepStrictEqual(cancelled.map((each) => each.run.run_id).sort(), [runId(1), runId(2)])
  }),

  check("lists removals until they are swept, and forgets them only then", function* () {
    const projects = yield* ProjectStore
    yield* removeProject
    yield* projects.remove(envId(1), projectId(2), at(60))
    const [first, second] = [
      { project_id: projectId(1), env_id: envId(1), removed_at: at(50), swept: false },
      { project_id: projectId(2), env_id: envId(1), removed_at: at(60), swept: false }
    ]
    assert.deepStrictEqual(yield* projects.removals(null, 10), [first, second])
    assert.deepStrictEqual(yield* projects.removals(null, 1), [first])
    assert.deepStrictEqual(yield* projects.removals(projectId(1), 10), [second])
    yield* projects.forgetRemovals(at(1000))
    assert.deepStrictEqual(yield* projects.removals(null, 10), [first, second])
    yield* projects.markSwept(projectId(1))
    assert.deepStrictEqual(yield* projects.removals(null, 10), [second])
    yield* projects.forgetRemovals(at(50))
    yield* commit(waiting(1))
    assert.deepStrictEqual((yield* claimAll(at(1000))).claims, [])
    yield* projects.forgetRemovals(at(51))
    yield* commit(waiting(2, event(2)))
    assert.deepStrictEqual(claimedIds(yield* claimAll(at(2000))), [deliveryId(2)])
  }),

  check("records nothing for a project that does not exist", function* () {
    const projects = yield* ProjectStore
    yield* projects.insert(project(1))
    assert.strictEqual((yield* Effect.flip(projects.remove(envId(2), projectId(1), at(5))))._tag, "NotFound")
    assert.deepStrictEqual(yield* projects.removals(null, 10), [])
  })
]
