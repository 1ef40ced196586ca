/** Functions read the secrets of their project, and their stored runs do not contain them. */
import { assert, describe, it } from "@effect/vitest"
import { ContextVariables, type Env, layer, Plans, Projects, Runs } from "@weft/core"
import { ContextVariableStore, Keyring, type Run } from "@weft/core/adapter"
import { ProjectSecrets } from "@weft/core/internal"
import { MemoryStores, type TrustedModule, type TrustedSvc, trustedSandbox } from "@weft/core/testing"
import { Context, Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import { asHost, deployed, masterKeys, publish, runsOf, settle, world } from "../../world.ts"

type Svc = TrustedSvc

const on = (event: string, fn: (event: { event_data: string }, svc: Svc) => unknown) =>
  Object.assign(fn, { meta: { event } })

const main = {
  get: on("get", (event, svc) => svc.context.get(event.event_data)),
  all: on("all", (_, svc) => svc.context.all()),
  logs: on("logs", async (event, svc) => {
    svc.log.info("before t0p s3cret", { early: "t0p s3cret" })
    const value = await svc.context.get(event.event_data)
    svc.log.warn(`after ${value}`, { value, text: JSON.stringify({ value }) })
    svc.log.info("plain", { n: 1.5 })
    return value
  }),
  throws: on("throws", async (_, svc) => {
    const all = await svc.context.all()
    throw Object.assign(new RangeError(`bad ${JSON.stringify(all)}`), { name: `Bad ${Object.values(Object(all))[0]}` })
  }),
  silent: on("silent", (event, svc) => {
    svc.log.info("t0p s3cret", { a: "t0p s3cret" })
    throw new Error(`t0p s3cret ${event.event_data}`)
  })
}
const modules: Record<string, TrustedModule> = { shop: { main }, other: { main } }

const set = (env: Env, project: string, key: string, value: string) =>
  asHost(env, Effect.asVoid(ContextVariables.use((variables) => variables.create(project, { key, value }))))

const change = (env: Env, project: string, key: string, value: string) =>
  asHost(env, Effect.asVoid(ContextVariables.use((variables) => variables.update(project, key, { value }))))

/** Returns the run of an event of this type, after it has ended. */
const ran = Effect.fnUntraced(function* (env: Env, type: string, data = "") {
  const { event_id } = yield* publish(env, type, data)
  for (;;) {
    yield* settle
    const [run] = yield* runsOf(env, event_id)
    // Decryption takes a moment of real time.
    if (run !== undefined && run.status !== "running") return run
  }
})

const resultOf = ({ result }: Run): unknown => JSON.parse(result ?? "null")

const logsOf = (env: Env, run: Run) =>
  asHost(
    env,
    Effect.map(
      Runs.use((runs) => runs.logs(run.run_id, { limit: 100, offset: 0 })),
      ({ items }) => items.map(({ level, message, data }) => [level, message, data === null ? null : JSON.parse(data)])
    )
  )

describe("a function", () => {
  it.effect("reads the current secrets of its own project", () =>
    Effect.gen(function* () {
      const env = yield* deployed("shop")
      yield* set(env, "shop", "TOKEN", "t0p s3cret")
      yield* set(env, "shop", "__proto__", "own")
      assert.strictEqual(resultOf(yield* ran(env, "get", "TOKEN")), "t0p s3cret")
      assert.strictEqual(resultOf(yield* ran(env, "get", "NONE")), null)
      assert.strictEqual((yield* ran(env, "all")).result, '{"TOKEN":"t0p s3cret","__proto__":"own"}')

      yield* change(env, "shop", "TOKEN", "changed")
      assert.strictEqual(resultOf(yield* ran(env, "get", "TOKEN")), "changed")
      yield* asHost(
        env,
        ContextVariables.use((variables) => variables.remove("shop", "TOKEN"))
      )
      assert.strictEqual(resultOf(yield* ran(env, "get", "TOKEN")), null)
    }).pipe(Effect.provide(world(modules)))
  )

  it.effect("reads no secret of another project or environment", () =>
    Effect.gen(function* () {
      const env = yield* deployed("shop")
      yield* asHost(
        env,
        Projects.use((projects) => projects.create({ name: "neighbour" }))
      )
      yield* set(env, "neighbour", "TOKEN", "of the neighbour")
      const other = yield* deployed("other")
      yield* set(other, "other", "TOKEN", "of the other")
      assert.strictEqual(resultOf(yield* ran(env, "get", "TOKEN")), null)
      assert.deepStrictEqual(resultOf(yield* ran(env, "all")), {})
      assert.strictEqual(resultOf(yield* ran(other, "get", "TOKEN")), "of the other")
    }).pipe(Effect.provide(world(modules)))
  )

  it.effect("does not show secrets that it read in its log, before or after reading", () =>
    Effect.gen(function* () {
      const env = yield* deployed("shop")
      yield* set(env, "shop", "TOKEN", "t0p s3cret")
      const run = yield* ran(env, "logs", "TOKEN")
      assert.deepStrictEqual(yield* logsOf(env, run), [
        ["info", "before ***", { early: "***" }],
        ["warn", "after ***", { value: "***", text: '{"value":"***"}' }],
        ["info", "plain", { n: 1.5 }]
      ])
      // The result is for the caller.
      assert.strictEqual(resultOf(run), "t0p s3cret")
    }).pipe(Effect.provide(world(modules)))
  )

  it.effect("does not show a secret that it read in its failure", () =>
    Effect.gen(function* () {
      const env = yield* deployed("shop")
      yield* set(env, "shop", "TOKEN", 't0p "s3cret"')
      const run = yield* ran(env, "throws")
      assert.strictEqual(run.status, "failed")
      assert.notInclude(run.result, "s3cret")
      const { error } = Object(resultOf(run))
      assert.include(error, { name: "Bad ***", message: 'bad {"TOKEN":"***"}' })
      assert.include(error.stack, '"***"')
    }).pipe(Effect.provide(world(modules)))
  )

  it.effect("may show a value that it did not read", () =>
    Effect.gen(function* () {
      const env = yield* deployed("shop")
      yield* set(env, "shop", "TOKEN", "t0p s3cret")
      const run = yield* ran(env, "silent")
      assert.deepStrictEqual(yield* logsOf(env, run), [["info", "t0p s3cret", { a: "t0p s3cret" }]])
      assert.include(run.result, "t0p s3cret")
    }).pipe(Effect.provide(world(modules)))
  )

  it.effect("receives an error for a secret that cannot be decrypted, with its key, while others can be", () =>
    Effect.gen(function* () {
      const stores = yield* Layer.build(MemoryStores.layer)
      const former = yield* Layer.build(Layer.provide(Keyring.layer(masterKeys), SecureRandom.layerWebCrypto))
      const lostMasterKeys = [Context.get(former, Keyring).keyId]
      const on = (...keys: Parameters<typeof layer>[0]["masterKeys"]) =>
        layer({ masterKeys: keys, lostMasterKeys }).pipe(
          Layer.provideMerge(Layer.succeedContext(stores)),
          Layer.provide(trustedSandbox(modules))
        )
      const env = yield* Effect.gen(function* () {
        const env = yield* deployed("shop")
        yield* set(env, "shop", "OLD", "t0p s3cret")
        return env
      }).pipe(Effect.provide(on(...masterKeys)))
      yield* Effect.gen(function* () {
        yield* set(env, "shop", "NEW", "encrypted again")
        assert.strictEqual(resultOf(yield* ran(env, "get", "NEW")), "encrypted again")
        const { error } = Object(resultOf(yield* ran(env, "get", "OLD")))
        assert.deepInclude(error, {
          name: "SecretUnreadable",
          message: "The server cannot decrypt the context variable OLD"
        })
        assert.strictEqual(Object(resultOf(yield* ran(env, "all"))).error.name, "SecretUnreadable")
      }).pipe(Effect.provide(on(Redacted.make(new Uint8Array(32).fill(8)))))
    })
  )
})

describe("ProjectSecrets", () => {
  const counted = Effect.gen(function* () {
    const stores = yield* Layer.build(MemoryStores.layer)
    const queries = { n: 0 }
    const counting = Layer.effect(
      ContextVariableStore,
      Effect.map(ContextVariableStore, (store) => ({
        ...store,
        all: (...args: Parameters<typeof store.all>) =>
          Effect.tap(store.all(...args), () => Effect.sync(() => queries.n++))
      }))
    ).pipe(Layer.provide(Layer.succeedContext(stores)))
    const services = yield* Layer.build(
      layer({ masterKeys }).pipe(
        Layer.provideMerge(Layer.merge(Layer.succeedContext(stores), counting)),
        Layer.provide(trustedSandbox(modules))
      )
    )
    const node = yield* Layer.build(
      ProjectSecrets.layer.pipe(
        Layer.provide(Layer.merge(Keyring.layer(masterKeys), Plans.layer())),
        Layer.provide(SecureRandom.layerWebCrypto),
        Layer.provideMerge(Layer.merge(Layer.succeedContext(stores), counting))
      )
    )
    return { services, node, queries }
  })

  it.effect("queries the store once for many readers, and again after a message or a second", () =>
    Effect.gen(function* () {
      const { services, node, queries } = yield* counted
      yield* Effect.gen(function* () {
        const env = yield* deployed("shop")
        yield* set(env, "shop", "A", "one")
        const { project_id } = yield* asHost(
          env,
          Projects.use((projects) => projects.get("shop"))
        )
        const secrets = yield* Effect.provideContext(ProjectSecrets, node)
        const read = secrets.get(env.env_id, project_id, "A")
        yield* settle
        const before = queries.n
        assert.deepStrictEqual(yield* Effect.replicateEffect(read, 50, { concurrency: 50 }), Array(50).fill("one"))
        assert.strictEqual(queries.n, before + 1)

        // Another node changed it and sent the message.
        yield* change(env, "shop", "A", "two")
        yield* settle
        const queriesBefore = queries.n
        assert.strictEqual(yield* read, "two")
        assert.strictEqual(queries.n, queriesBefore + 1)

        // Another node changed it and the message was lost.
        const store = yield* ContextVariableStore
        yield* store.remove(env.env_id, project_id, "A")
        assert.strictEqual(yield* read, "two")
        yield* TestClock.adjust("1 second")
        assert.strictEqual(yield* read, null)
      }).pipe(Effect.provide(services))
    })
  )
})
