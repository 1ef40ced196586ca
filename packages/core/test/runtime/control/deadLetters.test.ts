import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import type { Env } from "@weft/core"
import { AuditLog, Builds, type Caller, DeadLetters, type RedriveSelection } from "@weft/core"
import {
  BuildId,
  Delivery,
  DeliveryId,
  type Event,
  EventId,
  iso,
  type JournalEntry,
  JournalStore,
  JsonText,
  NodeId,
  noRetry,
  now,
  ProjectId,
  RunId,
  startRun,
  Timestamp
} from "@weft/core/adapter"
import { type TrustedFunction, trustedZip } from "@weft/core/testing"
import { Effect, type Layer } from "effect"
import { TestClock } from "effect/testing"
import { as } from "../../Services.ts"
import { allRuns, asHost, deployed, publish, settle, world } from "../../world.ts"
import { settleAll } from "../workflows/DurableWorld.ts"

/** True while the functions fail. */
let isBroken = true

const handler = (meta: object): TrustedFunction =>
  Object.assign(
    () => {
      if (isBroken) throw new Error("the service is down")
      return "handled"
    },
    { meta }
  )

const retry = { attempts: 2, delay: "1s", jitter: false }

interface Invoking {
  readonly invoke: (fn: string, args: ReadonlyArray<unknown>) => Promise<unknown>
}

const modules = {
  app: {
    main: {
      mails: handler({ event: "mail", retry }),
      bills: handler({ event: "bill" }),
      late: handler({ event: "late", ttl: "1m", throttle: { limit: 1, period: "2m" } }),
      waits: Object.assign(
        (_: unknown, svc: Invoking) => svc.invoke("main/child", []).catch(() => "the child failed"),
        { meta: { event: "parent", durable: true } }
      ),
      child: handler({ durable: true })
    }
  },
  next: { main: { mails: Object.assign(() => "by the next build", { meta: { event: "mail" } }) } }
}

type World = Layer.Success<ReturnType<typeof world>>

const check = <E>(claim: string, body: (env: Env) => Effect.Effect<void, E, World>) =>
  it.effect(claim, () => {
    isBroken = true
    return Effect.provide(Effect.flatMap(deployed("app"), body), world(modules))
  })

type Service = DeadLetters["Service"]

const use = <A, E>(env: Env, call: (letters: Service) => Effect.Effect<A, E, Caller>) =>
  asHost(env, DeadLetters.use(call))

const list = (env: Env, query: Parameters<Service["list"]>[1] = {}) =>
  use(env, (letters) => letters.list({ limit: 20, offset: 0 }, query))

const idsOf = (env: Env) => Effect.map(list(env), ({ items }) => items.map(({ run_id }) => run_id))

const redrive = (env: Env, selection: RedriveSelection = {}) => use(env, (letters) => letters.redrive(selection))

const deployNext = (env: Env) => {
  const zip = trustedZip("next")
  const hash = createHash("sha256").update(zip).digest("hex")
  return asHost(
    env,
    Effect.gen(function* () {
      const { build } = yield* Builds.use((builds) => builds.upload("app", { zip, hash }))
      yield* Builds.use((builds) => builds.deploy("app", build.build_id))
    })
  )
}

const pass = (ms: number) => Effect.andThen(TestClock.adjust(ms), Effect.andThen(settle, settle))

describe("a dead letter", () => {
  check("is a delivery after its last attempt, not before", (env) =>
    Effect.gen(function* () {
      const { event_id } = yield* publish(env, "mail")
      yield* settle
      assert.deepStrictEqual((yield* list(env)).items, [])
      yield* pass(2_000)
      const { items, total } = yield* list(env)
      assert.strictEqual(total, 1)
      assert.deepInclude(items[0], { event_id, event_type: "mail", var: "mails", attempt: 2, status: "failed" })
      assert.deepStrictEqual(items[0]?.error, { name: "Error", message: "the service is down" })
    })
  )

  check("is a delivery that expired, and no run of a parent that gets the failure", (env) =>
    Effect.gen(function* () {
      isBroken = false
      for (let n = 0; n < 2; n++) yield* publish(env, "late")
      yield* settle
      yield* pass(121_000)
      isBroken = true
      yield* publish(env, "parent")
      yield* settleAll
      const failed = (yield* allRuns(env)).filter(({ status }) => status === "failed")
      assert.deepStrictEqual(
        failed.map((run) => run.var),
        ["child"]
      )
      const { items } = yield* list(env)
      assert.deepStrictEqual(
        items.map(({ var: name, status }) => [name, status]),
        [["late", "cancelled"]]
      )
    })
  )

  check("runs again in the same build, and leaves the list", (env) =>
    Effect.gen(function* () {
      yield* publish(env, "bill")
      yield* settle
      const [id = assert.fail("there is no letter")] = yield* idsOf(env)
      isBroken = false
      const all = yield* Effect.all([redrive(env, { ids: [id] }), redrive(env, { ids: [id] })], { concurrency: 2 })
      assert.deepStrictEqual(
        all.map(({ count }) => count),
        [1, 0]
      )
      yield* settle
      const [again, first = assert.fail("there is one run")] = yield* allRuns(env)
      const { event_id } = first
      assert.deepInclude(again, { status: "succeeded", run_type: "run", origin_run_id: id, event_id })
      assert.deepStrictEqual(yield* idsOf(env), [])
      const gone = [{ reason: "no dead letter has this id", count: 1 }]
      assert.deepStrictEqual(yield* redrive(env, { ids: [id] }), { count: 0, skipped: gone, next: null })
    })
  )

  check("is a letter again if its redrive fails", (env) =>
    Effect.gen(function* () {
      yield* publish(env, "bill")
      yield* settle
      const before = yield* idsOf(env)
      assert.strictEqual((yield* redrive(env)).count, 1)
      yield* settle
      const after = yield* idsOf(env)
      assert.strictEqual(after.length, 1)
      assert.notDeepEqual(after, before)
    })
  )

  check("runs in the deployed build; without the function there, it stays", (env) =>
    Effect.gen(function* () {
      for (const type of ["mail", "bill"]) yield* publish(env, type)
      yield* pass(2_000)
      yield* deployNext(env)
      const reason = "build: the deployed build of the project has no function main/bills"
      const expected = { count: 1, skipped: [{ reason, count: 1 }], next: null }
      const preview = yield* use(env, (letters) => letters.previewRedrive({ build: "deployed" }))
      assert.deepStrictEqual(preview, expected)
      assert.strictEqual((yield* list(env)).total, 2)
      assert.deepStrictEqual(yield* redrive(env, { build: "deployed" }), expected)
      yield* settle
      const [run] = yield* allRuns(env)
      assert.strictEqual(run?.result, '"by the next build"' as string)
      const { items } = yield* list(env)
      assert.deepStrictEqual(
        items.map((letter) => letter.var),
        ["bills"]
      )
    })
  )
})

describe("dead letters", () => {
  /** Six letters: of each of two functions one in each of three minutes. */
  const sixLetters = (env: Env) =>
    Effect.gen(function* () {
      for (let n = 0; n < 3; n++) {
        for (const type of ["mail", "bill"]) yield* publish(env, type)
        yield* pass(60_000)
      }
    })

  check("are listed, redriven and discarded by function, event type and time", (env) =>
    Effect.gen(function* () {
      yield* sixLetters(env)
      const [latest = assert.fail("there is no letter")] = (yield* list(env, { fn: "app:main/bills" })).items
      assert.strictEqual((yield* list(env, { eventType: "mail" })).total, 3)
      const until = iso(latest.dead_since)
      assert.strictEqual((yield* list(env, { since: until })).total, 2)
      const discarded = yield* use(env, (letters) => letters.discard({ until, eventType: "bill" }))
      assert.deepStrictEqual(discarded, { count: 2, skipped: [], next: null })
      isBroken = false
      assert.strictEqual((yield* redrive(env, { fn: "main/mails" })).count, 3)
      assert.deepStrictEqual(yield* idsOf(env), [latest.run_id])
      yield* settle
      assert.strictEqual((yield* allRuns(env)).filter(({ status }) => status === "succeeded").length, 3)
    })
  )

  check("of other functions stay hidden from a limited credential", (env) =>
    Effect.gen(function* () {
      yield* sixLetters(env)
      const limited = as(env.env_id, { "call:main/bills": ["create"], "run:other": ["read"] })
      const letters = yield* DeadLetters
      assert.strictEqual((yield* limited(letters.list({ limit: 20, offset: 0 }, {}))).total, 0)
      assert.strictEqual((yield* limited(letters.previewDiscard({}))).count, 3)
      assert.strictEqual((yield* limited(letters.redrive({}))).count, 3)
      const none = as(env.env_id, { "run:*": ["read"] })
      for (const call of [letters.redrive({}), letters.discard({}), letters.previewRedrive({})])
        assert.strictEqual((yield* Effect.flip(none(call)))._tag, "Forbidden")
    })
  )

  check("are in the audit log with their numbers", (env) =>
    Effect.gen(function* () {
      yield* sixLetters(env)
      yield* redrive(env, { fn: "main/mails" })
      yield* use(env, (letters) => letters.discard({}))
      const { items } = yield* AuditLog.use((log) => log.listAll({}, { limit: 2, offset: 0 }))
      assert.deepStrictEqual(
        items.map(({ action, details }): ReadonlyArray<string> => [action, details]),
        [
          ["dead_letters.discard", '{"letters":3,"skipped":0}'],
          ["dead_letters.redrive", '{"fn":"main/mails","build":"same","letters":3,"skipped":0}']
        ]
      )
    })
  )

  check("refuse invalid selections", (env) =>
    Effect.gen(function* () {
      const refused = (selection: RedriveSelection) =>
        Effect.map(Effect.flip(redrive(env, selection)), (error) => error.message)
      assert.include(yield* refused({ fn: "main" }), "fn must be a function reference")
      assert.include(yield* refused({ since: "2026-02-30T00:00:00Z" }), "since must be an ISO 8601 timestamp")
      assert.include(yield* refused({ ids: [] }), "ids must have 1 to 500 ids (got 0)")
      assert.include(yield* refused({ ids: ["1"] }), "ids must be UUIDs")
      assert.include(yield* refused({ cursor: "1" }), "cursor must be the field next")
    })
  )
})

/** Stores a letter without a run of its function. */
const store = (published: Event, n: number, dead_since: Timestamp) => {
  const id = `00000000-0000-7000-9000-${String(n).padStart(12, "0")}`
  const event = { ...published, event_id: EventId.make(id) }
  const { env_id, event_id, stream_id, created_at } = event
  const delivery = Delivery.make({
    ...{ delivery_id: DeliveryId.make(id), env_id, event_id, stream_id, project_id: ProjectId.make(id) },
    ...{ project_name: "app", build_id: BuildId.make(id), ns: "main", var: "bills", run_type: "event" as const },
    ...{ retry: noRetry, timeout_ms: 1_000, group: null, attempt: 1, due_at: created_at, caused_by: null, depth: 0 },
    ...{ first_run_id: null, durable: false, continues: null }
  })
  const { delivery_id } = delivery
  const run = startRun(delivery, RunId.make(id), NodeId.make(id), created_at)
  const over = { ...run, status: "failed" as const, stop_time: dead_since, result: JsonText.make("{}") }
  const entries: ReadonlyArray<JournalEntry> = [
    { _tag: "Appended", event, deliveries: [{ delivery, run }] },
    { _tag: "Settled", run: over, logs: [], deliveryId: delivery_id, next: null, isDead: true }
  ]
  return JournalStore.use((journal) => journal.commit(entries, null))
}

describe("a pass over more letters than one request takes", () => {
  check("continues with its cursor, and leaves letters that die meanwhile", (env) =>
    Effect.gen(function* () {
      const published = yield* publish(env, "nothing")
      yield* pass(1_000)
      const died = Timestamp.make(published.created_at + 1)
      for (let n = 0; n < 501; n++) yield* store(published, n, died)
      const first = yield* use(env, (letters) => letters.discard({}))
      assert.strictEqual(first.count, 500)
      const later = yield* now
      yield* pass(1_000)
      yield* store(published, 501, later)
      const second = yield* use(env, (letters) => letters.discard({ cursor: first.next ?? "" }))
      assert.deepStrictEqual(second, { count: 1, skipped: [], next: null })
      assert.deepStrictEqual(
        (yield* list(env)).items.map(({ dead_since }) => dead_since),
        [later]
      )
    })
  )
})
