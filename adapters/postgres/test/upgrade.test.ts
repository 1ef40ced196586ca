/** Migrations of a schema that nodes of the last release use, and by several new nodes at once. */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { database } from "@weft/postgres"
import { Database, migrateTo } from "@weft/sql"
import { emptyDatabase } from "@weft/tooling/databases"
import { Effect, Fiber, Layer, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { open } from "../src/PostgresClient.ts"
import { postgres } from "../src/PostgresDialect.ts"
import { PostgresUnusable, resolve } from "../src/PostgresOptions.ts"
import { contractions } from "./Contractions.ts"
import { previous } from "./PreviousRelease.ts"
import { type Column, findIncompatible, readShape, type Shape } from "./Shape.ts"

const makeClient = (url: string) =>
  PgClient.makeClient({ url: Redacted.make(url) }).pipe(Effect.provide(Reactivity.layer))

/** Opens and closes the stores of a release, which migrates the schema. */
const openStores = (layer: Layer.Layer<never, unknown> | Layer.Layer<unknown, unknown>) =>
  Effect.scoped(Effect.asVoid(Layer.build(layer)))

const shapeAt = (make: (url: string) => Effect.Effect<void, unknown>) =>
  Effect.flatMap(emptyDatabase, (url) => Effect.andThen(make(url), readShape(url)))

const ofLastRelease = shapeAt((url) => openStores(previous.stores({ url })))
const ofCurrent = shapeAt((url) => openStores(database({ url })))

/** The current migrations up to the last step of the last release. */
const ofCurrentSteps = shapeAt((url) =>
  Effect.gen(function* () {
    const resolved = resolve({ url })
    if (resolved instanceof PostgresUnusable) return yield* resolved
    const sql = yield* open(resolved)
    yield* sql`CREATE SCHEMA weft`
    const database = Database.of({ dialect: postgres, writer: sql, reader: sql, exclusive: false })
    yield* Effect.provideService(migrateTo(previous.lastStep), Database, database)
  }).pipe(Effect.scoped)
)

describe("migrations", () => {
  it.live("that were released are unchanged", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* ofCurrentSteps, yield* ofLastRelease)
    }).pipe(Effect.scoped)
  )

  it.live("that are new remove nothing that nodes of the last release use, and require nothing new of their rows", () =>
    Effect.gen(function* () {
      const found = findIncompatible(yield* ofLastRelease, yield* ofCurrent)
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
    "accept new tables, optional columns and indexes": [
      { ...shape, columns: [column, added, { ...added, table: "u", isRequired: true }], indexes: ["t CREATE INDEX i"] },
      []
    ],
    "accept a new required column with a default": [
      { ...shape, columns: [column, { ...added, isRequired: true, hasDefault: true }] },
      []
    ],
    "reject a new required column without a default": [
      { ...shape, columns: [column, { ...added, isRequired: true }] },
      ["t.d is required and has no default"]
    ],
    "reject a removed or renamed column": [{ ...shape, columns: [added] }, ["t.c is removed"]],
    "reject another column type": [{ ...shape, columns: [{ ...column, type: "text" }] }, ["t.c has another type"]],
    "reject a column that becomes required": [
      { ...shape, columns: [{ ...column, isRequired: true }] },
      ["t.c is required now"]
    ],
    "reject a new unique index": [
      { ...shape, indexes: ["t CREATE UNIQUE INDEX u"] },
      ["new unique index: t CREATE UNIQUE INDEX u"]
    ],
    "reject another primary key": [
      { ...shape, constraints: ["t PRIMARY KEY (c, d)"] },
      ["new constraint: t PRIMARY KEY (c, d)", "removed constraint: t PRIMARY KEY (c)"]
    ]
  }
  for (const [name, [after, expected]] of Object.entries(changes)) {
    it(`are checked for old nodes, which ${name}`, () => {
      assert.deepStrictEqual(findIncompatible(shape, after), expected)
    })
  }
})

describe("new nodes", () => {
  it.live("that start at the same time on an empty database migrate it once", () =>
    Effect.gen(function* () {
      const url = yield* emptyDatabase
      yield* Effect.all(
        Array.from({ length: 4 }, () => openStores(database({ url }))),
        { concurrency: "unbounded" }
      )
      const sql = yield* makeClient(url)
      const steps = yield* sql<{ migration_id: number }>`SELECT migration_id FROM weft.weft_migrations ORDER BY 1`
      assert.deepStrictEqual(
        steps.map((step) => step.migration_id),
        steps.map((_, index) => index + 1)
      )
      assert.isAbove(steps.length, previous.lastStep)
    }).pipe(Effect.scoped)
  )

  it.live("start on the schema of the next release, and refuse that of later ones", () =>
    Effect.gen(function* () {
      const url = yield* emptyDatabase
      yield* openStores(database({ url }))
      const sql = yield* makeClient(url)
      const refusal = Effect.map(Effect.flip(openStores(database({ url }))), String)
      const insertStep = sql`INSERT INTO weft.weft_migrations (migration_id, name) VALUES (9999, 'later')`
      const advance = sql`INSERT INTO weft.generations SELECT MAX(generation) + 1 FROM weft.generations`
      yield* insertStep
      assert.include(yield* refusal, "the schema is of a later release")
      yield* advance
      yield* openStores(database({ url }))
      yield* advance
      assert.include(yield* refusal, "the schema is of a later release")
    }).pipe(Effect.scoped)
  )

  it.live("wait for transactions that lock a table they need, without blocking other statements", () =>
    Effect.gen(function* () {
      const url = yield* emptyDatabase
      yield* openStores(previous.stores({ url }))
      const sql = yield* makeClient(url)
      const user = yield* (yield* makeClient(url)).reserve
      yield* user.executeUnprepared("BEGIN", [], undefined)
      yield* user.executeUnprepared("LOCK TABLE weft.weft_migrations IN ACCESS SHARE MODE", [], undefined)
      const starting = yield* Effect.forkChild(openStores(database({ url })))
      // Several times longer than the lock timeout.
      yield* Effect.sleep("4 seconds")
      assert.isUndefined(starting.pollUnsafe())
      yield* user.executeUnprepared("COMMIT", [], undefined)
      yield* Fiber.join(starting)
      const [last] = yield* sql<{ last: number }>`SELECT max(migration_id) AS last FROM weft.weft_migrations`
      assert.isAbove(last?.last ?? 0, previous.lastStep)
    }).pipe(Effect.scoped)
  )

  it.live("need no right to create schemas if theirs exists", () =>
    Effect.gen(function* () {
      const url = yield* emptyDatabase
      const sql = yield* makeClient(url)
      const role = `weft_tenant_${process.pid}`
      yield* Effect.acquireRelease(sql.unsafe(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`), () =>
        Effect.orDie(Effect.andThen(sql.unsafe(`DROP OWNED BY ${role} CASCADE`), sql.unsafe(`DROP ROLE ${role}`)))
      )
      yield* sql.unsafe(`CREATE SCHEMA weft AUTHORIZATION ${role}`)
      const own = new URL(url)
      own.username = role
      own.password = "secret"
      yield* openStores(database({ url: own.href }))
    }).pipe(Effect.scoped)
  )
})
