/** Contract of child runs: `children`, `endChildren`, and the runs that continue or repeat others. */
import { assert } from "@effect/vitest"
import {
  type Delivery,
  type Event,
  formatChildEnd,
  formatWaiting,
  type JournalEntry,
  JournalStore,
  lostNode,
  type Renewal,
  type Run,
  RunControlStore,
  RunStore,
  toJsonText,
  type WaitRecord,
  WorkflowStore
} from "@weft/core/adapter"
import { Effect } from "effect"
import { type Check, check } from "./Check.ts"
import { claimAll } from "./Claims.ts"
import {
  at,
  delivery,
  deliveryId,
  ended,
  envId,
  event,
  eventId,
  everything,
  nodeId,
  runHolding,
  runId,
  runIds,
  settled
} from "./Samples.ts"
import {
  active,
  advanced,
  cancelRun,
  commit,
  history,
  sleep,
  started,
  step,
  storedRun,
  suspension,
  type WorkflowStores
} from "./WorkflowSamples.ts"

/** A wait for the child run of event `n`. */
const awaitChild = (seq: number, n: number, fields: Partial<WaitRecord> = {}): WaitRecord => ({
  ...sleep(seq, 0),
  ...{ kind: "run", name: `child ${n}`, until: null, child_event_id: eventId(n) },
  ...fields
})

/** The call by event `n`, claimed on insert by run `n`, of the environment `env`. */
const child = (n: number, env = 1, fields: Partial<Delivery> = {}) => {
  const published = event(n, { event_type: "svc:call", env_id: envId(env) })
  const held = delivery(n, published, { run_type: "call", awaited: true, ...fields })
  return { event: published, delivery: held, run: runHolding(n, held) }
}

const called = (...of: Parameters<typeof child>): JournalEntry => {
  const { event: published, delivery: held, run } = child(...of)
  return { _tag: "Appended", event: published, deliveries: [{ delivery: held, run }] }
}

/** As `called`, but no node has claimed it. */
const pending = (...of: Parameters<typeof child>): JournalEntry => {
  const { event: published, delivery: held } = child(...of)
  return { _tag: "Appended", event: published, deliveries: [{ delivery: held, run: null }] }
}

const result = toJsonText({ paid: true })

const succeeded = (n: number, env = 1): Run => ended(child(n, env).run, { result })

const failure = toJsonText({ error: { name: "RangeError", message: "no", stack: "at 1" } })

const failed = (n: number): Run => ended(child(n).run, { status: "failed", result: failure })

const endChildren = (numbers: ReadonlyArray<number>, env = 1, now = 200) =>
  Effect.map(
    WorkflowStore.use((store) =>
      store.endChildren(
        numbers.map((n) => ({ env_id: envId(env), event_id: eventId(n) })),
        at(now)
      )
    ),
    (runs) => runs.map(({ run_id }) => run_id).sort()
  )

const outcomes = (n: number) => Effect.map(history(n), ({ waits }) => waits.map(({ outcome }) => outcome))

const listChildren = (limit = 100, after: number | null = null) =>
  Effect.map(
    WorkflowStore.use((store) =>
      store.children(after === null ? null : { env_id: envId(1), event_id: eventId(after) }, limit)
    ),
    (children) => children.map(({ env_id, event_id }) => [env_id, event_id])
  )

const isInvoking = Effect.map(
  JournalStore.use((journal) => journal.findPendingWork(nodeId(1), at(0))),
  ({ invoking }) => invoking
)

const claimedAt = (now: number) =>
  Effect.map(claimAll(at(now), { runIds: runIds(100_000, 100) }), ({ claims }) =>
    claims.map(({ run }) => run.run_id).sort()
  )

const discard = (n: number) =>
  RunControlStore.use((control) => control.discard(envId(1), { callBy: eventId(n) }, null, 100))

const ending: ReadonlyArray<Check<WorkflowStores>> = [
  check("gives the result of a child to the waits for it, once", function* () {
    yield* commit(started(1), started(2), called(5), called(6))
    yield* commit(
      advanced(1, { waits: [awaitChild(0, 5), awaitChild(1, 6), sleep(2, 10)] }),
      advanced(2, { waits: [awaitChild(0, 5)] })
    )
    assert.deepStrictEqual(yield* endChildren([5, 6]), [])
    yield* commit(settled(5, succeeded(5)))
    assert.deepStrictEqual(yield* endChildren([5, 6, 7]), [runId(1), runId(2)])
    assert.deepStrictEqual(yield* outcomes(1), [formatChildEnd(succeeded(5)), null, null])
    assert.deepStrictEqual(yield* outcomes(2), [formatChildEnd(succeeded(5))])
    assert.deepStrictEqual(yield* endChildren([5, 6]), [])
  }),

  check("a child whose event is not stored yet has not ended", function* () {
    yield* commit(started(1), advanced(1, { waits: [awaitChild(0, 5)] }))
    assert.deepStrictEqual(yield* endChildren([5]), [])
    yield* commit(called(5))
    assert.deepStrictEqual(yield* endChildren([5]), [])
  }),

  check("a child with another attempt has not ended", function* () {
    yield* commit(started(1), called(5), advanced(1, { waits: [awaitChild(0, 5)] }))
    yield* commit(settled(5, failed(5), { attempt: 2, due_at: at(300), first_run_id: runId(5) }))
    assert.deepStrictEqual(yield* endChildren([5]), [])
    const { claims } = yield* claimAll(at(300), { runIds: runIds(800, 1) })
    assert.deepStrictEqual(claims[0]?.delivery.awaited, true)
    assert.deepStrictEqual(yield* endChildren([5]), [])
    yield* commit(settled(5, ended({ ...child(5).run, run_id: runId(800), attempt: 2 }, { result })))
    assert.deepStrictEqual(yield* endChildren([5]), [runId(1)])
    assert.deepStrictEqual(yield* outcomes(1), [formatChildEnd({ ...succeeded(5), run_id: runId(800) })])
  }),

  check("a suspended child has not ended", function* () {
    const suspended = child(5, 1, { durable: true })
    yield* commit(started(1), advanced(1, { waits: [awaitChild(0, 5)] }))
    const run = { ...suspended.run, activations: 1 }
    yield* commit({
      ...{ _tag: "Appended", event: suspended.event, deliveries: [{ delivery: suspended.delivery, run }] }
    } satisfies JournalEntry)
    assert.deepStrictEqual(yield* commit(advanced(5, { suspension: suspension(9000) }, run)), [true])
    assert.deepStrictEqual(yield* endChildren([5]), [])
  }),

  check("gives errors of failed, cancelled and discarded children", function* () {
    yield* commit(started(1), called(5), called(6), pending(7))
    yield* commit(advanced(1, { waits: [awaitChild(0, 5), awaitChild(1, 6), awaitChild(2, 7)] }))
    yield* commit(settled(5, failed(5)))
    const [cancelled] = yield* cancelRun(6)
    assert.isDefined(cancelled)
    assert.deepStrictEqual(
      (yield* discard(7)).discarded.map(({ event_id }) => event_id),
      [eventId(7)]
    )
    assert.deepStrictEqual(yield* endChildren([5, 6, 7]), [runId(1)])
    assert.deepStrictEqual(yield* outcomes(1), [
      formatChildEnd(failed(5)),
      formatChildEnd(cancelled.run),
      formatChildEnd(null)
    ])
  }),

  check("a replay of the child changes nothing", function* () {
    yield* commit(started(1), called(5), advanced(1, { waits: [awaitChild(0, 5)] }))
    yield* commit(settled(5, succeeded(5)))
    const replay = delivery(9, child(5).event, { run_type: "run", due_at: at(100) })
    yield* RunControlStore.use((control) => control.redeliver(replay))
    assert.deepStrictEqual(yield* endChildren([5]), [runId(1)])
    assert.deepStrictEqual(yield* outcomes(1), [formatChildEnd(succeeded(5))])
  }),

  check("separates environments", function* () {
    yield* commit(started(1), called(5, 2), advanced(1, { waits: [awaitChild(0, 5)] }))
    yield* commit(settled(5, succeeded(5, 2)))
    assert.deepStrictEqual(yield* endChildren([5]), [])
    assert.deepStrictEqual(yield* endChildren([5], 2), [])
    assert.deepStrictEqual(yield* outcomes(1), [null])
  }),

  check("lists the children that runs wait for, in pages", function* () {
    assert.isFalse(yield* isInvoking)
    yield* commit(started(1), started(2), called(7))
    yield* commit(
      advanced(1, { waits: [awaitChild(0, 6), awaitChild(1, 5), sleep(2, 10)] }),
      advanced(2, { waits: [awaitChild(0, 7)], suspension: suspension(9000) })
    )
    assert.isTrue(yield* isInvoking)
    assert.deepStrictEqual(yield* listChildren(2), [
      [envId(1), eventId(5)],
      [envId(1), eventId(6)]
    ])
    assert.deepStrictEqual(yield* listChildren(2, 6), [[envId(1), eventId(7)]])
    yield* commit(settled(7, succeeded(7)))
    yield* endChildren([7])
    yield* cancelRun(1)
    assert.deepStrictEqual([yield* listChildren(), yield* isInvoking], [[], false])
  })
]

const waking: ReadonlyArray<Check<WorkflowStores>> = [
  check("makes a suspended parent due, also one that is suspended afterwards", function* () {
    yield* commit(started(1), started(2), called(5), called(6))
    yield* commit(
      advanced(1, { waits: [awaitChild(0, 5)], suspension: suspension(9000) }),
      advanced(2, { waits: [awaitChild(0, 6)] })
    )
    yield* commit(settled(5, succeeded(5)), settled(6, succeeded(6)))
    assert.deepStrictEqual(yield* claimedAt(199), [])
    assert.deepStrictEqual(yield* endChildren([5, 6]), [runId(1), runId(2)])
    yield* commit(advanced(2, { at: at(150), suspension: suspension(9000) }))
    assert.deepStrictEqual(yield* claimedAt(200), [runId(1), runId(2)])
  }),

  check("the end of a child while its parent is suspended is not lost", function* () {
    const parents = Array.from({ length: 40 }, (_, index) => index + 1)
    yield* commit(...parents.flatMap((n) => [started(n), called(n + 100)]))
    yield* commit(...parents.map((n) => advanced(n, { waits: [awaitChild(0, n + 100)] })))
    const work: ReadonlyArray<Effect.Effect<unknown, unknown, WorkflowStores>> = parents.flatMap((n) => [
      commit(advanced(n, { suspension: suspension(9000) })),
      Effect.andThen(commit(settled(n + 100, succeeded(n + 100))), endChildren([n + 100]))
    ])
    yield* Effect.all(work, { concurrency: "unbounded" })
    assert.deepStrictEqual(yield* claimedAt(200), parents.map(runId))
    for (const n of parents) assert.deepStrictEqual(yield* outcomes(n), [formatChildEnd(succeeded(n + 100))])
  }),

  check("of many nodes that report an end, one wakes the parent", function* () {
    yield* commit(started(1), called(5))
    yield* commit(advanced(1, { waits: [awaitChild(0, 5)], suspension: suspension(9000) }))
    yield* commit(settled(5, succeeded(5)))
    const found = yield* Effect.forEach(Array.from({ length: 20 }), () => endChildren([5]), {
      concurrency: "unbounded"
    })
    assert.deepStrictEqual(found.flat(), [runId(1)])
    assert.deepStrictEqual(yield* claimedAt(200), [runId(1)])
  }),

  check("a cancellation returns the children that the run waited for", function* () {
    yield* commit(started(1), called(5), called(6))
    yield* commit(
      advanced(1, { waits: [awaitChild(0, 5), awaitChild(1, 6), sleep(2, 10)], suspension: suspension(9000) })
    )
    yield* commit(settled(6, succeeded(6)))
    yield* endChildren([6])
    const [cancelled] = yield* cancelRun(1)
    assert.deepStrictEqual(cancelled?.children, [eventId(5)])
    assert.deepStrictEqual((yield* cancelRun(5))[0]?.children, [])
  })
]

/** Run `n` as a durable call that continues with event `next`. */
const renewal = (n: number, next: number, awaited: boolean): Renewal => {
  const { run } = durableCall(n)
  const of = child(next, 1, { durable: true, caused_by: runId(n) })
  const { awaited: _, ...plain } = of.delivery
  return {
    ...{ run: ended(run, { result }), logs: [], deliveryId: deliveryId(n), event: of.event },
    delivery: awaited ? of.delivery : plain
  }
}

const durableCall = (n: number) => {
  const of = child(n, 1, { durable: true })
  return { ...of, run: { ...of.run, activations: 1 } }
}

const durablyCalled = (n: number): JournalEntry => {
  const { event: published, delivery: held, run } = durableCall(n)
  return { _tag: "Appended", event: published, deliveries: [{ delivery: held, run }] }
}

const renew = (of: Renewal) => RunControlStore.use((control) => control.renew(of))

const renewing: ReadonlyArray<Check<WorkflowStores>> = [
  check("renew ends a run and starts the next one", function* () {
    yield* commit(durablyCalled(5))
    yield* commit(advanced(5, { steps: [step(0)], waits: [sleep(1, 10)] }, durableCall(5).run))
    assert.isTrue(yield* renew(renewal(5, 6, false)))
    assert.deepStrictEqual(yield* storedRun(5), { ...renewal(5, 6, false).run, steps: 1 })
    assert.deepStrictEqual(yield* history(5), { steps: [step(0)], waits: [] })
    const { claims } = yield* claimAll(at(300), { runIds: runIds(800, 10) })
    assert.deepStrictEqual(
      claims.map(({ run, event: of, delivery: held }): readonly [Run["origin_run_id"], Event, boolean] => [
        run.origin_run_id,
        of,
        held.durable
      ]),
      [[runId(5), renewal(5, 6, false).event, true]]
    )
    assert.isFalse(yield* renew(renewal(5, 7, false)))
    assert.deepStrictEqual(yield* claimedAt(9000), [])
  }),

  check("a parent waits for the run that its child continued as", function* () {
    yield* commit(started(1), durablyCalled(5))
    yield* commit(advanced(1, { waits: [awaitChild(0, 5)], suspension: suspension(9000) }))
    assert.isTrue(yield* renew(renewal(5, 6, true)))
    assert.deepStrictEqual(yield* endChildren([5, 6]), [])
    assert.deepStrictEqual(
      (yield* history(1)).waits.map(({ child_event_id }) => child_event_id),
      [eventId(6)]
    )
    yield* claimAll(at(300), { runIds: runIds(800, 1) })
    const last = { ...durableCall(6).run, run_id: runId(800), origin_run_id: runId(5) }
    assert.deepStrictEqual(yield* commit(settled(6, ended(last, { result }))), [true])
    assert.deepStrictEqual(yield* endChildren([5, 6]), [runId(1)])
  }),

  check("renew changes nothing if the run is not held, or if its parent no longer waits", function* () {
    yield* commit(started(1), durablyCalled(5), durablyCalled(7))
    yield* commit(advanced(1, { waits: [awaitChild(0, 5)] }))
    assert.isFalse(yield* renew({ ...renewal(5, 6, true), deliveryId: deliveryId(99) }))
    assert.isFalse(yield* renew(renewal(7, 8, true)))
    yield* cancelRun(1)
    assert.isFalse(yield* renew(renewal(5, 6, true)))
    for (const n of [5, 7]) assert.strictEqual((yield* storedRun(n)).status, "running")
    assert.deepStrictEqual(yield* claimedAt(9000), [])
  }),

  check("a run is cancelled or continues as a new one, not both", function* () {
    const runs = Array.from({ length: 12 }, (_, index) => index + 1)
    yield* commit(...runs.map(durablyCalled))
    const work: ReadonlyArray<Effect.Effect<unknown, unknown, WorkflowStores>> = runs.flatMap((n) => [
      cancelRun(n),
      renew(renewal(n, n + 100, false)),
      renew(renewal(n, n + 200, false))
    ])
    yield* Effect.all(work, { concurrency: "unbounded" })
    const renewed = yield* Effect.forEach(runs, (n) => Effect.map(storedRun(n), ({ status }) => status === "succeeded"))
    assert.strictEqual((yield* claimedAt(9000)).length, renewed.filter(Boolean).length)
  }),

  check("fork starts a run with the first results of another one", function* () {
    yield* commit(started(1))
    const steps = [0, 1, 2, 3].map((position) => step(position))
    yield* commit(advanced(1, { steps, waits: [sleep(4, 10)] }))
    yield* commit(settled(1, ended(active(1).run)))
    const held = delivery(9, event(1), { durable: true, run_type: "run", due_at: at(100), continues: runId(9) })
    const run = { ...runHolding(9, held, { activations: 0 }), waiting: formatWaiting(lostNode(at(100))), steps: 2 }
    const fork = { run, delivery: held, source: { env_id: envId(1), run_id: runId(1) }, before: 2 }
    yield* RunControlStore.use((control) => control.fork(fork))
    assert.deepStrictEqual(yield* storedRun(9), run)
    assert.deepStrictEqual(yield* history(9), { steps: steps.slice(0, 2), waits: [] })
    const suspended = yield* RunStore.use((store) => store.list(envId(1), everything, { waiting: "node" }))
    assert.deepStrictEqual(suspended.items, [run])
    const { claims } = yield* claimAll(at(100), { runIds: runIds(800, 10) })
    assert.deepStrictEqual(
      claims.map((claim) => [claim.run.run_id, claim.run.activations, claim.event.event_id]),
      [[runId(9), 1, eventId(1)]]
    )
    assert.deepStrictEqual((yield* history(1)).steps, steps)
  })
]

export const childChecks: ReadonlyArray<Check<WorkflowStores>> = [...ending, ...waking, ...renewing]
