/** `Tenants.ensure`: concurrent calls return the same tenant. */
import { assert, describe } from "@effect/vitest"
import { firstPage, Tenants } from "@weft/core"
import { Effect } from "effect"
import { failure } from "../../Services.ts"
import { check, startNode } from "./startNode.ts"

const ensure = (wanted: Parameters<Tenants["Service"]["ensure"]>[0]) => Tenants.use((tenants) => tenants.ensure(wanted))
const listOrgs = Tenants.use((tenants) => tenants.listOrgs(firstPage))
const listEnvs = (org: string) => Tenants.use((tenants) => tenants.listEnvs(org, firstPage))

describe("ensuring a tenant", () => {
  check(
    "creates a tenant that does not exist, and returns an existing one",
    Effect.gen(function* () {
      const { on, stop } = yield* startNode()
      const made = yield* on(ensure({ org: "acme", env: "production", name: "Acme", plan: "Pro" }))
      assert.deepInclude(made.org, { slug: "acme", name: "Acme", plan: "Pro" })
      assert.deepInclude(made.env, { org_id: made.org.org_id, name: "production", active: true })
      assert.deepStrictEqual(yield* on(ensure({ org: "acme", env: "production" })), made)
      assert.deepStrictEqual(yield* on(ensure({ org: "acme", env: "production", name: "Other", plan: "Free" })), made)
      const staging = yield* on(ensure({ org: "acme", env: "staging" }))
      assert.deepStrictEqual(staging.org, made.org)
      assert.deepStrictEqual((yield* on(listEnvs("acme"))).items, [staging.env, made.env])
      assert.deepStrictEqual(yield* on(Tenants.use((tenants) => tenants.resolve("acme", "staging"))), staging.env)
      yield* stop
    })
  )

  check(
    "creates one tenant for concurrent calls on several nodes",
    Effect.gen(function* () {
      const nodes = [yield* startNode(), yield* startNode(), yield* startNode()] as const
      const results = yield* Effect.forEach(
        Array.from({ length: 30 }, (_, n) => nodes[n % 3] ?? nodes[0]),
        ({ on }) => on(ensure({ org: "acme", env: "production" })),
        { concurrency: "unbounded" }
      )
      for (const tenant of results) assert.deepStrictEqual(tenant, results[0])
      assert.strictEqual((yield* nodes[0].on(listOrgs)).total, 1)
      assert.strictEqual((yield* nodes[0].on(listEnvs("acme"))).total, 1)
      yield* Effect.forEach(nodes, ({ stop }) => stop)
    })
  )

  check(
    "creates nothing for invalid input",
    Effect.gen(function* () {
      const { on, stop } = yield* startNode()
      const good = { org: "acme", env: "production" }
      const wrong = [
        { org: "Acme" },
        { org: "" },
        { org: "01890000-0000-7000-8000-000000000001" },
        { env: "a/b" },
        { env: "" },
        { name: "" },
        { plan: "Gold" }
      ]
      for (const part of wrong) assert.strictEqual(yield* failure(on(ensure({ ...good, ...part }))), "BadRequest")
      assert.strictEqual((yield* on(listOrgs)).total, 0)
      yield* on(ensure(good))
      assert.strictEqual(yield* failure(on(ensure({ ...good, plan: "Gold" }))), "BadRequest")
      yield* stop
    })
  )
})
