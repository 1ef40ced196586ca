/** A running node keeps working while a newer one adds columns to its tables. */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { DomainStore, TenantStore, Timestamp } from "@weft/core/adapter"
import { database } from "@weft/postgres"
import { Effect, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { freshDatabase } from "./Fresh.ts"

describe("a node that runs while columns are added", () => {
  it.live("keeps reading with statements that it prepared before", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      const sql = yield* PgClient.makeClient({ url: Redacted.make(url) }).pipe(Effect.provide(Reactivity.layer))
      yield* Effect.gen(function* () {
        const tenants = yield* TenantStore
        const get = tenants.getOrg("acme")
        yield* sql.unsafe(`INSERT INTO weft.orgs (org_id, slug, name, plan, members, created_at, updated_at)
          VALUES ('01976a2b-0001-7000-8000-000000000001', 'acme', 'Acme', 'Free', 1, 0, 0)`)
        // On every connection of the pool.
        yield* Effect.replicateEffect(get, 50, { concurrency: "unbounded" })
        yield* sql.unsafe("ALTER TABLE weft.orgs ADD COLUMN of_a_later_release TEXT NOT NULL DEFAULT 'later'")
        const found = yield* Effect.replicateEffect(get, 50, { concurrency: "unbounded" })
        assert.strictEqual(found[0]?.name, "Acme")
      }).pipe(Effect.provide(database({ url })))
    }).pipe(Effect.scoped)
  )

  it.live("keeps running transactions", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      const sql = yield* PgClient.makeClient({ url: Redacted.make(url) }).pipe(Effect.provide(Reactivity.layer))
      yield* Effect.gen(function* () {
        const domains = yield* DomainStore
        const claim = domains.claim({ now: Timestamp.make(1), until: Timestamp.make(2), limit: 1 })
        yield* Effect.replicateEffect(claim, 20, { concurrency: "unbounded" })
        yield* sql.unsafe("ALTER TABLE weft.domains ADD COLUMN of_a_later_release TEXT NOT NULL DEFAULT 'later'")
        const claims = yield* Effect.replicateEffect(claim, 20, { concurrency: "unbounded" })
        assert.deepStrictEqual(claims[0], { domains: [], next_due_at: null })
      }).pipe(Effect.provide(database({ url })))
    }).pipe(Effect.scoped)
  )
})
