/** Deliveries that another node locked but did not claim. They are claimed soon, before the next poll. */
import { createHash } from "node:crypto"
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Builds, Caller, type Env, Events, hostIdentity, layer, Projects, Runs, Tenants } from "@weft/core"
import { MemoryStores, trustedSandbox, trustedZip } from "@weft/core/testing"
import { database } from "@weft/postgres"
import { Effect, Layer, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { freshDatabase } from "./Fresh.ts"

const masterKeys = [Redacted.make(new Uint8Array(32).fill(7))] as const
const sandbox = trustedSandbox({ app: { main: { job: Object.assign(() => "done", { meta: { event: "job" } }) } } })

/** A separate node. */
const node = (url: string, deliveries = { total: 10, perEnv: 10 }) =>
  layer({ masterKeys, deliveries }).pipe(Layer.provide(sandbox), Layer.provide(database({ url })))

const asHost = <A, E, R>(env: Env, effect: Effect.Effect<A, E, R>) =>
  Effect.provideService(effect, Caller, hostIdentity(env.env_id))

/** Publishes an event whose delivery stays pending, because the node accepts no deliveries. */
const publishWaiting = Effect.gen(function* () {
  const tenants = yield* Tenants
  const org = yield* tenants.createOrg({ slug: "acme" })
  const env = yield* tenants.createEnv(org.org_id, { name: "production" })
  const zip = trustedZip("app")
  const hash = createHash("sha256").update(zip).digest("hex")
  const event = yield* asHost(
    env,
    Effect.gen(function* () {
      yield* Projects.use((projects) => projects.create({ name: "app" }))
      const { build } = yield* Builds.use((builds) => builds.upload("app", { zip, hash }))
      yield* Builds.use((builds) => builds.deploy("app", build.build_id))
      return yield* Events.use((events) => events.publish({ type: "job", data: null }))
    })
  )
  return { env, event }
})

/** Longer than the retry interval of a claim, and shorter than the poll interval, in milliseconds. */
const soonMs = 8_000

describe("a claim that skips a locked delivery", () => {
  it.live("claims it soon after the other transaction rolls back", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      const other = yield* PgClient.makeClient({ url: Redacted.make(url) }).pipe(Effect.provide(Reactivity.layer))
      const locking = yield* other.reserve
      const execute = (text: string) => locking.executeUnprepared(text, [], undefined)

      const { env, event } = yield* Effect.provide(publishWaiting, node(url, { total: 0, perEnv: 0 }))
      yield* execute("BEGIN")
      assert.lengthOf(yield* execute("SELECT 1 FROM weft.deliveries FOR UPDATE"), 1)
      yield* Effect.gen(function* () {
        const runs = asHost(
          env,
          Runs.use((of) => of.ofEvent(event.event_id))
        )
        yield* Effect.sleep(500)
        assert.deepStrictEqual(yield* runs, [])
        yield* execute("ROLLBACK")
        const ended = Effect.repeat(Effect.andThen(Effect.sleep(50), runs), {
          until: (found) => found.some((run) => run.status === "succeeded")
        })
        const found = yield* Effect.timeoutOption(ended, soonMs)
        assert.strictEqual(found._tag, "Some")
      }).pipe(Effect.provide(node(url)))
    }).pipe(Effect.scoped, Effect.provide(Layer.mergeAll(MemoryStores.blobs, MemoryStores.cluster)))
  )
})
