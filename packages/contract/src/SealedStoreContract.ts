/** What every `SealedStore` must do. Adapters run this suite; they do not copy it. */
import { assert } from "@effect/vitest"
import {
  ContextVariableStore,
  contextPlace,
  DomainStore,
  type Place,
  ProjectStore,
  SealedStore,
  type SealedValue,
  ServiceKeyStore,
  SessionStore,
  TenantStore
} from "@weft/core"
import { Effect, type Layer } from "effect"
import { serviceKey, serviceKeyId, session, sessionId } from "./AccessSamples.ts"
import { type Check, check, suite } from "./Check.ts"
import { at, env, envId, org, project, projectId } from "./Samples.ts"
import { certified, certifiedId, sealedBy, variable } from "./SecretSamples.ts"

type Stores =
  | SealedStore
  | ContextVariableStore
  | ProjectStore
  | SessionStore
  | ServiceKeyStore
  | DomainStore
  | TenantStore

export const sealedStoreContract = <E>(adapter: string, layer: Layer.Layer<Stores, E>) =>
  suite(`SealedStore contract: ${adapter}`, sealedStoreChecks, layer)

const [former, current] = ["0123456789abcdef", "fedcba9876543210"]

/** Variables of project 1, whose values key `keyId` sealed. */
const variables = Effect.fnUntraced(function* (keyId: string, ...keys: ReadonlyArray<string>) {
  const store = yield* ContextVariableStore
  for (const key of keys) yield* store.insert(variable(key, { value: sealedBy(keyId, key) }))
})

const placeOf = (key: string): Place => contextPlace(projectId(1), key)

const certificate = {
  domain_id: certifiedId,
  chain: "chain",
  private_key: sealedBy(former, "certificate"),
  not_after: at(1000),
  renew_at: at(500)
}

/** All pages of `limit`, one after the other. */
const pages = Effect.fnUntraced(function* (keyId: string, limit: number) {
  const store = yield* SealedStore
  const found: Array<SealedValue> = []
  for (let after: Place | null = null; ; ) {
    const page: ReadonlyArray<SealedValue> = yield* store.sealedByOthers(keyId, { after, limit })
    assert.isAtMost(page.length, limit)
    found.push(...page)
    after = page.at(-1)?.place ?? null
    if (after === null) return found
  }
})

const sorted = (values: ReadonlyArray<SealedValue>) =>
  values.map(({ place, sealed }) => `${place.table} ${place.id} ${sealed}`).sort()

/** A value in each table, which the former key sealed, and a null where that may be. */
const everyTable = Effect.gen(function* () {
  yield* ProjectStore.use((store) => store.insert(project(1)))
  yield* variables(former, "A")
  const sessions = yield* SessionStore
  yield* sessions.insert(session(1, { metadata: sealedBy(former, "session") }), at(1), 10)
  yield* sessions.insert(session(2), at(1), 10)
  const serviceKeys = yield* ServiceKeyStore
  yield* serviceKeys.insert(serviceKey(1, { metadata: sealedBy(former, "service key") }))
  yield* serviceKeys.insert(serviceKey(2))
  yield* TenantStore.use((store) => Effect.andThen(store.insertOrg(org(1)), store.insertEnv(env(1))))
  const domains = yield* DomainStore
  yield* domains.insert(certified, -1)
  assert.isTrue(yield* domains.settle(certified, certificate))
  // The compiler knows when a table is missing here.
  const values: Readonly<Record<Place["table"], SealedValue>> = {
    context_variables: { place: placeOf("A"), sealed: sealedBy(former, "A") },
    sessions: { place: { table: "sessions", id: sessionId(1) }, sealed: sealedBy(former, "session") },
    service_keys: { place: { table: "service_keys", id: serviceKeyId(1) }, sealed: sealedBy(former, "service key") },
    certificates: { place: { table: "certificates", id: certifiedId }, sealed: sealedBy(former, "certificate") }
  }
  return Object.values(values)
})

export const sealedStoreChecks: ReadonlyArray<Check<Stores>> = [
  check("the values of every table are found, by pages of any size", function* () {
    const values = yield* everyTable
    for (const limit of [1, 2, 3, 100]) {
      assert.deepStrictEqual(sorted(yield* pages(current, limit)), sorted(values))
      assert.deepStrictEqual(yield* pages(former, limit), [])
    }
  }),

  check("the values of every table are replaced where they stand, and nothing else is", function* () {
    const values = yield* everyTable
    const store = yield* SealedStore
    for (const value of values) assert.isTrue(yield* store.replace(value, sealedBy(current, value.place.table)))
    assert.deepStrictEqual(yield* pages(current, 100), [])
    assert.deepStrictEqual(
      sorted(yield* pages(former, 100)),
      sorted(values.map(({ place }) => ({ place, sealed: sealedBy(current, place.table) })))
    )
    const sessions = yield* SessionStore
    assert.deepStrictEqual(yield* sessions.find(sessionId(1)), session(1, { metadata: sealedBy(current, "sessions") }))
    assert.deepStrictEqual(yield* sessions.find(sessionId(2)), session(2))
    const read = yield* ContextVariableStore.use((store) => store.get(envId(1), projectId(1), "A"))
    assert.deepStrictEqual(read, variable("A", { value: sealedBy(current, "context_variables") }))
  }),

  check("values of a table come once each, also when earlier ones are replaced between pages", function* () {
    yield* ProjectStore.use((store) => store.insert(project(1)))
    yield* ProjectStore.use((store) => store.insert(project(2)))
    yield* variables(former, "a", "B", "_", "a.b", "a-b")
    yield* variables(current, "kept")
    const others = yield* ContextVariableStore
    yield* others.insert(variable("A", { project_id: projectId(2) }))
    const store = yield* SealedStore
    const found: Array<SealedValue> = []
    for (let after: Place | null = null; ; ) {
      const page: ReadonlyArray<SealedValue> = yield* store.sealedByOthers(current, { after, limit: 2 })
      for (const value of page) assert.isTrue(yield* store.replace(value, sealedBy(current, "anew")))
      found.push(...page)
      after = page.at(-1)?.place ?? null
      if (after === null) break
    }
    assert.deepStrictEqual(
      found.map(({ place }) => place.id).sort(),
      [...["a", "B", "_", "a.b", "a-b"].map((key) => placeOf(key).id), contextPlace(projectId(2), "A").id].sort()
    )
  }),

  check("a value that is no longer there is not replaced", function* () {
    yield* ProjectStore.use((store) => store.insert(project(1)))
    yield* variables(former, "A", "B")
    const store = yield* SealedStore
    const seen = { place: placeOf("A"), sealed: sealedBy(former, "A") }
    const update = { value: sealedBy(former, "changed"), updated_at: at(5) }
    yield* ContextVariableStore.use((variables) => variables.update(envId(1), projectId(1), "A", update))
    assert.isFalse(yield* store.replace(seen, sealedBy(current, "A")))
    assert.isFalse(yield* store.replace({ ...seen, place: placeOf("B") }, sealedBy(current, "A")))
    assert.isFalse(yield* store.replace({ ...seen, place: placeOf("C") }, sealedBy(current, "A")))
    assert.isFalse(yield* store.replace({ ...seen, place: { table: "sessions", id: "x" } }, sealedBy(current, "A")))
    assert.deepStrictEqual(sorted(yield* pages(current, 10)), [
      `context_variables ${placeOf("A").id} ${sealedBy(former, "changed")}`,
      `context_variables ${placeOf("B").id} ${sealedBy(former, "B")}`
    ])
  }),

  check("of two replacements at once, one counts", function* () {
    yield* ProjectStore.use((store) => store.insert(project(1)))
    yield* variables(former, "A")
    const store = yield* SealedStore
    const seen = { place: placeOf("A"), sealed: sealedBy(former, "A") }
    const outcomes = yield* Effect.forEach(
      ["one", "two", "three"],
      (text) => store.replace(seen, sealedBy(current, text)),
      { concurrency: 3 }
    )
    assert.strictEqual(outcomes.filter((replaced) => replaced).length, 1)
  })
]
