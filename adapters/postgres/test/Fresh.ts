/** Databases for tests: each build of a layer has one of its own, which goes with it. */
import { PgClient } from "@effect/sql-pg"
import { stores } from "@weft/postgres"
import { Effect, Layer, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { inject } from "vitest"

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
  yield* Effect.acquireRelease(sql.unsafe(`CREATE DATABASE ${name} TEMPLATE ${from} STRATEGY wal_log`), () =>
    Effect.orDie(sql.unsafe(`DROP DATABASE ${name} WITH (FORCE)`))
  )
  return urlOf(name)
})

export const fresh = Layer.unwrap(Effect.map(freshDatabase, (url) => stores({ url })))
