/** What a store did without saying so: a node finds it, though it lives, and nobody else could. */
import { assert, describe, it } from "@effect/vitest"
import {
  JournalStore,
  layer,
  MemoryStores,
  StoreUnavailable,
  Streams,
  type TrustedFunction,
  type TrustedModule,
  trustedSandbox,
  type WebhookCall,
  Webhooks
} from "@weft/core"
import { Context, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { allRuns, asHost, deployed, masterKeys, publish, runsOf, settle } from "../world.ts"

const job: TrustedFunction = Object.assign(() => "done", { meta: { event: "job" } })
const app: TrustedModule = { main: { job } }

/** What of it is lost: the answer to a commit or to a claim, or, with `away`, the commit itself. */
type Loss = "commit" | "claim" | "away"

/** Stores in memory whose journal does what it is asked, but does not say so, as long as `mute` has it. */
const forgetful = (mute: Set<Loss>) => {
  const lost = Effect.fail(new StoreUnavailable({ operation: "it", cause: new Error("The connection broke") }))
  const heard = <A>(method: Loss, effect: Effect.Effect<A, StoreUnavailable>) =>
    Effect.flatMap(effect, (done) => (mute.has(method) ? lost : Effect.succeed(done)))
  return Layer.effectContext(
    Effect.map(Effect.context<Layer.Success<typeof MemoryStores.layer>>(), (stores) => {
      const journal = Context.get(stores, JournalStore)
      return Context.add(stores, JournalStore, {
        ...journal,
        commit: (...args) => (mute.has("away") ? lost : heard("commit", journal.commit(...args))),
        claim: (...args) => heard("claim", journal.claim(...args))
      })
    })
  ).pipe(Layer.provide(MemoryStores.layer))
}

const nodeOn = (mute: Set<Loss>, module: TrustedModule = app) =>
  layer({ masterKeys }).pipe(Layer.provideMerge(forgetful(mute)), Layer.provide(trustedSandbox({ app: module })))

/** A function that goes on until it is told to finish. */
const patience = (meta: TrustedFunction["meta"]) => {
  let finish: (value: string) => void = () => undefined
  const fn: TrustedFunction = Object.assign(() => new Promise((resolve) => (finish = resolve)), { meta })
  return { fn, finish: () => finish("done") }
}

const call: WebhookCall = {
  org: "app",
  env: "production",
  service: "s",
  path: "/hook",
  method: "POST",
  url: "/webhook/app/production/s/hook",
  headers: {},
  query: {},
  body: null,
  remoteIp: "127.0.0.1",
  token: null
}

const statuses = (runs: ReadonlyArray<{ readonly status: string; readonly result: string | null }>) =>
  runs.map(({ status, result }) => (result?.includes("NodeLost") ? "lost" : status)).sort()

describe("a store whose answer is lost", () => {
  it.effect("has a publication whose delivery was born claimed: it runs all the same", () => {
    const mute = new Set<Loss>()
    return Effect.gen(function* () {
      const env = yield* deployed("app")
      // Nothing waits, as the node knows from its first claim: so deliveries are born claimed.
      yield* publish(env, "job")
      yield* settle
      mute.add("commit")
      const error = yield* Effect.flip(publish(env, "job"))
      mute.delete("commit")
      assert.strictEqual(error._tag, "StoreUnavailable")
      assert.deepStrictEqual(statuses(yield* allRuns(env)), ["running", "succeeded"])
      yield* TestClock.adjust("61 seconds")
      yield* settle
      assert.deepStrictEqual(statuses(yield* allRuns(env)), ["lost", "succeeded", "succeeded"])
    }).pipe(Effect.provide(nodeOn(mute)))
  })

  it.effect("has claimed for the node: it gives back, and claims again", () => {
    const mute = new Set<Loss>(["claim"])
    return Effect.gen(function* () {
      const env = yield* deployed("app")
      const event = yield* publish(env, "job")
      yield* TestClock.adjust("2 seconds")
      yield* settle
      assert.deepStrictEqual(statuses(yield* runsOf(env, event.event_id)), ["running"])
      mute.delete("claim")
      yield* TestClock.adjust("61 seconds")
      yield* settle
      assert.deepStrictEqual(statuses(yield* runsOf(env, event.event_id)), ["lost", "succeeded"])
    }).pipe(Effect.provide(nodeOn(mute)))
  })

  it.effect("has the beginning of a webhook's run, but not its end: it ends", () => {
    const mute = new Set<Loss>()
    const { fn, finish } = patience({ webhook: { service: "s", path: "/hook" } })
    return Effect.gen(function* () {
      const env = yield* deployed("app")
      const handling = yield* Effect.forkChild(Webhooks.use((webhooks) => webhooks.handle(call)))
      yield* settle
      yield* settle
      assert.deepStrictEqual(statuses(yield* allRuns(env)), ["running"])
      mute.add("away")
      finish()
      assert.strictEqual((yield* Effect.flip(Fiber.join(handling)))._tag, "StoreUnavailable")
      mute.delete("away")
      yield* TestClock.adjust("61 seconds")
      yield* settle
      assert.deepStrictEqual(statuses(yield* allRuns(env)), ["lost"])
    }).pipe(Effect.provide(nodeOn(mute, { main: { hook: fn } })))
  })

  it.effect("has what nobody was told: it is told when it answers again", () => {
    const mute = new Set<Loss>()
    return Effect.gen(function* () {
      const env = yield* deployed("app")
      const watching = yield* asHost(
        env,
        Streams.use((streams) => streams.ofEnv())
      )
      mute.add("commit")
      yield* Effect.flip(publish(env, "lost"))
      mute.delete("commit")
      const { event_id } = yield* publish(env, "told")
      yield* TestClock.adjust("2 seconds")
      yield* settle
      const told = yield* watching.take
      const types = typeof told === "string" ? [] : told.flat().map(({ activity }) => activity)
      const created = types.flatMap((each) => (each.type === "event:created" ? [each] : []))
      assert.deepStrictEqual(
        created.map((each) => each.event_type),
        ["told", "lost"]
      )
      assert.strictEqual(created[0]?.event_id, event_id)
    }).pipe(Effect.scoped, Effect.provide(nodeOn(mute)))
  })

  it.effect("does not cost runs that go on for long", () => {
    const mute = new Set<Loss>()
    const { fn, finish } = patience({ event: "long" })
    return Effect.gen(function* () {
      const env = yield* deployed("app")
      const event = yield* publish(env, "long")
      yield* settle
      mute.add("commit")
      yield* Effect.ignore(publish(env, "job"))
      mute.delete("commit")
      yield* TestClock.adjust("2 minutes")
      yield* settle
      finish()
      yield* settle
      assert.deepStrictEqual(statuses(yield* runsOf(env, event.event_id)), ["succeeded"])
    }).pipe(Effect.provide(nodeOn(mute, { main: { job, patient: fn } })))
  })
})
