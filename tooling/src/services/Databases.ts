/** Databases for tests on the server of the run, `inject("postgresUrl")`: each test has one of its own. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Exit, Redacted, Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import type { SqlError } from "effect/sql"
import { afterAll, inject } from "vitest"

const urlOf = (database: string): string => {
  const url = new URL(inject("postgresUrl"))
  url.pathname = `/${database}`
  return url.href
}

const clientOf = (url: string) => Effect.provide(PgClient.makeClient({ url: Redacted.make(url) }), Reactivity.layer)

/** A connection to the server's own database, for what is done to others. */
export const administrator = Effect.suspend(() => clientOf(inject("postgresUrl")))

const freshName = (what: string): string => `weft_${what}_${process.pid}_${Math.random().toString(36).slice(2)}`

const created = Effect.fnUntraced(function* (name: string, how: string) {
  const sql = yield* administrator
  yield* Effect.acquireRelease(sql.unsafe(`CREATE DATABASE ${name} ${how}`), () =>
    Effect.orDie(sql.unsafe(`DROP DATABASE ${name} WITH (FORCE)`))
  )
  return urlOf(name)
})

type NewDatabase = Effect.Effect<string, SqlError.SqlError, Scope.Scope>

/** The URL of a new database without anything; it is dropped with the scope. */
export const emptyDatabase: NewDatabase = Effect.suspend(() => created(freshName("empty"), ""))

export interface Databases {
  /** The URL of a new database that is up to date; it is dropped with the scope. */
  readonly freshDatabase: NewDatabase
  /** As `freshDatabase`, but one whose rows another test has removed, where there is one: for tests that only store. */
  readonly emptiedDatabase: NewDatabase
}

/** `migrate` brings a database up to date. */
export const databases = (migrate: (url: string) => Effect.Effect<unknown, unknown, Scope.Scope>): Databases => {
  const template = Effect.runSync(Effect.cached(Effect.scoped(makeTemplate(migrate))))
  const freshDatabase = Effect.flatMap(template, (name) =>
    // Copied as files, it takes a tenth of the time that it takes by the log.
    created(freshName("test"), `TEMPLATE ${name} STRATEGY file_copy`)
  )
  return { freshDatabase, emptiedDatabase: reusing(freshDatabase) }
}

/**
 * A database that is up to date and empty, made by the first of the processes of a run: bringing each new one there
 * would take most of the time.
 */
const makeTemplate = Effect.fnUntraced(function* (
  migrate: (url: string) => Effect.Effect<unknown, unknown, Scope.Scope>
) {
  const name = `weft_template_${process.ppid}`
  const sql = yield* administrator
  const connection = yield* sql.reserve
  const ask = (text: string) => connection.executeUnprepared(text, [], undefined)
  yield* ask("SELECT pg_advisory_lock(1)")
  const found = yield* ask(`SELECT FROM pg_database WHERE datname = '${name}'`)
  if (found.length === 0) {
    yield* ask(`CREATE DATABASE ${name}`)
    yield* Effect.orDie(Effect.scoped(migrate(urlOf(name))))
  }
  return name
})

/** What was stored is removed, and what stays as it was is the schema. */
const emptied = `DO $$ DECLARE name regclass; BEGIN
  FOR name IN SELECT oid FROM pg_class WHERE relnamespace = 'weft'::regnamespace AND relkind IN ('r', 'p')
    AND NOT relispartition AND relname <> 'weft_migrations'
  LOOP EXECUTE format('DELETE FROM %s', name); END LOOP;
END $$`

interface Used {
  readonly url: string
  readonly sql: PgClient.PgClient
}

/** To empty a database takes a tenth of the time that it takes to make one. */
const reusing = (freshDatabase: NewDatabase): NewDatabase => {
  const idle: Array<Used> = []
  const ofFile = Scope.makeUnsafe()
  afterAll(() => Effect.runPromise(Scope.close(ofFile, Exit.void)))
  const made = Effect.gen(function* () {
    const url = yield* freshDatabase
    return { url, sql: yield* clientOf(url) } satisfies Used
  }).pipe(Scope.provide(ofFile))
  const used = Effect.suspend(() => {
    const found = idle.pop()
    return found === undefined ? made : Effect.succeed(found)
  })
  const give = (one: Used) => Effect.map(Effect.orDie(one.sql.unsafe(emptied)), () => idle.push(one))
  return Effect.map(Effect.acquireRelease(used, give), ({ url }) => url)
}
