/** A database with weeks of data, and the run loop on it. */
import { PgClient } from "@effect/sql-pg"
import { connection, storesOn } from "@weft/postgres"
import { Database } from "@weft/sql"
import { Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { Reactivity } from "effect/reactivity"
import type { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { type ClaimTimes, claimTimes, type Fairness, fairness } from "./Claims.ts"
import { fill, fillHistory, type Size } from "./Fill.ts"
import { inspected } from "./InspectedClient.ts"
import { largeTables, type Planned, planRecorder } from "./Plans.ts"
import { runLoop } from "./RunLoop.ts"

const twoWeeks = 14 * 86_400_000

const administrator = (url: string) =>
  Effect.provide(
    PgClient.makeClient({ url: Redacted.make(url), startupParameters: { search_path: "weft" } }),
    Reactivity.layer
  )

/** Creates the tables with the partitions of past weeks, and fills them. */
export const prepare = (url: string, size: Size, progress: (text: string) => void) =>
  prepareWith(fill, url, size, progress)

/** Like `prepare`, without pending deliveries and active runs. */
export const prepareHistory = (url: string, size: Size, progress: (text: string) => void) =>
  prepareWith(fillHistory, url, size, progress)

const prepareWith = (filling: typeof fill, url: string, size: Size, progress: (text: string) => void) =>
  Effect.gen(function* () {
    for (let at = size.now - size.weeks * 7 * 86_400_000; at <= size.now; at += twoWeeks) {
      const opened = Effect.andThen(TestClock.setTime(at), Layer.build(connection({ url })))
      yield* Effect.provide(Effect.scoped(opened), TestClock.layer())
    }
    yield* filling(yield* administrator(url), size, progress)
  }).pipe(Effect.scoped)

/** Collects the plans of all statements of the run loop. */
export const collectPlans = (url: string, size: Size) =>
  Effect.gen(function* () {
    const sql = yield* administrator(url)
    const large = yield* largeTables((text) => sql.unsafe<{ readonly name: string }>(text))
    const { plans, inspect, during } = planRecorder(large)
    const inspectedDatabase = Layer.effect(
      Database,
      Effect.gen(function* () {
        const opened = yield* Database
        const client = yield* inspected(opened.writer, inspect)
        return { ...opened, writer: client, reader: client }
      })
    )
    const layer = storesOn.pipe(
      Layer.provide(inspectedDatabase),
      Layer.provide(connection({ url, statementTimeoutMs: 120_000 }))
    )
    yield* Effect.provide(runLoop(during, size), Layer.merge(layer, SecureRandom.layerWebCrypto))
    return plans
  }).pipe(Effect.scoped)

/** Measures claims with a long queue. */
export const measureClaims = (
  url: string,
  size: Size,
  times: number
): Effect.Effect<{ readonly times: ClaimTimes; readonly fairness: Fairness }, unknown> =>
  Effect.gen(function* () {
    const sql: SqlClient.SqlClient = yield* administrator(url)
    const layer = Layer.provide(storesOn, connection({ url }))
    return yield* Effect.gen(function* () {
      return { times: yield* claimTimes(sql, size, times), fairness: yield* fairness(sql, size) }
    }).pipe(Effect.provide(Layer.merge(layer, SecureRandom.layerWebCrypto)))
  }).pipe(Effect.scoped)

/** Returns the statements that scan a large table or read more than `readMax` rows. */
export const findFaulty = (plans: ReadonlyArray<Planned>, readMax: number): ReadonlyArray<Planned> =>
  plans.filter((planned) => planned.scanned.length > 0 || planned.read > readMax)
