/** `DomainStore` on SQL. */
import { DomainExists, DomainLimitReached, NotFound } from "@weft/core"
import {
  type Domain,
  type DomainCertificate,
  type DomainClaim,
  type DomainRoute,
  DomainStore,
  type Timestamp
} from "@weft/core/adapter"
import { Effect, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import { Database, onConflict, onlyRow, orUnavailable, readCount } from "./Database.ts"
import type { Dialect } from "./Dialect.ts"

export const layer: Layer.Layer<DomainStore, never, Database> = Layer.effect(
  DomainStore,
  Effect.gen(function* () {
    const { dialect, reader, writer } = yield* Database
    const { insert, claim, settle, remove } = writes(writer, dialect)

    const routes = reader<DomainRoute>`SELECT domains.domain, orgs.slug AS org_slug, envs.name AS env_name
      FROM domains JOIN envs ON envs.env_id = domains.env_id JOIN orgs ON orgs.org_id = envs.org_id
      WHERE ${isRouted(reader)}`

    return DomainStore.of({
      insert: (domain, limit) =>
        writer.withTransaction(insert(domain, limit)).pipe(onConflict(new DomainExists({})), orUnavailable("insert")),

      get: (envId, id) =>
        onlyRow(reader<Domain>`SELECT * FROM domains WHERE domain_id = ${id} AND env_id = ${envId}`, noDomain).pipe(
          orUnavailable("get")
        ),

      list: (envId, { limit, offset }) =>
        Effect.all({
          items: reader<Domain>`SELECT * FROM domains WHERE env_id = ${envId}
            ORDER BY domain_id DESC LIMIT ${limit} OFFSET ${offset}`,
          total: readCount(reader<{ n: number }>`SELECT count(*) AS n FROM domains WHERE env_id = ${envId}`)
        }).pipe(orUnavailable("list")),

      routes: routes.pipe(orUnavailable("routes")),

      route: (name) =>
        onlyRow(reader<DomainRoute>`${routes} AND domain = ${name}`, noDomain).pipe(orUnavailable("route")),

      claim: (request) => writer.withTransaction(claim(request)).pipe(orUnavailable("claim")),

      hold: (envId, id, { now, until }) =>
        Effect.gen(function* () {
          const [held] =
            yield* writer<Domain>`UPDATE domains SET ${writer.update({ next_check_at: until, held_until: until })},
            version = version + 1 WHERE domain_id = ${id} AND env_id = ${envId}
            AND (held_until IS NULL OR held_until <= ${now}) RETURNING *`
          if (held !== undefined) return held
          yield* onlyRow(writer`SELECT 1 AS n FROM domains WHERE domain_id = ${id} AND env_id = ${envId}`, noDomain)
          return null
        }).pipe(orUnavailable("hold")),

      settle: (domain, certificate) =>
        writer.withTransaction(settle(domain, certificate)).pipe(orUnavailable("settle")),

      beginRemoval: (envId, id, now) =>
        onlyRow(
          writer<Domain>`UPDATE domains
            SET ${writer.update({ status: "deleting", checks: 0, next_check_at: now, held_until: null })},
            version = version + 1
            WHERE domain_id = ${id} AND env_id = ${envId} AND status <> 'deleting' RETURNING *`,
          noDomain
        ).pipe(orUnavailable("beginRemoval")),

      remove: (domain) => writer.withTransaction(remove(domain)).pipe(orUnavailable("remove")),

      certificate: (id) =>
        onlyRow(reader<DomainCertificate>`SELECT * FROM certificates WHERE domain_id = ${id}`, noCertificate).pipe(
          orUnavailable("certificate")
        ),

      certificateOf: (name) =>
        onlyRow(
          reader<DomainCertificate>`SELECT certificates.* FROM certificates
            JOIN domains ON domains.domain_id = certificates.domain_id
            WHERE domains.domain = ${name} AND ${isRouted(reader)}`,
          noCertificate
        ).pipe(orUnavailable("certificateOf"))
    })
  })
)

const noDomain = new NotFound({ resource: "domain" })
const noCertificate = new NotFound({ resource: "certificate" })

const isRouted = (sql: SqlClient.SqlClient) => sql`domains.status NOT IN ('pending_validation', 'deleting')`

/** Operations of more than one statement. They run in the caller's transaction. */
const writes = (sql: SqlClient.SqlClient, dialect: Dialect) => ({
  insert: Effect.fnUntraced(function* (domain: Domain, limit: number) {
    if (limit !== -1) {
      // Serializes registrations, so that two concurrent ones cannot both take the last place.
      yield* dialect.advisoryLock(sql, [`domains ${domain.org_id}`])
      const others = yield* readCount(
        sql<{ n: number }>`SELECT count(*) AS n FROM domains WHERE org_id = ${domain.org_id} AND status <> 'deleting'`
      )
      if (others >= limit) return yield* new DomainLimitReached({ limit })
    }
    yield* sql`INSERT INTO domains ${sql.insert({ ...domain })}`
  }),

  claim: Effect.fnUntraced(function* ({ now, until, limit }: DomainClaim & { readonly limit: number }) {
    // The update checks `next_check_at` again: another node may have claimed the row after the subquery.
    const domains = yield* sql<Domain>`WITH due AS MATERIALIZED (
        SELECT domain_id FROM domains WHERE next_check_at <= ${now} ORDER BY next_check_at LIMIT ${limit}
        ${sql.literal(dialect.skipLocked)}
      ) UPDATE domains SET ${sql.update({ next_check_at: until, held_until: until })}, version = version + 1
      WHERE next_check_at <= ${now} AND domain_id IN (SELECT domain_id FROM due) RETURNING *`
    const claimed = domains.map(({ domain_id }) => domain_id)
    const rest = claimed.length === 0 ? sql`TRUE` : sql`domain_id NOT IN ${sql.in(claimed)}`
    const [next] = yield* sql<{ due: Timestamp | null }>`SELECT min(next_check_at) AS due FROM domains WHERE ${rest}`
    return { domains, next_due_at: next?.due ?? null }
  }),

  settle: Effect.fnUntraced(function* (domain: Domain, certificate: DomainCertificate | null) {
    const { status, routing_domain, checks, next_check_at, held_until, failed_orders, next_order_at } = domain
    const fields = { status, routing_domain, checks, next_check_at, held_until, failed_orders, next_order_at }
    const settled = yield* sql`UPDATE domains SET ${sql.update(fields)}, version = version + 1
      WHERE domain_id = ${domain.domain_id} AND version = ${domain.version} RETURNING domain_id`
    if (settled.length === 0) return false
    if (certificate !== null) {
      yield* sql`DELETE FROM certificates WHERE domain_id = ${certificate.domain_id}`
      yield* sql`INSERT INTO certificates ${sql.insert({ ...certificate })}`
    }
    return true
  }),

  remove: Effect.fnUntraced(function* ({ domain_id, version }: Domain) {
    const removed = yield* sql`DELETE FROM domains
      WHERE domain_id = ${domain_id} AND version = ${version} AND status = 'deleting' RETURNING domain_id`
    if (removed.length === 0) return false
    yield* sql`DELETE FROM certificates WHERE domain_id = ${domain_id}`
    return true
  })
})
