import { assert, describe, it } from "@effect/vitest"
import { MemoryStores } from "@weft/core/testing"
import { Context, Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { EnvId, ProjectId } from "../../../src/foundation/Ids.ts"
import { Timestamp } from "../../../src/foundation/time/Timestamp.ts"
import { KeyRotation } from "../../../src/platform/encryption/KeyRotation.ts"
import { Keyring, type MasterKeys, type SealContext } from "../../../src/platform/encryption/Keyring.ts"
import { keyIdOf, type Sealed } from "../../../src/platform/encryption/Sealed.ts"
import { SealedStore } from "../../../src/platform/encryption/SealedStore.ts"
import { Project } from "../../../src/resources/projects/Project.ts"
import { ProjectStore } from "../../../src/resources/projects/ProjectStore.ts"
import { ContextVariable, contextPlace } from "../../../src/resources/secrets/ContextVariable.ts"
import { ContextVariableStore } from "../../../src/resources/secrets/ContextVariableStore.ts"

const key = (byte: number) => Redacted.make(new Uint8Array(32).fill(byte))
const env_id = EnvId.make("01890000-0000-7000-8000-000000000001")
const project_id = ProjectId.make("01890000-0000-7000-8000-000000000002")
const instant = Timestamp.make(1)

const keyring = (...keys: MasterKeys) =>
  Effect.map(Layer.build(Layer.provide(Keyring.layer(keys), SecureRandom.layerWebCrypto)), (context) =>
    Context.get(context, Keyring)
  )

const place = (name: string): SealContext => contextPlace(project_id, name)

/** Creates stores with `count` values that key 1 sealed; each value contains its name. */
const scene = Effect.fnUntraced(function* (count: number) {
  const stores = yield* Layer.build(MemoryStores.layer)
  const variables = Context.get(stores, ContextVariableStore)
  const project = new Project({ project_id, env_id, name: "p", active: true, created_at: instant, updated_at: instant })
  yield* Context.get(stores, ProjectStore).insert(project)
  const old = yield* keyring(key(1))
  const put = Effect.fnUntraced(function* (name: string, value: Sealed) {
    const fields = { project_id, env_id, key: name, value, description: "", created_at: instant, updated_at: instant }
    yield* variables.insert(new ContextVariable(fields))
  })
  for (let n = 0; n < count; n++) yield* put(`K${n}`, yield* old.seal(`value ${n}`, place(`K${n}`)))

  /** Opens all values with the keys, in the order of their numbers. */
  const openAll = Effect.fnUntraced(function* (...keys: MasterKeys) {
    const ring = yield* keyring(...keys)
    const all = yield* variables.all(env_id, project_id)
    return yield* Effect.forEach(all, ({ key, value }) => Effect.result(ring.open(value, place(key))))
  })
  const sealedStore = Context.get(stores, SealedStore)
  const rotation = (store: SealedStore["Service"], ...keys: MasterKeys) =>
    Effect.gen(function* () {
      const parts = Layer.merge(Layer.succeed(SealedStore, store), Layer.succeed(Keyring, yield* keyring(...keys)))
      const context = yield* Layer.build(Layer.provide(KeyRotation.layer, parts))
      return yield* Context.get(context, KeyRotation).rotateKeys
    })
  return { variables, put, old, openAll, sealedStore, rotation }
})

describe("KeyRotation", () => {
  it.effect("reseals all values, so that the former key can be removed", () =>
    Effect.gen(function* () {
      const { openAll, sealedStore, rotation } = yield* scene(250)
      const { keyId } = yield* keyring(key(2))
      assert.deepStrictEqual(yield* rotation(sealedStore, key(2), key(1)), {
        key_id: keyId,
        resealed: 250,
        unreadable: 0
      })
      const opened = yield* openAll(key(2))
      assert.deepStrictEqual(
        opened.map((one) => (one._tag === "Success" ? one.success : one._tag)).sort(),
        Array.from({ length: 250 }, (_, n) => `value ${n}`).sort()
      )
      assert.isTrue((yield* openAll(key(1))).every((one) => one._tag === "Failure"))
      assert.strictEqual((yield* rotation(sealedStore, key(2), key(1))).resealed, 0)
    })
  )

  it.effect("keeps values that no key opens, reports their number, and reseals the rest", () =>
    Effect.gen(function* () {
      const { put, openAll, sealedStore, rotation } = yield* scene(150)
      const lost = yield* keyring(key(9))
      for (let n = 0; n < 150; n++) yield* put(`A${n}`, yield* lost.seal("lost", place(`A${n}`)))
      const { resealed, unreadable } = yield* rotation(sealedStore, key(2), key(1))
      assert.deepStrictEqual({ resealed, unreadable }, { resealed: 150, unreadable: 150 })
      assert.strictEqual((yield* openAll(key(2))).filter((one) => one._tag === "Success").length, 150)
      assert.strictEqual((yield* openAll(key(9))).filter((one) => one._tag === "Success").length, 150)
    })
  )

  it.effect("does not overwrite a concurrent change", () =>
    Effect.gen(function* () {
      const { variables, old, sealedStore, rotation } = yield* scene(1)
      const changed = yield* old.seal("changed", place("K0"))
      let changes = 0
      const racing: SealedStore["Service"] = {
        ...sealedStore,
        replace: (value, next) =>
          Effect.suspend(() => {
            const change = changes++ === 0 ? { value: changed, updated_at: instant } : { updated_at: instant }
            return Effect.andThen(variables.update(env_id, project_id, "K0", change), sealedStore.replace(value, next))
          }).pipe(Effect.catchTag("NotFound", Effect.die))
      }
      assert.strictEqual((yield* rotation(racing, key(2), key(1))).resealed, 1)
      const ring = yield* keyring(key(2))
      const { value } = yield* variables.get(env_id, project_id, "K0")
      assert.strictEqual(yield* ring.open(value, place("K0")), "changed")
    })
  )

  it.effect("may be stopped at any step and repeated, also concurrently", () =>
    Effect.gen(function* () {
      for (let steps = 0; steps <= 6; steps++) {
        const { variables, openAll, sealedStore, rotation } = yield* scene(5)
        let replaced = 0
        const stopping: SealedStore["Service"] = {
          ...sealedStore,
          replace: (value, next) => (replaced++ === steps ? Effect.interrupt : sealedStore.replace(value, next))
        }
        yield* Effect.exit(rotation(stopping, key(2), key(1)))
        assert.isTrue((yield* openAll(key(2), key(1))).every((one) => one._tag === "Success"))

        yield* Effect.replicateEffect(rotation(sealedStore, key(2), key(1)), 4, { concurrency: 4 })
        const { keyId } = yield* keyring(key(2))
        const all = yield* variables.all(env_id, project_id)
        assert.deepStrictEqual(
          all.map(({ value }) => keyIdOf(value)),
          Array(5).fill(keyId)
        )
      }
    })
  )
})
