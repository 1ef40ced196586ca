/** Operations on many runs, on nodes with a common store, in virtual time. */
import { assert, describe, it } from "@effect/vitest"
import {
  DeadLetters,
  type Env,
  layer,
  type NewOperation,
  NotFound,
  type OperationQuery,
  Operations,
  StoreUnavailable,
  type WeftServices
} from "@weft/core"
import { BuildStore, OperationStore, RunControlStore } from "@weft/core/adapter"
import { MemoryStores, trustedSandbox } from "@weft/core/testing"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { allRuns, asHost, deployed, immediateTurns, masterKeys, publish, settle } from "../../world.ts"

/** True while functions of the type `job` fail. */
let isBroken = true

const fail = () => {
  throw new Error("broken")
}

const modules = {
  app: {
    main: {
      job: Object.assign(() => (isBroken ? fail() : "done"), { meta: { event: "job" } }),
      retried: Object.assign(fail, { meta: { event: "retried", retry: { attempts: 3 } } }),
      nap: Object.assign(
        (_: never, svc: { sleep: (name: string, time: string) => unknown }) => svc.sleep("nap", "1h"),
        {
          meta: { event: "nap", durable: true }
        }
      )
    }
  }
}

type Stores = Layer.Success<typeof MemoryStores.layer>

const check = <E>(claim: string, body: Effect.Effect<void, E, Stores>) =>
  it.effect(claim, () =>
    Effect.suspend(() => {
      isBroken = true
      return Effect.provide(body, MemoryStores.layer)
    })
  )

/** Starts a node on the stores. `change` replaces some of them. */
const startNode = Effect.fnUntraced(function* (
  change: (stores: Context.Context<Stores>) => Context.Context<Stores> = (stores) => stores
) {
  const scope = yield* Scope.make()
  const stores = Layer.effectContext(Effect.map(Effect.context<Stores>(), change))
  const node = Layer.fresh(Layer.provide(layer({ masterKeys }), [trustedSandbox(modules), immediateTurns]))
  const context = yield* Layer.buildWithScope(Layer.provide(node, stores), scope)
  return {
    on: <A, E>(effect: Effect.Effect<A, E, WeftServices>) => Effect.provideContext(effect, context),
    die: Scope.close(scope, Exit.void)
  }
})

const create = (env: Env, input: NewOperation) =>
  asHost(
    env,
    Operations.use((operations) => operations.create(input))
  )

const get = (env: Env, id: string) =>
  asHost(
    env,
    Operations.use((operations) => operations.get(id))
  )

const replays = (env: Env) =>
  Effect.map(allRuns(env), (runs) =>
    runs.filter(({ run_type }) => run_type === "run").map(({ origin_run_id }) => origin_run_id)
  )

const failed: NewOperation = { kind: "replay", filter: { status: "failed" } }

describe("an operation", () => {
  check(
    "replays the failed runs that began before it, each once, and no replay",
    Effect.gen(function* () {
      const { on, die } = yield* startNode()
      const env = yield* on(deployed("app"))
      for (let n = 0; n < 5; n++) yield* on(publish(env, "job"))
      yield* on(settle)
      const { operation_id, total } = yield* on(create(env, failed))
      yield* settle
      const ended = yield* on(get(env, operation_id))
      assert.deepInclude(ended, { state: "succeeded", total: 5, done: 5, skipped: 0, failed: 0, created_by: "host" })
      assert.strictEqual(total, 5)
      // The replays failed as well, after the operation was created.
      assert.strictEqual(new Set(yield* on(replays(env))).size, 5)
      assert.lengthOf(yield* on(replays(env)), 5)
      yield* die
    })
  )

  check(
    "replays a delivery with several failed attempts once",
    Effect.gen(function* () {
      const { on, die } = yield* startNode()
      const env = yield* on(deployed("app"))
      yield* on(publish(env, "retried"))
      yield* TestClock.adjust("1 minute")
      yield* settle
      assert.lengthOf(yield* on(allRuns(env)), 3)
      const { operation_id } = yield* on(create(env, failed))
      yield* settle
      assert.deepInclude(yield* on(get(env, operation_id)), { state: "succeeded", total: 3, done: 1, skipped: 2 })
      yield* die
    })
  )

  check(
    "redrives dead letters by the text of their error, each once, and none that fails again",
    Effect.gen(function* () {
      const { on, die } = yield* startNode()
      const env = yield* on(deployed("app"))
      for (let n = 0; n < 3; n++) yield* on(publish(env, "job"))
      yield* on(publish(env, "retried"))
      yield* TestClock.adjust("1 minute")
      yield* settle
      const redrive = (filter: OperationQuery) =>
        Effect.gen(function* () {
          const { operation_id } = yield* on(create(env, { kind: "redrive", filter, options: { build: "deployed" } }))
          yield* TestClock.adjust("1 minute")
          yield* settle
          return yield* on(get(env, operation_id))
        })
      assert.deepInclude(yield* redrive({ error: "nothing" }), { state: "succeeded", total: 0, done: 0 })
      const first = yield* redrive({ error: "BROKEN", eventType: "job" })
      assert.deepInclude(first, { state: "succeeded", total: 3, done: 3, skipped: 0, failed: 0 })
      assert.lengthOf(yield* on(replays(env)), 3)
      isBroken = false
      // The three that failed again, and the retried one.
      assert.deepInclude(yield* redrive({}), { state: "succeeded", total: 4, done: 4 })
      const letters = asHost(
        env,
        DeadLetters.use((service) => service.list({ limit: 10, offset: 0 }, {}))
      )
      assert.strictEqual((yield* on(letters)).total, 1)
      yield* die
    })
  )

  check(
    "cancels running runs, with those that nobody executes",
    Effect.gen(function* () {
      const { on, die } = yield* startNode()
      const env = yield* on(deployed("app"))
      for (let n = 0; n < 3; n++) yield* on(publish(env, "nap"))
      yield* settle
      const { operation_id } = yield* on(
        create(env, { kind: "cancel", filter: { waiting: "timer", fn: "app:main/nap" } })
      )
      yield* settle
      assert.deepInclude(yield* on(get(env, operation_id)), { state: "succeeded", total: 3, done: 3 })
      assert.isTrue((yield* on(allRuns(env))).every(({ status }) => status === "cancelled"))
      yield* die
    })
  )

  check(
    "keeps its rate, waits for its turn in the environment, and ends within a batch when it is cancelled",
    Effect.gen(function* () {
      const { on, die } = yield* startNode()
      const env = yield* on(deployed("app"))
      for (let n = 0; n < 20; n++) yield* on(publish(env, "job"))
      yield* on(settle)
      const slow = yield* on(create(env, { ...failed, options: { rate: 2 } }))
      const second = yield* on(create(env, failed))
      yield* TestClock.adjust("4 seconds")
      const seen = yield* on(get(env, slow.operation_id))
      assert.strictEqual(seen.state, "running")
      assert.isTrue(seen.done >= 8 && seen.done <= 10, String(seen.done))
      assert.strictEqual((yield* on(get(env, second.operation_id))).state, "pending")
      const cancelled = yield* on(
        asHost(
          env,
          Operations.use((operations) => operations.cancel(slow.operation_id))
        )
      )
      assert.strictEqual(cancelled.state, "cancelled")
      yield* TestClock.adjust("2 seconds")
      yield* settle
      assert.strictEqual((yield* on(get(env, slow.operation_id))).done, cancelled.done)
      assert.strictEqual((yield* on(get(env, second.operation_id))).state, "succeeded")
      yield* die
    })
  )

  check(
    "continues on another node after its own died, and repeats no run",
    Effect.gen(function* () {
      const [one, two] = [yield* startNode(), yield* startNode()]
      const env = yield* one.on(deployed("app"))
      for (let n = 0; n < 12; n++) yield* one.on(publish(env, "job"))
      yield* settle
      const { operation_id } = yield* one.on(create(env, { ...failed, options: { rate: 2 } }))
      yield* TestClock.adjust("2 seconds")
      yield* one.die
      yield* TestClock.adjust("2 minutes")
      yield* settle
      assert.deepInclude(yield* two.on(get(env, operation_id)), { state: "succeeded", total: 12, done: 12 })
      assert.strictEqual(new Set(yield* two.on(replays(env))).size, 12)
      assert.lengthOf(yield* two.on(replays(env)), 12)
      yield* two.die
    })
  )

  check(
    "repeats no run if the store does not answer, whether the batch was stored or not",
    Effect.gen(function* () {
      let calls = 0
      const unanswered = new StoreUnavailable({ operation: "advance", cause: "no answer" })
      const { on, die } = yield* startNode((stores) => {
        const control = Context.get(stores, RunControlStore)
        return Context.add(stores, RunControlStore, {
          ...control,
          advance: (step) => {
            calls++
            if (calls % 3 === 1) return Effect.fail(unanswered)
            return calls % 3 === 2
              ? Effect.andThen(control.advance(step), Effect.fail(unanswered))
              : control.advance(step)
          }
        })
      })
      const env = yield* on(deployed("app"))
      for (let n = 0; n < 9; n++) yield* on(publish(env, "job"))
      yield* settle
      const { operation_id } = yield* on(create(env, { ...failed, options: { rate: 4 } }))
      yield* TestClock.adjust("1 minute")
      yield* settle
      assert.deepInclude(yield* on(get(env, operation_id)), { state: "succeeded", total: 9, done: 9 })
      assert.lengthOf(yield* on(replays(env)), 9)
      yield* die
    })
  )

  check(
    "names the runs that it cannot replay",
    Effect.gen(function* () {
      let isDeleted = false
      const { on, die } = yield* startNode((stores) => {
        const builds = Context.get(stores, BuildStore)
        return Context.add(stores, BuildStore, {
          ...builds,
          get: (...args) => (isDeleted ? Effect.fail(new NotFound({ resource: "build" })) : builds.get(...args))
        })
      })
      const env = yield* on(deployed("app"))
      yield* on(publish(env, "job"))
      yield* settle
      const [run = assert.fail("there is no run")] = yield* on(allRuns(env))
      isDeleted = true
      const { operation_id } = yield* on(create(env, failed))
      yield* settle
      const reason = 'the build of this run was deleted; use `build: "deployed"`'
      assert.deepInclude(yield* on(get(env, operation_id)), {
        ...{ state: "succeeded", total: 1, done: 0, failed: 1 },
        failures: [{ run_id: run.run_id, reason }]
      })
      yield* die
    })
  )

  check(
    "is refused if its filter fits no operation of its kind, or 20 others have not ended",
    Effect.gen(function* () {
      const { on, die } = yield* startNode()
      const env = yield* on(deployed("app"))
      const refused = (input: NewOperation) => Effect.map(on(Effect.flip(create(env, input))), ({ message }) => message)
      assert.match(yield* refused({ kind: "replay" }), /filter\.status is required/)
      assert.match(yield* refused({ kind: "cancel", filter: { status: "failed" } }), /filter\.status must be running/)
      assert.match(
        yield* refused({ ...failed, options: { rate: 0 } }),
        /options\.rate must be an integer from 1 to 10000/
      )
      assert.match(yield* refused({ kind: "cancel", filter: { fn: "a b" } }), /fn must be a function reference/)
      assert.match(
        yield* refused({ kind: "cancel", filter: { error: "e" } }),
        /filter\.error needs filter\.status failed/
      )
      assert.match(yield* refused({ kind: "redrive", filter: { error: "" } }), /filter\.error must have 1 to 200/)
      assert.match(yield* refused({ kind: "redrive", filter: { status: "failed" } }), /not for a redrive/)
      yield* on(publish(env, "job"))
      yield* settle
      const slow = { ...failed, options: { rate: 1 } }
      const others = yield* startNode((stores) => {
        const store = Context.get(stores, OperationStore)
        return Context.add(stores, OperationStore, { ...store, countOpen: () => Effect.succeed(20) })
      })
      assert.match((yield* others.on(Effect.flip(create(env, slow)))).message, /20 operations that have not ended/)
      yield* others.die
      yield* die
    })
  )
})
