/** A separate database per test, on the server of `inject("postgresUrl")`. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Exit, Redacted, Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import type { SqlError } from "effect/sql"
import { afterAll, inject } from "vitest"

const buildUrl = (database: string): string => {
  const url = new URL(inject("postgresUrl"))
  url.pathname = `/${database}`
  return url.href
}

const connect = (url: string) => Effect.provide(PgClient.makeClient({ url: Redacted.make(url) }), Reactivity.layer)

/** A connection to the default database, which creates and drops the others. */
export const administrator = Effect.suspend(() => connect(inject("postgresUrl")))

const freshName = (what: string): string => `weft_${what}_${process.pid}_${Math.random().toString(36).slice(2)}`

const created = Effect.fnUntraced(function* (name: string, how: string) {
  const sql = yield* administrator
  yield* Effect.acquireRelease(sql.unsafe(`CREATE DATABASE ${name} ${how}`), () =>
    Effect.orDie(sql.unsafe(`DROP DATABASE ${name} WITH (FORCE)`))
  )
  return buildUrl(name)
})

type NewDatabase = Effect.Effect<string, SqlError.SqlError, Scope.Scope>

/** The URL of a new empty database, which is dropped when the scope closes. */
export const emptyDatabase: NewDatabase = Effect.suspend(() => created(freshName("empty"), ""))

export interface Databases {
  /** The URL of a new migrated database, which is dropped when the scope closes. */
  readonly freshDatabase: NewDatabase
  /** Like `freshDatabase`, but reuses the emptied database of an earlier test. For tests that do not change the schema. */
  readonly emptiedDatabase: NewDatabase
}

/** Returns databases for tests. `migrate` runs all migrations on a database. */
export const databases = (migrate: (url: string) => Effect.Effect<unknown, unknown, Scope.Scope>): Databases => {
  const template = Effect.runSync(Effect.cached(Effect.scoped(makeTemplate(migrate))))
  const freshDatabase = Effect.flatMap(template, (name) =>
    // A copy of the files takes a tenth of the time that the default strategy takes, which writes to the WAL.
    created(freshName("test"), `TEMPLATE ${name} STRATEGY file_copy`)
  )
  return { freshDatabase, emptiedDatabase: reusing(freshDatabase) }
}

/**
 * Creates a migrated, empty template database, once per run. The first process of the run creates it. Migrating every
 * new database would take most of the time of the tests.
 */
const makeTemplate = Effect.fnUntraced(function* (
  migrate: (url: string) => Effect.Effect<unknown, unknown, Scope.Scope>
) {
  const name = `weft_template_${process.ppid}`
  const sql = yield* administrator
  const connection = yield* sql.reserve
  const execute = (text: string) => connection.executeUnprepared(text, [], undefined)
  yield* execute("SELECT pg_advisory_lock(1)")
  const found = yield* execute(`SELECT FROM pg_database WHERE datname = '${name}'`)
  if (found.length === 0) {
    yield* execute(`CREATE DATABASE ${name}`)
    yield* Effect.orDie(Effect.scoped(migrate(buildUrl(name))))
  }
  return name
})

/** Deletes all rows and keeps the schema and its migrations. */
const deleteRows = `DO $$ DECLARE name regclass; BEGIN
  FOR name IN SELECT oid FROM pg_class WHERE relnamespace = 'weft'::regnamespace AND relkind IN ('r', 'p')
    AND NOT relispartition AND relname <> 'weft_migrations'
  LOOP EXECUTE format('DELETE FROM %s', name); END LOOP;
END $$`

interface Used {
  readonly url: string
  readonly sql: PgClient.PgClient
}

/** Pools databases for reuse: emptying one takes a tenth of the time of creating one. */
const reusing = (freshDatabase: NewDatabase): NewDatabase => {
  const idle: Array<Used> = []
  const ofFile = Scope.makeUnsafe()
  afterAll(() => Effect.runPromise(Scope.close(ofFile, Exit.void)))
  const made = Effect.gen(function* () {
    const url = yield* freshDatabase
    return { url, sql: yield* connect(url) } satisfies Used
  }).pipe(Scope.provide(ofFile))
  const used = Effect.suspend(() => {
    const found = idle.pop()
    return found === undefined ? made : Effect.succeed(found)
  })
  const give = (one: Used) => Effect.map(Effect.orDie(one.sql.unsafe(deleteRows)), () => idle.push(one))
  return Effect.map(Effect.acquireRelease(used, give), ({ url }) => url)
}
