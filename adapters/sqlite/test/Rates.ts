/** The stores of rates that nodes share, on SQLite: one process, but everything else is as between nodes. */
import { RateNodes } from "@weft/contract"
import { RateStore } from "@weft/core"
import { rateStore } from "@weft/sql"
import { Context, Effect, Layer } from "effect"
import { sharedDatabase } from "./Shared.ts"

/** One node. */
export const rates = Layer.provide(rateStore, sharedDatabase)

const three = Effect.map(Effect.replicateEffect(Layer.build(Layer.fresh(rateStore)), 3), (built) =>
  built.map((context) => Context.get(context, RateStore))
)

export const rateNodes = Layer.provide(Layer.effect(RateNodes, three), sharedDatabase)
