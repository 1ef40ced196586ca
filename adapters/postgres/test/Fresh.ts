/** Databases for tests: each build of a layer has one of its own, which goes with it. */
import { PgClient } from "@effect/sql-pg"
import { stores } from "@weft/postgres"
import { Effect, Layer, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { inject } from "vitest"

const server = inject("postgresUrl")

export const urlOf = (database: string): string => {
  const url = new URL(server)
  url.pathname = `/${database}`
  return url.href
}

/** A connection to the server's own database, for what is done to others. */
export const administrator = PgClient.makeClient({ url: Redacted.make(server) }).pipe(Effect.provide(Reactivity.layer))

const nameOf = (what: string): string => `weft_${what}_${process.pid}_${Math.random().toString(36).slice(2)}`

/** A database that is up to date and empty, made once: bringing each new one there would take most of the time. */
const template: Promise<string> = Effect.runPromise(
  Effect.scoped(
    Effect.gen(function* () {
      const name = nameOf("template")
      const sql = yield* administrator
      yield* sql.unsafe(`CREATE DATABASE ${name}`)
      yield* Effect.scoped(Layer.build(stores({ url: urlOf(name) })))
      return name
    })
  )
)

/** The URL of a new database that is up to date; it is dropped with the scope. */
export const freshDatabase = Effect.gen(function* () {
  const from = yield* Effect.promise(() => template)
  const name = nameOf("test")
  const sql = yield* administrator
  yield* Effect.acquireRelease(sql.unsafe(`CREATE DATABASE ${name} TEMPLATE ${from} STRATEGY wal_log`), () =>
    Effect.orDie(sql.unsafe(`DROP DATABASE ${name} WITH (FORCE)`))
  )
  return urlOf(name)
})

export const fresh = Layer.unwrap(Effect.map(freshDatabase, (url) => stores({ url })))
