/** Bringing a schema up to date: beside nodes of the last release, and by several new nodes at once. */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { stores } from "@weft/postgres"
import { Database, migrateTo } from "@weft/sql"
import { emptyDatabase } from "@weft/tooling/databases"
import { Effect, Fiber, Layer, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { open } from "../src/PostgresClient.ts"
import { postgres } from "../src/PostgresDialect.ts"
import { PostgresUnusable, resolve } from "../src/PostgresOptions.ts"
import { contractions } from "./Contractions.ts"
import * as previous from "./fixtures/previous/index.js"
import { type Column, refusals, type Shape, shapeOf } from "./Shape.ts"

const clientOf = (url: string) =>
  PgClient.makeClient({ url: Redacted.make(url) }).pipe(Effect.provide(Reactivity.layer))

/** Opens the stores of a version, which brings the schema to where that version wants it. */
const opened = (layer: Layer.Layer<never, unknown> | Layer.Layer<unknown, unknown>) =>
  Effect.scoped(Effect.asVoid(Layer.build(layer)))

const shapeAt = (make: (url: string) => Effect.Effect<void, unknown>) =>
  Effect.flatMap(emptyDatabase, (url) => Effect.andThen(make(url), shapeOf(url)))

const ofLastRelease = shapeAt((url) => opened(previous.stores({ url })))
const ofToday = shapeAt((url) => opened(stores({ url })))

/** What today's steps make as far as the last release had them. */
const ofTodayThen = shapeAt((url) =>
  Effect.gen(function* () {
    const resolved = resolve({ url })
    if (resolved instanceof PostgresUnusable) return yield* resolved
    const sql = yield* open(resolved)
    yield* sql`CREATE SCHEMA weft`
    const database = Database.of({ dialect: postgres, writer: sql, reader: sql, exclusive: false })
    yield* Effect.provideService(migrateTo(previous.lastStep), Database, database)
  }).pipe(Effect.scoped)
)

describe("the steps of migrations", () => {
  it.live("that were released are as they were", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* ofTodayThen, yield* ofLastRelease)
    }).pipe(Effect.scoped)
  )

  it.live("that are new take nothing away that nodes of the last release use, and ask nothing new of their rows", () =>
    Effect.gen(function* () {
      const found = refusals(yield* ofLastRelease, yield* ofToday)
      assert.sameMembers(
        [...found],
        contractions.map(({ what }) => what)
      )
      for (const { what, unusedSince } of contractions) assert.isAtMost(unusedSince, previous.lastStep, what)
    }).pipe(Effect.scoped)
  )

  const column: Column = { table: "t", column: "c", type: "bigint", isRequired: false, hasDefault: false }
  const shape: Shape = { columns: [column], constraints: ["t PRIMARY KEY (c)"], indexes: [] }
  const added = { ...column, column: "d" }
  const changes: Record<string, readonly [Shape, ReadonlyArray<string>]> = {
    "nothing that is added beside it": [
      { ...shape, columns: [column, added, { ...added, table: "u", isRequired: true }], indexes: ["t CREATE INDEX i"] },
      []
    ],
    "a column that is required and has a default": [
      { ...shape, columns: [column, { ...added, isRequired: true, hasDefault: true }] },
      []
    ],
    "a column that is required and has none": [
      { ...shape, columns: [column, { ...added, isRequired: true }] },
      ["t.d is required and has no default"]
    ],
    "a column that is gone, as after a new name": [{ ...shape, columns: [added] }, ["t.c is gone"]],
    "another type": [{ ...shape, columns: [{ ...column, type: "text" }] }, ["t.c has another type"]],
    "a column that is required now": [
      { ...shape, columns: [{ ...column, isRequired: true }] },
      ["t.c is required now"]
    ],
    "what must be unique now": [
      { ...shape, indexes: ["t CREATE UNIQUE INDEX u"] },
      ["new unique index: t CREATE UNIQUE INDEX u"]
    ],
    "another key": [
      { ...shape, constraints: ["t PRIMARY KEY (c, d)"] },
      ["new constraint: t PRIMARY KEY (c, d)", "constraint gone: t PRIMARY KEY (c)"]
    ]
  }
  for (const [name, [after, expected]] of Object.entries(changes)) {
    it(`are judged: an old node cannot bear ${name}`, () => {
      assert.deepStrictEqual(refusals(shape, after), expected)
    })
  }
})

describe("new nodes", () => {
  it.live("that start at once on an empty database bring it up to date once", () =>
    Effect.gen(function* () {
      const url = yield* emptyDatabase
      yield* Effect.all(
        Array.from({ length: 4 }, () => opened(stores({ url }))),
        { concurrency: "unbounded" }
      )
      const sql = yield* clientOf(url)
      const steps = yield* sql<{ migration_id: number }>`SELECT migration_id FROM weft.weft_migrations ORDER BY 1`
      assert.deepStrictEqual(
        steps.map((step) => step.migration_id),
        steps.map((_, index) => index + 1)
      )
      assert.isAbove(steps.length, previous.lastStep)
    }).pipe(Effect.scoped)
  )

  it.live("wait for whoever uses what they need, and hold up nobody meanwhile", () =>
    Effect.gen(function* () {
      const url = yield* emptyDatabase
      yield* opened(previous.stores({ url }))
      const sql = yield* clientOf(url)
      const user = yield* (yield* clientOf(url)).reserve
      yield* user.executeUnprepared("BEGIN", [], undefined)
      yield* user.executeUnprepared("LOCK TABLE weft.weft_migrations IN ACCESS SHARE MODE", [], undefined)
      const starting = yield* Effect.forkChild(opened(stores({ url })))
      // Longer than a step waits, more than once.
      yield* Effect.sleep("4 seconds")
      assert.isUndefined(starting.pollUnsafe())
      yield* user.executeUnprepared("COMMIT", [], undefined)
      yield* Fiber.join(starting)
      const [last] = yield* sql<{ last: number }>`SELECT max(migration_id) AS last FROM weft.weft_migrations`
      assert.isAbove(last?.last ?? 0, previous.lastStep)
    }).pipe(Effect.scoped)
  )

  it.live("need no right to make schemas where theirs is there", () =>
    Effect.gen(function* () {
      const url = yield* emptyDatabase
      const sql = yield* clientOf(url)
      const role = `weft_tenant_${process.pid}`
      yield* Effect.acquireRelease(sql.unsafe(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`), () =>
        Effect.orDie(Effect.andThen(sql.unsafe(`DROP OWNED BY ${role} CASCADE`), sql.unsafe(`DROP ROLE ${role}`)))
      )
      yield* sql.unsafe(`CREATE SCHEMA weft AUTHORIZATION ${role}`)
      const own = new URL(url)
      own.username = role
      own.password = "secret"
      yield* opened(stores({ url: own.href }))
    }).pipe(Effect.scoped)
  )
})
