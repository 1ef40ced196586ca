/** Contract of `AlertStore` together with the journal of the same database. Adapters run this suite. */
import { assert } from "@effect/vitest"
import { type Alert, AlertId, AlertStore, JournalStore } from "@weft/core/adapter"
import { Effect, type Layer } from "effect"
import { type Check, check, suite } from "./Check.ts"
import type { JournalStores } from "./Claims.ts"
import { at, envId, nodeId, projectId, waiting } from "./Samples.ts"

type Stores = AlertStore | JournalStores

export const alertStoreContract = <E>(adapter: string, layer: Layer.Layer<Stores, E>): void =>
  suite(`AlertStore contract: ${adapter}`, alertStoreChecks, layer)

/** A rule of environment 1. */
const alert = (n: number, fields: Partial<Alert> = {}): Alert => ({
  alert_id: AlertId.make(`01977420-00fe-7000-8000-${n.toString(16).padStart(12, "0")}`),
  env_id: envId(1),
  name: `rule ${n}`,
  ...{ project_id: null, project_name: null, ns: null, var: null },
  condition: { type: "backlog", deliveries: 5 },
  for_minutes: 2,
  actions: [{ type: "webhook", url: "https://example.com/ä" }, { type: "event" }],
  enabled: true,
  ...{ state: "ok", since: at(n), value: 0.25, evaluated_at: null, last_error: null, notices: [] },
  ...{ due_at: at(n), created_at: at(n), updated_at: at(n) },
  ...fields
})

const store = <A, E, R>(use: (store: AlertStore["Service"]) => Effect.Effect<A, E, R>) => AlertStore.use(use)
const insert = (...alerts: ReadonlyArray<Alert>) =>
  store((rules) => Effect.forEach(alerts, (each) => rules.insert(each), { discard: true }))
const get = (one: Alert) => store((rules) => rules.get(one.env_id, one.alert_id))
const claim = (now: number, until: number, limit = 10) =>
  Effect.map(
    store((rules) => rules.claim(at(now), at(until), limit)),
    (claimed) => [...claimed].sort((a, b) => (a.alert_id < b.alert_id ? -1 : 1))
  )

const alertStoreChecks: ReadonlyArray<Check<Stores>> = [
  check("stores whole rules and lists those of an environment, newest first", function* () {
    const notice = { notice_id: "n", type: "alert.fired", at: at(9), value: null, attempts: 1, due_at: at(9) } as const
    const rules = [alert(1), alert(2, { notices: [{ ...notice, actions: [{ type: "hook" }] }], enabled: false })]
    const other = alert(3, { env_id: envId(2) })
    yield* insert(...rules, other)
    assert.deepStrictEqual(yield* store((all) => all.all(envId(1))), rules.toReversed())
    assert.deepStrictEqual(yield* get(other), other)
    assert.strictEqual((yield* Effect.flip(get({ ...other, env_id: envId(1) })))._tag, "NotFound")
  }),

  check("claims each due and enabled rule once, the longest due first", function* () {
    const [one, two, three] = [alert(1), alert(2), alert(3, { env_id: envId(2) })]
    yield* insert(one, two, three, alert(4, { enabled: false }), alert(5, { due_at: at(100) }))
    assert.deepStrictEqual(yield* claim(50, 200, 2), [
      { ...one, due_at: at(200) },
      { ...two, due_at: at(200) }
    ])
    assert.deepStrictEqual(yield* claim(50, 201), [{ ...three, due_at: at(201) }])
    assert.deepStrictEqual(yield* claim(50, 202), [])
    assert.deepStrictEqual(yield* get(one), { ...one, due_at: at(200) })
  }),

  check("replaces a rule only for the node with its due time", function* () {
    const one = alert(1)
    yield* insert(one)
    const [claimed] = yield* claim(50, 200)
    assert.isDefined(claimed)
    const replace = (next: Alert, fence: number) => store((rules) => rules.replace(next, at(fence)))
    const firing = alert(1, { state: "firing", due_at: at(200), enabled: false })
    assert.isFalse(yield* replace(firing, 1))
    assert.isFalse(yield* replace({ ...firing, env_id: envId(2) }, 200))
    assert.isTrue(yield* replace(firing, 200))
    assert.deepStrictEqual(yield* get(one), firing)
    assert.deepStrictEqual(yield* claim(300, 400), [])
  }),

  check("removes a rule of its own environment, and reports the next due time", function* () {
    const journal = yield* JournalStore
    const next = Effect.map(journal.findPendingWork(nodeId(1), at(0)), ({ next_alert_at }) => next_alert_at)
    assert.isNull(yield* next)
    const one = alert(7)
    yield* insert(one, alert(3, { enabled: false }))
    assert.strictEqual(yield* next, at(7))
    const remove = (env: number) => store((rules) => rules.remove(envId(env), one.alert_id))
    assert.strictEqual((yield* Effect.flip(remove(2)))._tag, "NotFound")
    yield* remove(1)
    assert.isNull(yield* next)
    assert.strictEqual((yield* Effect.flip(remove(1)))._tag, "NotFound")
  }),

  check("counts due deliveries of a scope, and since when the oldest waits", function* () {
    yield* JournalStore.use((journal) =>
      journal.commit(
        [
          waiting(1),
          waiting(2, {}, { var: "other" }),
          waiting(3, {}, { project_id: projectId(2), project_name: "b" }),
          waiting(4, {}, { due_at: at(500) }),
          waiting(5, { env_id: envId(2) })
        ],
        null
      )
    )
    const backlog = (scope: Partial<Alert>, now: number, limit = 10) =>
      store((rules) => rules.backlog(alert(1, scope), at(now), limit))
    const scope = { project_id: projectId(1), project_name: "shop" }
    const whole = yield* backlog({}, 100)
    assert.strictEqual(whole.deliveries, 3)
    assert.isNotNull(whole.oldest)
    assert.strictEqual((yield* backlog({}, 600)).deliveries, 4)
    assert.strictEqual((yield* backlog({}, 600, 2)).deliveries, 2)
    assert.strictEqual((yield* backlog(scope, 100)).deliveries, 2)
    assert.strictEqual((yield* backlog({ ...scope, ns: "main", var: "other" }, 100)).deliveries, 1)
    assert.deepStrictEqual(yield* backlog({ env_id: envId(3) }, 100), { deliveries: 0, oldest: null })
  })
]
