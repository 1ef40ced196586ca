/** Rate limits of organizations over several nodes, each with its own connections. */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { RateNodes, rateNodesContract } from "@weft/contract"
import { OrgId } from "@weft/core"
import { RateStore, Timestamp } from "@weft/core/adapter"
import { database } from "@weft/postgres"
import { Context, Effect, Exit, Layer, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { freshDatabase } from "./Fresh.ts"
import { proxy } from "./Proxy.ts"

const nodesOn = (url: string, count: number) =>
  Effect.map(Effect.replicateEffect(Layer.build(Layer.fresh(database({ url, connections: 3 }))), count), (built) =>
    built.map((context) => Context.get(context, RateStore))
  )

rateNodesContract(
  "PostgreSQL",
  Layer.effect(
    RateNodes,
    Effect.flatMap(freshDatabase, (url) => nodesOn(url, 3))
  )
)

const orgs = Array.from({ length: 30 }, (_, n) =>
  OrgId.make(`01976a2b-0001-7000-8000-${n.toString(16).padStart(12, "0")}`)
)
const at = (millis: number) => Timestamp.make(1_750_000_000_000 + millis)

/** Sends requests of the organization one after the other. Returns the number of allowed ones. */
const granted = Effect.fnUntraced(function* (
  store: RateStore["Service"],
  org: OrgId | undefined,
  perSecond: number,
  times: ReadonlyArray<number>
) {
  let count = 0
  for (const time of times) if (org !== undefined && (yield* store.take(org, perSecond, at(time))) === 0) count++
  return count
})

const every = (gap: number, until: number) => Array.from({ length: Math.floor(until / gap) }, (_, n) => n * gap)

/** Counts the statements that allocate permits from now on. */
const countAllocations = Effect.fnUntraced(function* (url: string) {
  const sql = yield* PgClient.makeClient({ url: Redacted.make(url) }).pipe(Effect.provide(Reactivity.layer))
  yield* sql.unsafe(`CREATE SEQUENCE asks`)
  yield* sql.unsafe(`CREATE FUNCTION count_ask() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM nextval('public.asks'); RETURN NULL; END $$`)
  yield* sql.unsafe(`CREATE TRIGGER count_asks AFTER INSERT ON weft.rates EXECUTE FUNCTION count_ask()`)
  return Effect.map(sql<{ n: string }>`SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS n FROM asks`, ([row]) =>
    Number(row?.n)
  )
})

describe("rates on PostgreSQL", () => {
  it.effect("need a few statements a second for a busy organization, and none for a refusal", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      const [store] = yield* nodesOn(url, 1)
      assert.isDefined(store)
      const allocations = yield* countAllocations(url)
      // 1,000 requests a second for 3 s. Half of them are allowed after the initial burst of one second's permits.
      assert.isAtLeast(yield* granted(store, orgs[0], 500, every(1, 3000)), 1990)
      assert.isAtMost(yield* allocations, 60)
      const before = yield* allocations
      assert.strictEqual(yield* granted(store, orgs[1], 5, [...every(1, 100), ...every(1, 100)]), 5)
      assert.isAtMost((yield* allocations) - before, 8)
    })
  )

  it.effect("need one statement for concurrent requests, of one organization or of many", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      const [store] = yield* nodesOn(url, 1)
      assert.isDefined(store)
      const allocations = yield* countAllocations(url)
      const waits = yield* Effect.forEach(
        orgs.flatMap((org) => Array.from({ length: 50 }, () => org)),
        (org) => store.take(org, 20, at(0)),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(waits.filter((wait) => wait === 0).length, 20 * orgs.length)
      assert.isAtMost(yield* allocations, 2)
    })
  )

  it.live("use up a node's permits during an outage of the database, then fail, and recover after it", () =>
    Effect.gen(function* () {
      const { url, cut, restore } = yield* proxy(yield* freshDatabase)
      const [store] = yield* nodesOn(url, 1)
      assert.isDefined(store)
      yield* granted(store, orgs[0], 100, every(2, 2000))

      yield* cut
      const results = yield* Effect.forEach(every(2, 500), (time) =>
        Effect.exit(granted(store, orgs[0], 100, [2000 + time]))
      )
      assert.isAtMost(results.filter((exit) => Exit.isSuccess(exit) && exit.value === 1).length, 21)
      for (const org of [orgs[0], orgs[1]]) {
        const error = yield* Effect.flip(granted(store, org, 100, [4000]))
        assert.strictEqual(error._tag, "StoreUnavailable")
      }

      yield* restore
      assert.strictEqual(yield* granted(store, orgs[1], 5, every(1, 10)), 5)
    })
  )
})
