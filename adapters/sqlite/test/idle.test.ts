/** Statements of an idle node, counted in virtual time. */
import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Builds, Caller, hostIdentity, layer, Projects, Tenants } from "@weft/core"
import { trustedSandbox, trustedZip } from "@weft/core/testing"
import { Effect, type Fiber, Layer, Redacted } from "effect"
import { Statement } from "effect/sql"
import { TestClock } from "effect/testing"
import { sharedStores } from "./Shared.ts"

/** Counts statements by their text. A transaction counts as two more, BEGIN and COMMIT. */
class Statements {
  readonly counts = new Map<string, number>()
  readonly #transactions = new WeakSet<object>()

  get total(): number {
    return [...this.counts.values()].reduce((sum, count) => sum + count, 0)
  }

  readonly counting: Statement.Transformer = (statement, _sql, fiber) =>
    Effect.sync(() => {
      this.#count(statement.compile()[0], 1)
      const transaction = findTransaction(fiber)
      if (transaction === null || this.#transactions.has(transaction)) return statement
      this.#transactions.add(transaction)
      this.#count("BEGIN and COMMIT", 2)
      return statement
    })

  #count(text: string, by: number): void {
    this.counts.set(text, (this.counts.get(text) ?? 0) + by)
  }
}

/** Returns the fiber's current transaction. Its key contains the number of an unknown client, so keys are searched. */
const findTransaction = (fiber: Fiber.Fiber<unknown, unknown>): object | null => {
  for (const [key, service] of fiber.context.mapUnsafe) {
    if (key.includes("TransactionConnection") && typeof service === "object" && service !== null) return service
  }
  return null
}

const never = "0 0 1 1 *"
const app = {
  onEvent: Object.assign(() => "done", { meta: { event: "job", concurrency: { limit: 1 } } }),
  onDate: Object.assign(() => "done", { meta: { schedule: never } })
}

const deployed = Effect.fnUntraced(function* (slug: string) {
  const tenants = yield* Tenants
  const org = yield* tenants.createOrg({ slug })
  const env = yield* tenants.createEnv(org.org_id, { name: "production" })
  const zip = trustedZip("app")
  const hash = createHash("sha256").update(zip).digest("hex")
  yield* Effect.gen(function* () {
    yield* Projects.use((projects) => projects.create({ name: "app" }))
    const { build } = yield* Builds.use((builds) => builds.upload("app", { zip, hash }))
    yield* Builds.use((builds) => builds.deploy("app", build.build_id))
  }).pipe(Effect.provideService(Caller, hostIdentity(env.env_id)))
})

/** Advances the clock by some minutes in steps, and lets due work run after each step. */
const pass = Effect.fnUntraced(function* (minutes: number) {
  for (let second = 0; second < minutes * 60; second += 30) {
    yield* TestClock.adjust("30 seconds")
    yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
  }
})

/** Maximum statements per minute. */
const perMinuteMax = 5

describe("an idle node", () => {
  it.effect("sends fewer than 5 statements a minute over hours", () => {
    const statements = new Statements()
    const masterKeys = [Redacted.make(new Uint8Array(32).fill(7))] as const
    const node = layer({ masterKeys }).pipe(Layer.provide(trustedSandbox({ app: { main: app } })))
    return Effect.gen(function* () {
      for (const slug of ["acme", "blue", "cyan"]) yield* deployed(slug)
      yield* pass(5)
      statements.counts.clear()
      const minutes = 180
      yield* pass(minutes)
      const report = [...statements.counts].map(([text, count]) => `${count} × ${text.replace(/\s+/g, " ")}`).join("\n")
      assert.isAbove(statements.total, 0)
      assert.isBelow(statements.total / minutes, perMinuteMax, report)
    }).pipe(
      Effect.provide(Layer.provideMerge(node, sharedStores)),
      Effect.provideService(Statement.CurrentTransformer, statements.counting)
    )
  })
})
