/** Alert rules on nodes with a common store, in virtual time. */
import { createHmac } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { type AlertPayload, Alerts, type Env, layer, type NewAlert, type WeftServices } from "@weft/core"
import { AlertStore, Egress, noEgress } from "@weft/core/adapter"
import { MemoryStores, trustedSandbox } from "@weft/core/testing"
import { Effect, Exit, Layer, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { at, withMeta } from "../../resources/schedules/Fixtures.ts"
import { allRuns, asHost, deployed, masterKeys, publish, settle } from "../../world.ts"

const modules = {
  app: {
    main: {
      job: withMeta({ event: "job" }, (event: { readonly event_data: unknown }) => {
        if (event.event_data === "fail") throw new Error("no")
        return "done"
      }),
      onAlert: withMeta({ event: ["svc:alert:fired", "svc:alert:resolved"] }, () => "seen"),
      all: withMeta({ event: "*" }, () => "all")
    }
  }
}

interface Sent {
  readonly url: string
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

/** A host whose callback records notifications, and a server that answers webhooks with `status`. */
class World {
  readonly calls: Array<AlertPayload> = []
  readonly sent: Array<Sent> = []
  status = 200

  readonly #egress = Layer.succeed(
    Egress,
    Egress.of({
      ...noEgress,
      send: (_, { url, headers, body }) =>
        Effect.sync(() => {
          const text = body instanceof Uint8Array ? Buffer.from(body).toString() : ""
          this.sent.push({ url, headers: new Map(headers), body: text })
          const head = { status: this.status, statusText: "", url, redirected: false, headers: [] }
          return { ...head, body: Stream.empty }
        })
    })
  )

  readonly start = Effect.gen({ self: this }, function* () {
    const scope = yield* Scope.make()
    const node = layer({ masterKeys, onAlert: (alert) => void this.calls.push(alert) })
    const built = Layer.fresh(Layer.provide(node, [trustedSandbox(modules), this.#egress]))
    const context = yield* Layer.buildWithScope(built, scope)
    return {
      on: <A, E>(effect: Effect.Effect<A, E, WeftServices>) => Effect.provideContext(effect, context),
      stop: Scope.close(scope, Exit.void)
    }
  })
}

const use = <A, E, R>(env: Env, effect: (alerts: Alerts["Service"]) => Effect.Effect<A, E, R>) =>
  asHost(env, Alerts.use(effect))

const failures: NewAlert = {
  name: "jobs fail",
  fn: "app:main/job",
  condition: { type: "failure_share", share: 0.4, min_runs: 2, window_minutes: 1 },
  actions: [{ type: "hook" }]
}

/** Signatures are computed in a thread, which virtual time does not wait for. */
const realTime = Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 3)))

/** Advances the clock in steps of 10 s, as nodes need for counts and polls. */
const pass = Effect.fnUntraced(function* (minutes: number) {
  for (let step = 0; step < minutes * 6; step++) {
    yield* TestClock.adjust("10 seconds")
    yield* settle
    yield* realTime
  }
})

const check = <E>(
  claim: string,
  body: (world: World) => Effect.Effect<void, E, Layer.Success<typeof MemoryStores.layer>>
) =>
  it.effect(claim, () =>
    Effect.andThen(
      at("2026-03-01T10:00:00Z"),
      Effect.provide(
        Effect.suspend(() => body(new World())),
        MemoryStores.layer
      )
    )
  )

describe("an alert rule", () => {
  check(
    "notifies once when it fires and once when it resolves, of two nodes",
    Effect.fnUntraced(function* (world) {
      const [one, two] = [yield* world.start, yield* world.start]
      const env = yield* one.on(deployed("app"))
      const { alert_id } = yield* one.on(use(env, (alerts) => alerts.create(failures)))
      for (const data of ["fail", "fail", "ok"]) yield* two.on(publish(env, "job", data))
      yield* pass(2)
      assert.deepStrictEqual(
        world.calls.map(({ type, value }) => [type, value]),
        [["alert.fired", 2 / 3]]
      )
      const firing = yield* one.on(use(env, (alerts) => alerts.get(alert_id)))
      assert.deepInclude(firing, { state: "firing", notices: [], last_error: null })
      yield* pass(4)
      assert.deepStrictEqual(
        world.calls.map(({ type }) => type),
        ["alert.fired", "alert.resolved"]
      )
      assert.lengthOf(new Set(world.calls.map(({ id }) => id)), 2)
      yield* Effect.forEach([one, two], ({ stop }) => stop)
    })
  )

  check(
    "fires only after its condition held for the given time",
    Effect.fnUntraced(function* (world) {
      const node = yield* world.start
      const env = yield* node.on(deployed("app"))
      const silence: NewAlert = { ...failures, condition: { type: "silence", minutes: 3 }, for_minutes: 2 }
      const { alert_id } = yield* node.on(use(env, (alerts) => alerts.create(silence)))
      const state = Effect.map(node.on(use(env, (alerts) => alerts.get(alert_id))), (alert) => alert.state)
      yield* pass(2)
      assert.strictEqual(yield* state, "ok")
      yield* pass(2.5)
      assert.strictEqual(yield* state, "pending")
      assert.isEmpty(world.calls)
      yield* pass(3)
      assert.strictEqual(yield* state, "firing")
      yield* node.on(publish(env, "job", "ok"))
      yield* pass(2)
      assert.strictEqual(yield* state, "ok")
      assert.lengthOf(world.calls, 2)
      yield* node.stop
    })
  )

  check(
    "publishes events to the handlers that name them",
    Effect.fnUntraced(function* (world) {
      const node = yield* world.start
      const env = yield* node.on(deployed("app"))
      const rule: NewAlert = { ...failures, actions: [{ type: "event" }] }
      yield* node.on(use(env, (alerts) => alerts.create(rule)))
      for (const data of ["fail", "fail"]) yield* node.on(publish(env, "job", data))
      yield* pass(5)
      const runs = (yield* node.on(allRuns(env))).filter(({ var: name }) => name === "onAlert")
      assert.deepStrictEqual(
        runs.map(({ status }) => status),
        ["succeeded", "succeeded"]
      )
      yield* node.stop
    })
  )

  check(
    "signs its webhooks, repeats those that failed with the same id, and survives the node",
    Effect.fnUntraced(function* (world) {
      const first = yield* world.start
      const env = yield* first.on(deployed("app"))
      const url = "https://hooks.example.com/weft"
      const rule: NewAlert = { ...failures, actions: [{ type: "webhook", url }] }
      const created = yield* first.on(use(env, (alerts) => alerts.create(rule)))
      world.status = 500
      for (const data of ["fail", "fail"]) yield* first.on(publish(env, "job", data))
      for (let round = 0; round < 9 && world.sent.length === 0; round++) yield* pass(0.5)
      yield* pass(0.5)
      const [sent] = world.sent
      assert.strictEqual(sent?.url, url)
      const key = Buffer.from(created.webhook_secret.slice("whsec_".length), "base64")
      const { headers, body = "" } = sent ?? { headers: new Map<string, string>() }
      const [id, time] = [headers.get("webhook-id"), headers.get("webhook-timestamp")]
      const signature = createHmac("sha256", key).update(`${id}.${time}.${body}`).digest("base64")
      assert.strictEqual(headers.get("webhook-signature"), `v1,${signature}`)
      assert.deepInclude(JSON.parse(body), { id, type: "alert.fired", value: 1 })
      const failed = yield* first.on(use(env, (alerts) => alerts.get(created.alert_id)))
      assert.strictEqual(failed.last_error, "the server answered 500")
      yield* first.stop
      world.status = 204
      const second = yield* world.start
      yield* pass(6)
      const fired = world.sent.filter((each) => JSON.parse(each.body).type === "alert.fired")
      assert.isAtLeast(fired.length, 2)
      assert.lengthOf(new Set(fired.map((each) => each.headers.get("webhook-id"))), 1)
      const alert = yield* second.on(use(env, (alerts) => alerts.get(created.alert_id)))
      assert.deepInclude(alert, { state: "ok", notices: [], last_error: null })
      yield* second.stop
    })
  )

  check(
    "observes backlogs and latencies",
    Effect.fnUntraced(function* (world) {
      const node = yield* world.start
      const env = yield* node.on(deployed("app"))
      const window = { min_runs: 1, window_minutes: 5 }
      const slow: NewAlert = {
        ...failures,
        condition: { type: "latency", of: "duration", percentile: 95, over_ms: 60_000, ...window }
      }
      const { alert_id } = yield* node.on(use(env, (alerts) => alerts.create(slow)))
      const backlog: NewAlert = {
        name: "backlog",
        condition: { type: "backlog", deliveries: 0 },
        actions: slow.actions
      }
      const { alert_id: other } = yield* node.on(use(env, (alerts) => alerts.create(backlog)))
      yield* node.on(publish(env, "job", "ok"))
      yield* pass(2)
      const value = (id: string) => Effect.map(node.on(use(env, (alerts) => alerts.get(id))), (alert) => alert.value)
      assert.isNumber(yield* value(alert_id))
      assert.strictEqual(yield* value(other), 0)
      assert.isEmpty(world.calls)
      yield* node.stop
    })
  )

  check(
    "refuses invalid fields and more rules than the plan allows, and sends tests",
    Effect.fnUntraced(function* (world) {
      const node = yield* world.start
      const env = yield* node.on(deployed("app"))
      const refuse = (input: NewAlert) =>
        Effect.map(Effect.flip(node.on(use(env, (alerts) => alerts.create(input)))), (error) => error.message)
      assert.match(yield* refuse({ ...failures, name: " " }), /name must have/)
      assert.match(yield* refuse({ ...failures, actions: [] }), /actions must have/)
      assert.match(yield* refuse({ ...failures, condition: { type: "backlog" } }), /needs deliveries/)
      assert.match(yield* refuse({ ...failures, actions: [{ type: "webhook", url: "ftp://a" }] }), /absolute http/)
      const created = yield* node.on(use(env, (alerts) => alerts.create(failures)))
      const tested = yield* node.on(use(env, (alerts) => alerts.test(created.alert_id)))
      assert.deepStrictEqual(tested.results, [{ action: { type: "hook" }, error: null }])
      assert.strictEqual(tested.webhook_secret, created.webhook_secret)
      assert.strictEqual(world.calls[0]?.type, "alert.test")
      const changed = yield* node.on(use(env, (alerts) => alerts.update(created.alert_id, { enabled: false })))
      assert.isFalse(changed.enabled)
      assert.deepStrictEqual(
        (yield* AlertStore.use((store) => store.all(env.env_id))).map(({ enabled }) => enabled),
        [false]
      )
      yield* node.on(use(env, (alerts) => alerts.remove(created.alert_id)))
      assert.strictEqual((yield* node.on(use(env, (alerts) => alerts.list({ limit: 10, offset: 0 })))).total, 0)
      yield* node.stop
    })
  )
})
