/** Rate stores of several nodes, on SQLite. They share one process, but otherwise behave as separate nodes. */
import { RateNodes } from "@weft/contract"
import { RateStore } from "@weft/core/adapter"
import { rateStore } from "@weft/sql"
import { Context, Effect, Layer } from "effect"
import { sharedDatabase } from "./Shared.ts"

/** One node. */
export const rates = Layer.provide(rateStore, sharedDatabase)

const three = Effect.map(Effect.replicateEffect(Layer.build(Layer.fresh(rateStore)), 3), (built) =>
  built.map((context) => Context.get(context, RateStore))
)

export const rateNodes = Layer.provide(Layer.effect(RateNodes, three), sharedDatabase)
