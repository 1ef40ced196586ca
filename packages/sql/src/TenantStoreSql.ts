/** `TenantStore` on SQL. */
import { type EnvId, NotFound, Org, Taken } from "@weft/core"
import { type TenantHookJob, TenantStore } from "@weft/core/adapter"
import { Effect, Layer } from "effect"
import { Database, onlyRow, orUnavailable, type RowOf, readCount } from "./Database.ts"
import { type EnvRow, selectEnvs, toEnv, toEnvRow } from "./rows/EnvRows.ts"

export const layer: Layer.Layer<TenantStore, never, Database> = Layer.effect(
  TenantStore,
  Effect.gen(function* () {
    const { dialect, reader, writer } = yield* Database

    const select = reader.literal(selectEnvs)

    const findEnv = (orgSlug: string, envName: string) => reader<EnvRow>`
      ${select} JOIN orgs ON orgs.org_id = envs.org_id
      WHERE orgs.slug = ${orgSlug} AND envs.name = ${envName}`

    /** Inserts the tenant and its hook job in one transaction. */
    const withHookJob = <A, E, E2>(
      insertion: Effect.Effect<ReadonlyArray<A>, E>,
      taken: E2,
      hookJob: TenantHookJob | undefined
    ) => {
      const inserted = Effect.asVoid(onlyRow(insertion, taken))
      if (hookJob === undefined) return inserted
      const stored = writer`INSERT INTO announcements ${writer.insert({ ...hookJob })}`
      return writer.withTransaction(Effect.andThen(inserted, Effect.asVoid(stored)))
    }

    return TenantStore.of({
      insertOrg: (org, hookJob) =>
        withHookJob(
          writer`INSERT INTO orgs ${writer.insert({ ...org })} ON CONFLICT DO NOTHING RETURNING org_id`,
          new Taken({ what: "slug" }),
          hookJob
        ).pipe(orUnavailable("insertOrg")),

      getOrg: (idOrSlug) =>
        onlyRow(reader<RowOf<Org>>`SELECT * FROM orgs WHERE org_id = ${idOrSlug} OR slug = ${idOrSlug}`, noOrg).pipe(
          Effect.map(toOrg),
          orUnavailable("getOrg")
        ),

      listOrgs: ({ limit, offset }) =>
        Effect.all({
          items: Effect.map(
            reader<RowOf<Org>>`SELECT * FROM orgs ORDER BY org_id DESC LIMIT ${limit} OFFSET ${offset}`,
            (rows) => rows.map(toOrg)
          ),
          total: readCount(reader<{ n: number }>`SELECT count(*) AS n FROM orgs`)
        }).pipe(orUnavailable("listOrgs")),

      updateOrg: ({ org_id, name, plan, members, updated_at }) =>
        onlyRow(
          writer`UPDATE orgs SET ${writer.update({ name, plan, members, updated_at })}
            WHERE org_id = ${org_id} RETURNING org_id`,
          noOrg
        ).pipe(Effect.asVoid, orUnavailable("updateOrg")),

      insertEnv: (env, hookJob) =>
        withHookJob(
          writer`INSERT INTO envs ${writer.insert(toEnvRow(env))}
            ON CONFLICT DO NOTHING RETURNING env_id`,
          new Taken({ what: "environment name" }),
          hookJob
        ).pipe(orUnavailable("insertEnv")),

      getEnv: (id) =>
        onlyRow(reader<EnvRow>`${select} WHERE envs.env_id = ${id}`, noEnv).pipe(
          Effect.map(toEnv),
          orUnavailable("getEnv")
        ),

      copiesTo: (id) =>
        reader<{ readonly env_id: EnvId }>`SELECT env_id FROM previews
          WHERE parent_env_id = ${id} AND removed_at IS NULL AND copy_events = 1 ORDER BY env_id`.pipe(
          Effect.map((rows) => rows.map(({ env_id }) => env_id)),
          orUnavailable("copiesTo")
        ),

      findEnv: (orgSlug, envName) =>
        onlyRow(findEnv(orgSlug, envName), noEnv).pipe(Effect.map(toEnv), orUnavailable("findEnv")),

      listEnvs: (orgId, { limit, offset }, which = "all") => {
        const isListed = reader.literal(which === "all" ? "" : standing)
        const listed = reader`envs.org_id = ${orgId}${isListed}`
        return Effect.all({
          items: Effect.map(
            reader<EnvRow>`${select} WHERE ${listed} ORDER BY envs.env_id DESC LIMIT ${limit} OFFSET ${offset}`,
            (rows) => rows.map(toEnv)
          ),
          total: readCount(reader<{ n: number }>`SELECT count(*) AS n FROM envs WHERE ${listed}`)
        }).pipe(orUnavailable("listEnvs"))
      },

      dueHookJobs: (kinds, now, limit) =>
        reader<TenantHookJob>`SELECT kind, tenant_id, attempts, due_at FROM announcements
          WHERE due_at <= ${now} AND kind ${dialect.among(reader, kinds)} ORDER BY due_at, tenant_id LIMIT ${limit}`.pipe(
          orUnavailable("dueHookJobs")
        ),

      updateHookJob: ({ tenant_id, attempts, due_at }) =>
        writer`UPDATE announcements SET ${writer.update({ attempts, due_at })}
          WHERE tenant_id = ${tenant_id} AND attempts = ${attempts - 1} RETURNING tenant_id`.pipe(
          Effect.map(({ length }) => length === 1),
          orUnavailable("updateHookJob")
        ),

      removeHookJob: (tenantId) =>
        writer`DELETE FROM announcements WHERE tenant_id = ${tenantId}`.pipe(
          Effect.asVoid,
          orUnavailable("removeHookJob")
        )
    })
  })
)

/** Condition of environments that are no previews. */
const standing = " AND NOT EXISTS (SELECT 1 FROM previews WHERE previews.env_id = envs.env_id)"

const noOrg = new NotFound({ resource: "organization" })
const noEnv = new NotFound({ resource: "environment" })

const toOrg = (row: RowOf<Org>): Org => new Org(row, { disableChecks: true })
