/** `Tenants.ensure`: the same tenant for whoever asks, however many ask at once. */
import { assert, describe } from "@effect/vitest"
import { firstPage, Tenants } from "@weft/core"
import { Effect } from "effect"
import { failure } from "../Services.ts"
import { born, check } from "./Place.ts"

const ensure = (wanted: Parameters<Tenants["Service"]["ensure"]>[0]) => Tenants.use((tenants) => tenants.ensure(wanted))
const listOrgs = Tenants.use((tenants) => tenants.listOrgs(firstPage))
const listEnvs = (org: string) => Tenants.use((tenants) => tenants.listEnvs(org, firstPage))

describe("ensuring a tenant", () => {
  check(
    "makes what is not there, and gives what is",
    Effect.gen(function* () {
      const { on, die } = yield* born()
      const made = yield* on(ensure({ org: "acme", env: "production", name: "Acme", plan: "Pro" }))
      assert.deepInclude(made.org, { slug: "acme", name: "Acme", plan: "Pro" })
      assert.deepInclude(made.env, { org_id: made.org.org_id, name: "production", active: true })
      assert.deepStrictEqual(yield* on(ensure({ org: "acme", env: "production" })), made)
      assert.deepStrictEqual(yield* on(ensure({ org: "acme", env: "production", name: "Other", plan: "Free" })), made)
      const staging = yield* on(ensure({ org: "acme", env: "staging" }))
      assert.deepStrictEqual(staging.org, made.org)
      assert.deepStrictEqual((yield* on(listEnvs("acme"))).items, [staging.env, made.env])
      assert.deepStrictEqual(yield* on(Tenants.use((tenants) => tenants.resolve("acme", "staging"))), staging.env)
      yield* die
    })
  )

  check(
    "makes one, whoever asks at once on whichever node",
    Effect.gen(function* () {
      const nodes = [yield* born(), yield* born(), yield* born()] as const
      const asked = yield* Effect.forEach(
        Array.from({ length: 30 }, (_, n) => nodes[n % 3] ?? nodes[0]),
        ({ on }) => on(ensure({ org: "acme", env: "production" })),
        { concurrency: "unbounded" }
      )
      for (const tenant of asked) assert.deepStrictEqual(tenant, asked[0])
      assert.strictEqual((yield* nodes[0].on(listOrgs)).total, 1)
      assert.strictEqual((yield* nodes[0].on(listEnvs("acme"))).total, 1)
      yield* Effect.forEach(nodes, ({ die }) => die)
    })
  )

  check(
    "makes nothing of what cannot be",
    Effect.gen(function* () {
      const { on, die } = yield* born()
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
      yield* die
    })
  )
})
