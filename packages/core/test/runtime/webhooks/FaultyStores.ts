/** In-memory stores whose commits and counts fail on demand, before or after they are applied. */
import { StoreUnavailable } from "@weft/core"
import { JournalStore } from "@weft/core/adapter"
import { MemoryStores } from "@weft/core/testing"
import { Context, Effect, Layer } from "effect"

/** `down` applies nothing. `mute` applies everything and fails nevertheless. `broken` fails with a defect. */
export type Health = "up" | "down" | "mute" | "broken"

export const faultyStores = (health: () => Health) =>
  Layer.effectContext(
    Effect.map(Effect.context<Layer.Success<typeof MemoryStores.layer>>(), (stores) => {
      const journal = Context.get(stores, JournalStore)
      const failure = Effect.fail(new StoreUnavailable({ operation: "commit", cause: new Error("No answer in time") }))
      const faulty = <A>(write: Effect.Effect<A, StoreUnavailable>) =>
        Effect.suspend((): Effect.Effect<A, StoreUnavailable> => {
          switch (health()) {
            case "up":
              return write
            case "down":
              return failure
            case "mute":
              return Effect.andThen(write, failure)
            case "broken":
              return Effect.die(new Error("The store is broken"))
          }
        })
      return Context.add(stores, JournalStore, {
        ...journal,
        commit: (...args) => faulty(journal.commit(...args)),
        count: (...args) => faulty(journal.count(...args))
      })
    })
  ).pipe(Layer.provide(MemoryStores.layer))
