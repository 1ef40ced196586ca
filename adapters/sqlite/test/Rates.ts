/** The stores of rates that nodes share, on SQLite: one process, but everything else is as between nodes. */
import { RateNodes } from "@weft/contract"
import { RateStore } from "@weft/core"
import { Database, migrate, rateStore, sqlite } from "@weft/sql"
import { Context, Effect, Layer } from "effect"
import { open } from "../src/SqliteClient.ts"

const database = Layer.effect(
  Database,
  Effect.gen(function* () {
    const client = yield* open({ file: ":memory:", synchronous: "normal", readonly: false })
    const shared = Database.of({ dialect: sqlite, writer: client, reader: client, exclusive: false })
    return yield* Effect.as(Effect.provideService(migrate, Database, shared), shared)
  }).pipe(Effect.orDie)
)

/** One node. */
export const rates = Layer.provide(rateStore, database)

const three = Effect.map(Effect.replicateEffect(Layer.build(Layer.fresh(rateStore)), 3), (built) =>
  built.map((context) => Context.get(context, RateStore))
)

export const rateNodes = Layer.provide(Layer.effect(RateNodes, three), database)
