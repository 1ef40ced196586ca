/** Databases for tests: each build of a layer has one of its own. */
import { PgClient } from "@effect/sql-pg"
import { stores } from "@weft/postgres"
import { Effect, Exit, Layer, Redacted, Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import { afterAll, inject } from "vitest"

export const urlOf = (database: string): string => {
  const url = new URL(inject("postgresUrl"))
  url.pathname = `/${database}`
  return url.href
}

/** A connection to the server's own database, for what is done to others. */
export const administrator = Effect.suspend(() =>
  PgClient.makeClient({ url: Redacted.make(inject("postgresUrl")) })
).pipe(Effect.provide(Reactivity.layer))

/**
 * A database that is up to date and empty, made by the first of the processes of a run: bringing each new one there
 * would take most of the time.
 */
const template = Effect.gen(function* () {
  const name = `weft_template_${process.ppid}`
  const sql = yield* administrator
  const connection = yield* sql.reserve
  const ask = (text: string) => connection.executeUnprepared(text, [], undefined)
  yield* ask("SELECT pg_advisory_lock(1)")
  const found = yield* ask(`SELECT FROM pg_database WHERE datname = '${name}'`)
  if (found.length === 0) {
    yield* ask(`CREATE DATABASE ${name}`)
    yield* Effect.scoped(Layer.build(stores({ url: urlOf(name) })))
  }
  return name
}).pipe(Effect.scoped)

const makeTemplate = Effect.runSync(Effect.cached(template))

/** The URL of a new database without anything; it is dropped with the scope. */
export const emptyDatabase = Effect.gen(function* () {
  const name = `weft_empty_${process.pid}_${Math.random().toString(36).slice(2)}`
  const sql = yield* administrator
  yield* Effect.acquireRelease(sql.unsafe(`CREATE DATABASE ${name}`), () =>
    Effect.orDie(sql.unsafe(`DROP DATABASE ${name} WITH (FORCE)`))
  )
  return urlOf(name)
})

/** The URL of a new database that is up to date; it is dropped with the scope. */
export const freshDatabase = Effect.gen(function* () {
  const from = yield* makeTemplate
  const name = `weft_test_${process.pid}_${Math.random().toString(36).slice(2)}`
  const sql = yield* administrator
  yield* Effect.acquireRelease(sql.unsafe(`CREATE DATABASE ${name} TEMPLATE ${from} STRATEGY file_copy`), () =>
    Effect.orDie(sql.unsafe(`DROP DATABASE ${name} WITH (FORCE)`))
  )
  return urlOf(name)
})

/** What was stored in it is removed, and what stays as it was is the schema. */
const emptied = `DO $$ DECLARE name regclass; BEGIN
  FOR name IN SELECT oid FROM pg_class WHERE relnamespace = 'weft'::regnamespace AND relkind IN ('r', 'p')
    AND NOT relispartition AND relname <> 'weft_migrations'
  LOOP EXECUTE format('DELETE FROM %s', name); END LOOP;
END $$`

interface Used {
  readonly url: string
  readonly sql: PgClient.PgClient
}

/** Databases of this process that are empty again: to empty one takes a tenth of the time that it takes to make one. */
const idle: Array<Used> = []
const ofProcess = Scope.makeUnsafe()
afterAll(() => Effect.runPromise(Scope.close(ofProcess, Exit.void)))

const makeUsed = Effect.gen(function* () {
  const url = yield* freshDatabase
  const sql = yield* PgClient.makeClient({ url: Redacted.make(url) })
  return { url, sql } satisfies Used
}).pipe(Effect.provide(Reactivity.layer), Scope.provide(ofProcess))

const emptyAgain = Effect.acquireRelease(
  Effect.suspend(() => {
    const found = idle.pop()
    return found === undefined ? makeUsed : Effect.succeed(found)
  }),
  (used) => Effect.map(Effect.orDie(used.sql.unsafe(emptied)), () => idle.push(used))
)

/** Stores with nothing in them, on a database of their own while they are open. */
export const fresh = Layer.unwrap(Effect.map(emptyAgain, ({ url }) => stores({ url })))
