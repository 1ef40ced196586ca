/** Contract of `SealedStore`. Adapters run this suite; they do not copy it. */
import { assert } from "@effect/vitest"
import {
  ContextVariableStore,
  contextPlace,
  DomainStore,
  ProjectStore,
  RecordingStore,
  recordingPlace,
  type SealContext,
  SealedStore,
  type SealedValue,
  ServiceKeyStore,
  SessionStore,
  TenantStore,
  tokenPlace,
  WorkflowTokenStore
} from "@weft/core/adapter"
import { Effect, type Layer } from "effect"
import { serviceKey, serviceKeyId, session, sessionId } from "./AccessSamples.ts"
import { type Check, check, suite } from "./Check.ts"
import { recording } from "./RecordingSamples.ts"
import { at, deliveryId, env, envId, org, project, projectId } from "./Samples.ts"
import { certified, certifiedId, sealWith, variable } from "./SecretSamples.ts"
import { commit, started, token, type WorkflowStores } from "./WorkflowSamples.ts"

type Stores =
  | SealedStore
  | ContextVariableStore
  | ProjectStore
  | SessionStore
  | ServiceKeyStore
  | DomainStore
  | TenantStore
  | RecordingStore
  | WorkflowStores

export const sealedStoreContract = <E>(adapter: string, layer: Layer.Layer<Stores, E>) =>
  suite(`SealedStore contract: ${adapter}`, sealedStoreChecks, layer)

const [former, current] = ["0123456789abcdef", "fedcba9876543210"]

/** Stores variables of project 1 with values sealed by key `keyId`. */
const variables = Effect.fnUntraced(function* (keyId: string, ...keys: ReadonlyArray<string>) {
  const store = yield* ContextVariableStore
  for (const key of keys) yield* store.insert(variable(key, { value: sealWith(keyId, key) }))
})

const toPlace = (key: string): SealContext => contextPlace(projectId(1), key)

const certificate = {
  domain_id: certifiedId,
  chain: "chain",
  private_key: sealWith(former, "certificate"),
  not_after: at(1000),
  renew_at: at(500)
}

/** Reads all pages of `limit` values. */
const pages = Effect.fnUntraced(function* (keyId: string, limit: number) {
  const store = yield* SealedStore
  const found: Array<SealedValue> = []
  for (let after: SealContext | null = null; ; ) {
    const page: ReadonlyArray<SealedValue> = yield* store.sealedByOthers(keyId, { after, limit })
    assert.isAtMost(page.length, limit)
    found.push(...page)
    after = page.at(-1)?.place ?? null
    if (after === null) return found
  }
})

const sorted = (values: ReadonlyArray<SealedValue>) =>
  values.map(({ place, sealed }) => `${place.table} ${place.id} ${sealed}`).sort()

/** Stores a value sealed by the former key in each table, and a null where it is allowed. */
const everyTable = Effect.gen(function* () {
  yield* ProjectStore.use((store) => store.insert(project(1)))
  yield* variables(former, "A")
  const sessions = yield* SessionStore
  yield* sessions.insert(session(1, { metadata: sealWith(former, "session") }), at(1), 10)
  yield* sessions.insert(session(2), at(1), 10)
  const serviceKeys = yield* ServiceKeyStore
  yield* serviceKeys.insert(serviceKey(1, { metadata: sealWith(former, "service key") }))
  yield* serviceKeys.insert(serviceKey(2))
  yield* TenantStore.use((store) => Effect.andThen(store.insertOrg(org(1)), store.insertEnv(env(1))))
  const domains = yield* DomainStore
  yield* domains.insert(certified, -1)
  assert.isTrue(yield* domains.settle(certified, certificate))
  const stored = token(1, 0, { secret: sealWith(former, "token") })
  yield* commit(started(1))
  yield* WorkflowTokenStore.use((store) => store.create(stored, deliveryId(1)))
  const recorded = recording(1, { contents: sealWith(former, "recording") })
  yield* RecordingStore.use((store) => store.save([recorded]))
  // The type requires an entry for each table.
  const values: Readonly<Record<SealContext["table"], SealedValue>> = {
    context_variables: { place: toPlace("A"), sealed: sealWith(former, "A") },
    sessions: { place: { table: "sessions", id: sessionId(1) }, sealed: sealWith(former, "session") },
    service_keys: { place: { table: "service_keys", id: serviceKeyId(1) }, sealed: sealWith(former, "service key") },
    certificates: { place: { table: "certificates", id: certifiedId }, sealed: sealWith(former, "certificate") },
    workflow_tokens: { place: tokenPlace(stored), sealed: stored.secret },
    run_recordings: { place: recordingPlace(recorded), sealed: recorded.contents }
  }
  return Object.values(values)
})

export const sealedStoreChecks: ReadonlyArray<Check<Stores>> = [
  check("finds the values of every table, with pages of any size", function* () {
    const values = yield* everyTable
    for (const limit of [1, 2, 3, 100]) {
      assert.deepStrictEqual(sorted(yield* pages(current, limit)), sorted(values))
      assert.deepStrictEqual(yield* pages(former, limit), [])
    }
  }),

  check("replaces the values of every table in place, and nothing else", function* () {
    const values = yield* everyTable
    const store = yield* SealedStore
    for (const value of values) assert.isTrue(yield* store.replace(value, sealWith(current, value.place.table)))
    assert.deepStrictEqual(yield* pages(current, 100), [])
    assert.deepStrictEqual(
      sorted(yield* pages(former, 100)),
      sorted(values.map(({ place }) => ({ place, sealed: sealWith(current, place.table) })))
    )
    const sessions = yield* SessionStore
    assert.deepStrictEqual(yield* sessions.find(sessionId(1)), session(1, { metadata: sealWith(current, "sessions") }))
    assert.deepStrictEqual(yield* sessions.find(sessionId(2)), session(2))
    const read = yield* ContextVariableStore.use((store) => store.get(envId(1), projectId(1), "A"))
    assert.deepStrictEqual(read, variable("A", { value: sealWith(current, "context_variables") }))
  }),

  check("returns each value of a table once, also when earlier ones are replaced between pages", function* () {
    yield* ProjectStore.use((store) => store.insert(project(1)))
    yield* ProjectStore.use((store) => store.insert(project(2)))
    yield* variables(former, "a", "B", "_", "a.b", "a-b")
    yield* variables(current, "kept")
    const others = yield* ContextVariableStore
    yield* others.insert(variable("A", { project_id: projectId(2) }))
    const store = yield* SealedStore
    const found: Array<SealedValue> = []
    for (let after: SealContext | null = null; ; ) {
      const page: ReadonlyArray<SealedValue> = yield* store.sealedByOthers(current, { after, limit: 2 })
      for (const value of page) assert.isTrue(yield* store.replace(value, sealWith(current, "resealed")))
      found.push(...page)
      after = page.at(-1)?.place ?? null
      if (after === null) break
    }
    assert.deepStrictEqual(
      found.map(({ place }) => place.id).sort(),
      [...["a", "B", "_", "a.b", "a-b"].map((key) => toPlace(key).id), contextPlace(projectId(2), "A").id].sort()
    )
  }),

  check("does not replace a value that has changed or was removed", function* () {
    yield* ProjectStore.use((store) => store.insert(project(1)))
    yield* variables(former, "A", "B")
    const store = yield* SealedStore
    const seen = { place: toPlace("A"), sealed: sealWith(former, "A") }
    const update = { value: sealWith(former, "changed"), updated_at: at(5) }
    yield* ContextVariableStore.use((variables) => variables.update(envId(1), projectId(1), "A", update))
    assert.isFalse(yield* store.replace(seen, sealWith(current, "A")))
    assert.isFalse(yield* store.replace({ ...seen, place: toPlace("B") }, sealWith(current, "A")))
    assert.isFalse(yield* store.replace({ ...seen, place: toPlace("C") }, sealWith(current, "A")))
    assert.isFalse(yield* store.replace({ ...seen, place: { table: "sessions", id: "x" } }, sealWith(current, "A")))
    assert.deepStrictEqual(sorted(yield* pages(current, 10)), [
      `context_variables ${toPlace("A").id} ${sealWith(former, "changed")}`,
      `context_variables ${toPlace("B").id} ${sealWith(former, "B")}`
    ])
  }),

  check("applies one of two concurrent replacements", function* () {
    yield* ProjectStore.use((store) => store.insert(project(1)))
    yield* variables(former, "A")
    const store = yield* SealedStore
    const seen = { place: toPlace("A"), sealed: sealWith(former, "A") }
    const outcomes = yield* Effect.forEach(
      ["one", "two", "three"],
      (text) => store.replace(seen, sealWith(current, text)),
      { concurrency: 3 }
    )
    assert.strictEqual(outcomes.filter((replaced) => replaced).length, 1)
  })
]
