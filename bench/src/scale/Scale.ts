/** A database as after weeks of use, and what the run loop does with it. */
import { PgClient } from "@effect/sql-pg"
import { database, storesOn } from "@weft/postgres"
import { Database } from "@weft/sql"
import { Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { Reactivity } from "effect/reactivity"
import type { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { type ClaimTimes, claimTimes, type Fairness, fairness } from "./Claims.ts"
import { fill, fillHistory, type Size } from "./Fill.ts"
import { observed } from "./Observed.ts"
import { largeTables, type Planned, planKeeper } from "./Plans.ts"
import { runLoop } from "./RunLoop.ts"

const fortnight = 14 * 86_400_000

const administrator = (url: string) =>
  Effect.provide(
    PgClient.makeClient({ url: Redacted.make(url), startupParameters: { search_path: "weft" } }),
    Reactivity.layer
  )

/** Makes the tables, with the partitions of the past weeks as they were made then, and fills them. */
export const prepare = (url: string, size: Size, progress: (text: string) => void) =>
  prepareBy(fill, url, size, progress)

/** As `prepare`, with nothing that waits or runs. */
export const prepareHistory = (url: string, size: Size, progress: (text: string) => void) =>
  prepareBy(fillHistory, url, size, progress)

const prepareBy = (filling: typeof fill, url: string, size: Size, progress: (text: string) => void) =>
  Effect.gen(function* () {
    for (let at = size.now - size.weeks * 7 * 86_400_000; at <= size.now; at += fortnight) {
      const opened = Effect.andThen(TestClock.setTime(at), Layer.build(database({ url })))
      yield* Effect.provide(Effect.scoped(opened), TestClock.layer())
    }
    yield* filling(yield* administrator(url), size, progress)
  }).pipe(Effect.scoped)

/** The plans of all statements of the run loop. */
export const plansOf = (url: string, size: Size) =>
  Effect.gen(function* () {
    const sql = yield* administrator(url)
    const large = yield* largeTables((text) => sql.unsafe<{ readonly name: string }>(text))
    const { plans, look, during } = planKeeper(large)
    const looked = Layer.effect(
      Database,
      Effect.gen(function* () {
        const opened = yield* Database
        const client = yield* observed(opened.writer, look)
        return { ...opened, writer: client, reader: client }
      })
    )
    const layer = storesOn.pipe(Layer.provide(looked), Layer.provide(database({ url, statementTimeoutMs: 120_000 })))
    yield* Effect.provide(runLoop(during, size), Layer.merge(layer, SecureRandom.layerWebCrypto))
    return plans
  }).pipe(Effect.scoped)

export const claimsOf = (
  url: string,
  size: Size,
  times: number
): Effect.Effect<{ readonly times: ClaimTimes; readonly fairness: Fairness }, unknown> =>
  Effect.gen(function* () {
    const sql: SqlClient.SqlClient = yield* administrator(url)
    const layer = Layer.provide(storesOn, database({ url }))
    return yield* Effect.gen(function* () {
      return { times: yield* claimTimes(sql, size, times), fairness: yield* fairness(sql, size) }
    }).pipe(Effect.provide(Layer.merge(layer, SecureRandom.layerWebCrypto)))
  }).pipe(Effect.scoped)

/** What reads a large table from one end to the other, or very many rows. */
export const faulty = (plans: ReadonlyArray<Planned>, readMax: number): ReadonlyArray<Planned> =>
  plans.filter((planned) => planned.scanned.length > 0 || planned.read > readMax)
