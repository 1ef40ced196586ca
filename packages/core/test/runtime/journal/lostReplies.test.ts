/** Writes with an unknown result: the node finds them in the store, because no other node can. */
import { assert, describe, it } from "@effect/vitest"
import { layer, StoreUnavailable, Streams, Webhooks } from "@weft/core"
import { JournalStore } from "@weft/core/adapter"
import type { WebhookCall } from "@weft/core/internal"
import { MemoryStores, type TrustedFunction, type TrustedModule, trustedSandbox } from "@weft/core/testing"
import { Context, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { allRuns, asHost, deployed, masterKeys, publish, runsOf, settle } from "../../world.ts"

const job: TrustedFunction = Object.assign(() => "done", { meta: { event: "job" } })
const app: TrustedModule = { main: { job } }

/** Lost part: the reply to a commit or a claim, or the commit itself (`rejected`). */
type Loss = "commit" | "claim" | "rejected"

/** Returns in-memory stores whose journal executes requests but loses the replies named in `losses`. */
const makeLossyStores = (losses: Set<Loss>) => {
  const lost = Effect.fail(new StoreUnavailable({ operation: "it", cause: new Error("The connection broke") }))
  const withLoss = <A>(method: Loss, effect: Effect.Effect<A, StoreUnavailable>) =>
    Effect.flatMap(effect, (done) => (losses.has(method) ? lost : Effect.succeed(done)))
  return Layer.effectContext(
    Effect.map(Effect.context<Layer.Success<typeof MemoryStores.layer>>(), (stores) => {
      const journal = Context.get(stores, JournalStore)
      return Context.add(stores, JournalStore, {
        ...journal,
        commit: (...args) => (losses.has("rejected") ? lost : withLoss("commit", journal.commit(...args))),
        claim: (...args) => withLoss("claim", journal.claim(...args))
      })
    })
  ).pipe(Layer.provide(MemoryStores.layer))
}

const nodeOn = (losses: Set<Loss>, module: TrustedModule = app) =>
  layer({ masterKeys }).pipe(
    Layer.provideMerge(makeLossyStores(losses)),
    Layer.provide(trustedSandbox({ app: module }))
  )

/** A function that runs until `finish` is called. */
const makeLongFunction = (meta: TrustedFunction["meta"]) => {
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

describe("a lost reply of the store", () => {
  it.effect("to a publication with claimed deliveries: they run nevertheless", () => {
    const losses = new Set<Loss>()
    return Effect.gen(function* () {
      const env = yield* deployed("app")
      // After its first claim the node knows that no delivery is pending, so new deliveries are stored as claimed.
      yield* publish(env, "job")
      yield* settle
      losses.add("commit")
      const error = yield* Effect.flip(publish(env, "job"))
      losses.delete("commit")
      assert.strictEqual(error._tag, "StoreUnavailable")
      assert.deepStrictEqual(statuses(yield* allRuns(env)), ["running", "succeeded"])
      yield* TestClock.adjust("61 seconds")
      yield* settle
      assert.deepStrictEqual(statuses(yield* allRuns(env)), ["lost", "succeeded", "succeeded"])
    }).pipe(Effect.provide(nodeOn(losses)))
  })

  it.effect("to a claim: its deliveries are released and claimed again", () => {
    const losses = new Set<Loss>(["claim"])
    return Effect.gen(function* () {
      const env = yield* deployed("app")
      const event = yield* publish(env, "job")
      yield* TestClock.adjust("2 seconds")
      yield* settle
      assert.deepStrictEqual(statuses(yield* runsOf(env, event.event_id)), ["running"])
      losses.delete("claim")
      yield* TestClock.adjust("61 seconds")
      yield* settle
      assert.deepStrictEqual(statuses(yield* runsOf(env, event.event_id)), ["lost", "succeeded"])
    }).pipe(Effect.provide(nodeOn(losses)))
  })

  it.effect("to the end of a webhook's run: the stored run ends", () => {
    const losses = new Set<Loss>()
    const { fn, finish } = makeLongFunction({ webhook: { service: "s", path: "/hook" } })
    return Effect.gen(function* () {
      const env = yield* deployed("app")
      const handling = yield* Effect.forkChild(Webhooks.use((webhooks) => webhooks.handle(call)))
      yield* settle
      yield* settle
      assert.deepStrictEqual(statuses(yield* allRuns(env)), ["running"])
      losses.add("rejected")
      finish()
      assert.strictEqual((yield* Effect.flip(Fiber.join(handling)))._tag, "StoreUnavailable")
      losses.delete("rejected")
      yield* TestClock.adjust("61 seconds")
      yield* settle
      assert.deepStrictEqual(statuses(yield* allRuns(env)), ["lost"])
    }).pipe(Effect.provide(nodeOn(losses, { main: { hook: fn } })))
  })

  it.effect("to a publication: its activity is broadcast when the store answers again", () => {
    const losses = new Set<Loss>()
    return Effect.gen(function* () {
      const env = yield* deployed("app")
      const subscription = yield* asHost(
        env,
        Streams.use((streams) => streams.ofEnv())
      )
      losses.add("commit")
      yield* Effect.flip(publish(env, "lost"))
      losses.delete("commit")
      const { event_id } = yield* publish(env, "published")
      yield* TestClock.adjust("2 seconds")
      yield* settle
      const batches = yield* subscription.take
      const types = typeof batches === "string" ? [] : batches.flat().map(({ activity }) => activity)
      const created = types.flatMap((each) => (each.type === "event:created" ? [each] : []))
      assert.deepStrictEqual(
        created.map((each) => each.event_type),
        ["published", "lost"]
      )
      assert.strictEqual(created[0]?.event_id, event_id)
    }).pipe(Effect.scoped, Effect.provide(nodeOn(losses)))
  })

  it.effect("does not end long runs", () => {
    const losses = new Set<Loss>()
    const { fn, finish } = makeLongFunction({ event: "long" })
    return Effect.gen(function* () {
      const env = yield* deployed("app")
      const event = yield* publish(env, "long")
      yield* settle
      losses.add("commit")
      yield* Effect.ignore(publish(env, "job"))
      losses.delete("commit")
      yield* TestClock.adjust("2 minutes")
      yield* settle
      finish()
      yield* settle
      assert.deepStrictEqual(statuses(yield* runsOf(env, event.event_id)), ["succeeded"])
    }).pipe(Effect.provide(nodeOn(losses, { main: { job, long: fn } })))
  })
})
