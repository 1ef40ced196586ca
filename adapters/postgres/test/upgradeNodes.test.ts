/** A node of the last release and one of the current release on one database and queue. */
import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Builds, type Env, Events, hostIdentity, layer, Projects, Runs, Tenants, type WeftServices } from "@weft/core"
import type { BlobStore, ClusterBus } from "@weft/core/adapter"
import { MemoryStores, trustedSandbox, trustedZip } from "@weft/core/testing"
import { database } from "@weft/postgres"
import { Effect, Exit, Layer, Redacted, Scope } from "effect"
import { asCaller, forBoth } from "./Former.ts"
import { freshDatabase } from "./Fresh.ts"
import { previous } from "./PreviousRelease.ts"

/** Results of the functions of both nodes. */
class Work {
  readonly ended = new Map<string, Array<string>>()
  readonly failed = new Set<string>()
  readonly ticks: Array<string> = []
  now = 0
  peak = 0

  async handle(node: string, name: string, fails: boolean): Promise<string> {
    this.now++
    this.peak = Math.max(this.peak, this.now)
    await new Promise((resolve) => setTimeout(resolve, 20))
    this.now--
    if (fails && !this.failed.has(name)) {
      this.failed.add(name)
      throw new Error("the first attempt")
    }
    this.ended.set(name, [...(this.ended.get(name) ?? []), node])
    return node
  }
}

const limit = 3

const makeModules = (work: Work, node: string) => {
  type Given = { readonly event_data: { readonly name: string; readonly fails: boolean } }
  const job = ({ event_data: { name, fails } }: Given) => work.handle(node, name, fails)
  const meta = { event: "job", concurrency: { limit }, retry: { attempts: 2, delay: "100ms" } }
  const tick = (given: unknown) => {
    const [, time] = /"scheduled_time":"([^"]+)"/.exec(JSON.stringify(given)) ?? []
    if (time === undefined) throw new Error("The tick has no scheduled_time")
    work.ticks.push(time)
  }
  return {
    app: {
      main: { job: Object.assign(job, { meta }), tick: Object.assign(tick, { meta: { schedule: "* * * * * *" } }) }
    }
  }
}

const masterKeys = [Redacted.make(new Uint8Array(32).fill(7))] as const

const asHost = <A, E, R>(env: Env, effect: Effect.Effect<A, E, R>) => asCaller(hostIdentity(env.env_id), effect)

const deployed = Effect.gen(function* () {
  const tenants = yield* Tenants
  const org = yield* tenants.createOrg({ slug: "acme" })
  const env = yield* tenants.createEnv(org.org_id, { name: "production" })
  const zip = trustedZip("app")
  const hash = createHash("sha256").update(zip).digest("hex")
  yield* asHost(
    env,
    Effect.gen(function* () {
      yield* Projects.use((projects) => projects.create({ name: "app" }))
      const { build } = yield* Builds.use((builds) => builds.upload("app", { zip, hash }))
      yield* Builds.use((builds) => builds.deploy("app", build.build_id))
    })
  )
  return env
})

const count = 60

describe("nodes of two releases", () => {
  it.live(
    "share one queue: every event is handled once, both nodes take part, and no limit is exceeded",
    () =>
      Effect.gen(function* () {
        const url = yield* freshDatabase
        const work = new Work()
        const common = forBoth(yield* Layer.build(Layer.merge(MemoryStores.blobs, MemoryStores.cluster)))
        const begin = Effect.fnUntraced(function* (node: Layer.Layer<WeftServices, unknown, BlobStore | ClusterBus>) {
          const scope = yield* Scope.make()
          const services = forBoth(
            yield* Layer.buildWithScope(Layer.provide(node, Layer.succeedContext(common)), scope)
          )
          return {
            on: <A, E>(effect: Effect.Effect<A, E, WeftServices>) => Effect.provideContext(effect, services),
            end: Scope.close(scope, Exit.void)
          }
        })
        const old = yield* begin(
          previous.core
            .layer({ masterKeys })
            .pipe(
              Layer.provide(previous.core.trustedSandbox(makeModules(work, "old"))),
              Layer.provide(previous.stores({ url }))
            )
        )
        const today = yield* begin(
          layer({ masterKeys }).pipe(
            Layer.provide(trustedSandbox(makeModules(work, "today"))),
            Layer.provide(database({ url }))
          )
        )
        const env = yield* today.on(deployed)
        yield* Effect.sleep("1 second")
        const publish = (n: number) =>
          asHost(
            env,
            Events.use((events) => {
              const data = { name: `job ${n}`, fails: n % 7 === 0 }
              return events.publish({ type: "job", data, ...(n % 3 === 0 ? { delay: 200 + n } : {}) })
            })
          )
        const ids: Array<string> = []
        for (let n = 0; n < count; n++) ids.push((yield* (n % 2 === 0 ? old : today).on(publish(n))).event_id)
        yield* Effect.repeat(Effect.sleep("100 millis"), { until: () => work.ended.size === count })
        yield* Effect.sleep("1 second")

        const done = [...work.ended.values()].flat()
        assert.strictEqual(done.length, count)
        assert.sameMembers([...new Set(done)], ["old", "today"])
        assert.strictEqual(work.peak, limit)
        assert.isAbove(work.ticks.length, 1)
        assert.strictEqual(new Set(work.ticks).size, work.ticks.length)
        for (const [n, id] of ids.entries()) {
          const runs = yield* today.on(
            asHost(
              env,
              Runs.use((of) => of.ofEvent(id))
            )
          )
          const expected = n % 7 === 0 ? ["succeeded", "failed"] : ["succeeded"]
          assert.deepStrictEqual(
            runs.map((run) => run.status),
            expected
          )
        }
        yield* old.end
        yield* today.end
      }).pipe(Effect.scoped),
    120_000
  )
})
