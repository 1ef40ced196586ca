/** Contract of `RunStore`. Adapters run this suite; they do not copy it. */
import { assert } from "@effect/vitest"
import { JournalStore, JsonText, type LogEntry, pageBytesMax, type Run, RunStore } from "@weft/core/adapter"
import { Effect, type Layer } from "effect"
import { type Check, check, suite } from "./Check.ts"
import { finish, numbers, start, variety } from "./RunSamples.ts"
import { runSearchChecks } from "./RunSearchChecks.ts"
import {
  at,
  bigJson,
  claimedOnInsert,
  delivery,
  ended,
  envId,
  eventId,
  everything,
  hostileText,
  logLine,
  projectId,
  run,
  runHolding,
  runId,
  settled,
  waiting
} from "./Samples.ts"

export const runStoreContract = <E>(adapter: string, layer: Layer.Layer<RunStore | JournalStore, E>) =>
  suite(`RunStore contract: ${adapter}`, runStoreChecks, layer)

const counting: ReadonlyArray<Check<RunStore | JournalStore>> = [
  check("waiting counts the pending deliveries of all environments, up to the limit", function* () {
    const store = yield* RunStore
    const journal = yield* JournalStore
    assert.strictEqual(yield* store.waiting(10), 0)
    const later = waiting(3, {}, { due_at: at(1_000_000) })
    yield* journal.commit([waiting(1), waiting(2, { env_id: envId(2) }), later, claimedOnInsert(4)], null)
    assert.strictEqual(yield* store.waiting(10), 3)
    assert.strictEqual(yield* store.waiting(2), 2)
    const again = { attempt: 2, due_at: at(500), first_run_id: runId(4) }
    yield* journal.commit([settled(4, ended(runHolding(4, delivery(4))), again)], null)
    assert.strictEqual(yield* store.waiting(10), 4)
  })
]

const reading: ReadonlyArray<Check<RunStore | JournalStore>> = [
  check("returns a run as it was stored, running and ended", function* () {
    const store = yield* RunStore
    const running = run(1, {
      ns: hostileText,
      var: "späte",
      project_name: hostileText,
      origin_run_id: runId(9),
      event_id: eventId(3),
      attempt: 7
    })
    yield* start(running, run(2))
    assert.deepStrictEqual(yield* store.get(envId(1), runId(1)), running)
    const over = ended(running, {
      status: "failed",
      result: bigJson,
      cpu_ms: 0.1,
      wall_ms: 1234567.891,
      heap_bytes: 2 ** 40
    })
    yield* finish(over)
    assert.deepStrictEqual(yield* store.get(envId(1), runId(1)), over)
    assert.deepStrictEqual(yield* store.get(envId(1), runId(2)), run(2))
  }),

  check("keeps fractions of usage, and distinguishes 0 from null", function* () {
    const store = yield* RunStore
    const usage = [0, 1, 0.30000000000000004, 5e-7, 1e21]
    for (const [n, cpu_ms] of usage.entries()) yield* finish(ended(run(n), { cpu_ms, wall_ms: cpu_ms, heap_bytes: 0 }))
    for (const [n, cpu_ms] of usage.entries()) {
      const stored = yield* store.get(envId(1), runId(n))
      assert.deepStrictEqual([stored.cpu_ms, stored.wall_ms, stored.heap_bytes], [cpu_ms, cpu_ms, 0])
    }
  }),

  check("fails with NotFound for a run of another environment, and returns no logs", function* () {
    const store = yield* RunStore
    yield* finish(ended(run(1)), [logLine(0)])
    assert.strictEqual((yield* Effect.flip(store.get(envId(2), runId(1)))).message, "There is no such run")
    assert.strictEqual((yield* Effect.flip(store.get(envId(1), runId(2))))._tag, "NotFound")
    assert.deepStrictEqual(yield* store.list(envId(2), everything, {}), { items: [], total: 0 })
    assert.deepStrictEqual(yield* store.logs(envId(2), runId(1), everything), { items: [], total: 0 })
    assert.deepStrictEqual(yield* store.stats(envId(2)), {
      total_runs: 0,
      running: 0,
      succeeded: 0,
      failed: 0,
      cancelled: 0
    })
  }),

  check("recent returns summaries of runs since an instant, newest first, up to the limit", function* () {
    const store = yield* RunStore
    const old = run(1, { start_time: at(0) })
    const other = run(4, { env_id: envId(2), start_time: at(5000) })
    const failed = ended(run(3, { start_time: at(2000), project_id: projectId(2) }), { status: "failed" })
    yield* start(old, run(2, { start_time: at(1000) }), other)
    yield* finish(failed)
    const recent = (since: number, limit: number, only?: ReadonlyArray<string>) =>
      Effect.map(store.recent(envId(1), at(since), limit, only), (runs) => runs.map(({ run_id }) => run_id))
    assert.deepStrictEqual(yield* recent(1000, 10), [runId(3), runId(2)])
    assert.deepStrictEqual(yield* recent(0, 2), [runId(3), runId(2)])
    assert.deepStrictEqual(yield* recent(0, 10, [projectId(2)]), [runId(3)])
    const [summary] = yield* store.recent(envId(1), at(2000), 1)
    const { run_id, project_id, project_name, ns, var: name, status, start_time, stop_time } = failed
    assert.deepStrictEqual(summary, { run_id, project_id, project_name, ns, var: name, status, start_time, stop_time })
  }),

  check("replays are the first attempts of replays of a run, newest first, up to the limit", function* () {
    const store = yield* RunStore
    const origin = run(1, { event_id: eventId(1) })
    const replay = { event_id: eventId(1), origin_run_id: origin.run_id, run_type: "run" } as const
    yield* start(origin, run(2, replay), run(3, { ...replay, attempt: 2 }), run(4, { ...replay, run_type: "event" }))
    yield* start(
      run(5, { ...replay, origin_run_id: runId(2) }),
      run(6, { ...replay, env_id: envId(2) }),
      run(7, replay)
    )
    yield* finish(ended(run(8, replay)))
    const replays = (limit: number, of: Partial<Run> = {}) => store.replays({ ...origin, ...of }, limit)
    assert.deepStrictEqual(yield* replays(10), [runId(8), runId(7), runId(2)])
    assert.deepStrictEqual(yield* replays(2), [runId(8), runId(7)])
    assert.deepStrictEqual(yield* replays(10, { env_id: envId(2) }), [runId(6)])
    assert.deepStrictEqual(yield* replays(10, { event_id: null }), [])
    assert.deepStrictEqual(yield* replays(10, { run_id: runId(2) }), [runId(5)])
  }),

  check("ends a page before the large result that would exceed its size, and lists the rest on the next", function* () {
    const store = yield* RunStore
    const result = JsonText.make(`"${"x".repeat(pageBytesMax / 4)}"`)
    yield* start(run(2))
    for (const n of [1, 3, 4, 5]) yield* finish(ended(run(n), { result }))
    const lengths = (offset: number, limit = 100) =>
      Effect.map(store.list(envId(1), { limit, offset }, {}), ({ items, total }) => {
        assert.strictEqual(total, 5)
        return items.map(({ result }) => result?.length ?? null)
      })
    assert.deepStrictEqual(yield* lengths(0), [result.length, result.length, result.length, null])
    assert.deepStrictEqual(yield* lengths(4), [result.length])
    assert.deepStrictEqual(yield* lengths(1, 4), [result.length, result.length, null, result.length])
  }),

  check("lists a result that is larger than a page on a page of its own", function* () {
    const store = yield* RunStore
    const result = JsonText.make(`"${"x".repeat(pageBytesMax + 1)}"`)
    for (const each of [ended(run(1)), ended(run(2), { result }), ended(run(3))]) yield* finish(each)
    const list = (offset: number) => Effect.map(store.list(envId(1), { limit: 100, offset }, {}), ({ items }) => items)
    assert.deepStrictEqual(yield* list(0), [ended(run(3))])
    assert.deepStrictEqual(yield* list(1), [ended(run(2), { result })])
    assert.deepStrictEqual(yield* list(2), [ended(run(1))])
  }),

  check("lists runs in pages with the total, newest first", function* () {
    const store = yield* RunStore
    yield* start(run(2), run(5, { env_id: envId(2) }), run(4, { start_time: at(-9) }))
    yield* start(run(3), run(1))
    assert.deepStrictEqual(yield* store.list(envId(1), { limit: 2, offset: 1 }, {}), {
      items: [run(3), run(2)],
      total: 4
    })
    assert.deepStrictEqual(yield* numbers({}, { limit: 3, offset: 4 }), [4])
  })
]

const filtering: ReadonlyArray<Check<RunStore | JournalStore>> = [
  check("filters a list by status", function* () {
    yield* variety
    assert.deepStrictEqual(yield* numbers({ status: "running" }), [2, 5, 1])
    assert.deepStrictEqual(yield* numbers({ status: "succeeded" }), [2, 7, 4])
    assert.deepStrictEqual(yield* numbers({ status: "failed" }), [1, 2])
    assert.deepStrictEqual(yield* numbers({ status: "cancelled" }), [1, 3])
    assert.deepStrictEqual(yield* numbers({ status: "running" }, { limit: 1, offset: 1 }), [2, 1])
  }),

  check("filters a list by type", function* () {
    yield* variety
    assert.deepStrictEqual(yield* numbers({ type: "event" }), [3, 5, 4, 2])
    assert.deepStrictEqual(yield* numbers({ type: "repl" }), [1, 7])
    assert.deepStrictEqual(yield* numbers({ type: "eval" }), [0])
  }),

  check("filters a list by event", function* () {
    yield* variety
    assert.deepStrictEqual(yield* numbers({ eventId: eventId(1) }), [2, 4, 2])
    assert.deepStrictEqual(yield* numbers({ eventId: eventId(1) }, { limit: 1, offset: 1 }), [2, 2])
    assert.deepStrictEqual(yield* numbers({ eventId: eventId(3) }), [0])
  }),

  check("filters a list by start time, inclusive", function* () {
    yield* variety
    assert.deepStrictEqual(yield* numbers({ since: at(4) }), [3, 7, 5, 4])
    assert.deepStrictEqual(yield* numbers({ since: at(8) }), [0])
    assert.deepStrictEqual(yield* numbers({ since: at(-1) }, { limit: 2, offset: 4 }), [6, 2, 1])
  }),

  check("restricts a list to project ids and to the project names at the time of the run", function* () {
    yield* variety
    assert.deepStrictEqual(yield* numbers({ only: [projectId(1)] }), [4, 5, 4, 3, 1])
    assert.deepStrictEqual(yield* numbers({ only: ["project 1"] }), [3, 4, 3, 1])
    assert.deepStrictEqual(yield* numbers({ only: ["old name", projectId(2)] }), [3, 7, 5, 2])
    assert.deepStrictEqual(yield* numbers({ only: ["nothing"] }), [0])
    assert.deepStrictEqual(yield* numbers({ only: [] }), [0])
  }),

  check("combines filters", function* () {
    yield* variety
    assert.deepStrictEqual(yield* numbers({ status: "succeeded", type: "event" }), [1, 4])
    assert.deepStrictEqual(yield* numbers({ eventId: eventId(1), status: "failed", only: [projectId(2)] }), [1, 2])
    assert.deepStrictEqual(yield* numbers({ since: at(3), type: "event", status: "running" }), [1, 5])
    assert.deepStrictEqual(yield* numbers({ type: "event", only: ["project 2"], since: at(3) }), [0])
  }),

  check("stats counts each state, with total_runs as their sum", function* () {
    yield* variety
    const store = yield* RunStore
    assert.deepStrictEqual(yield* store.stats(envId(1)), {
      total_runs: 6,
      running: 2,
      succeeded: 2,
      failed: 1,
      cancelled: 1
    })
    assert.deepStrictEqual(yield* store.stats(envId(2)), {
      total_runs: 1,
      running: 1,
      succeeded: 0,
      failed: 0,
      cancelled: 0
    })
  }),

  check("stats can be restricted to projects", function* () {
    yield* variety
    const store = yield* RunStore
    const { total_runs, succeeded, failed } = yield* store.stats(envId(1), [projectId(2), "old name"])
    assert.deepStrictEqual([total_runs, succeeded, failed], [3, 1, 1])
    // A project that is named twice is counted once.
    assert.strictEqual((yield* store.stats(envId(1), [projectId(2), "project 2"])).total_runs, 2)
    assert.strictEqual((yield* store.stats(envId(1), [])).total_runs, 0)
  })
]

const logging: ReadonlyArray<Check<RunStore | JournalStore>> = [
  check("returns logs in order, in pages with the total", function* () {
    const store = yield* RunStore
    const lines = Array.from({ length: 25 }, (_, seq) => logLine(seq))
    yield* finish(ended(run(1)), lines)
    yield* finish(ended(run(2)), [logLine(0, "other")])
    assert.deepStrictEqual(yield* store.logs(envId(1), runId(1), everything), { items: lines, total: 25 })
    assert.deepStrictEqual(yield* store.logs(envId(1), runId(1), { limit: 10, offset: 9 }), {
      items: lines.slice(9, 19),
      total: 25
    })
    assert.deepStrictEqual(yield* store.logs(envId(1), runId(1), { limit: 10, offset: 30 }), { items: [], total: 25 })
    assert.deepStrictEqual(yield* store.logs(envId(1), runId(2), everything), {
      items: [logLine(0, "other")],
      total: 1
    })
  }),

  check("returns log lines unchanged", function* () {
    const store = yield* RunStore
    const lines: ReadonlyArray<LogEntry> = [
      { ...logLine(0, hostileText, '{"a":[1.50,null,"\\u0000"]}'), level: "debug" },
      { ...logLine(1, "", "null"), level: "warn", time: at(-5) },
      { ...logLine(2, '{"not":"data"}', '"{}"'), level: "error" },
      logLine(3, "null", null)
    ]
    yield* finish(ended(run(1)), lines)
    assert.deepStrictEqual((yield* store.logs(envId(1), runId(1), everything)).items, lines)
  }),

  check("returns no logs for an unknown run or one without logs", function* () {
    const store = yield* RunStore
    yield* start(run(1))
    yield* finish(ended(run(2)))
    for (const n of [1, 2, 404]) {
      assert.deepStrictEqual(yield* store.logs(envId(1), runId(n), everything), { items: [], total: 0 })
    }
  })
]

export const runStoreChecks: ReadonlyArray<Check<RunStore | JournalStore>> = [
  ...reading,
  ...counting,
  ...filtering,
  ...runSearchChecks,
  ...logging
]
