/**
 * What was stored and may have been told to nobody: a store that does not answer may have done what it was asked, and
 * who asks again is told nothing new. Those who watch are told from the store, on all nodes, once it answers again.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { Feed } from "../activity/Feed.ts"
import { Timestamp } from "../ids/Timestamp.ts"

/** What a network held up arrives at about the time of the first answer, and is to be among what is told. */
const delay = "1 second"

export class Untold extends Context.Service<
  Untold,
  {
    /** Writes to the store. Where that fails, or was interrupted, nobody knows what was stored meanwhile. */
    readonly during: <A, E, R>(writing: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /** What has happened since then is to be told from the store. */
    readonly since: (from: Timestamp) => void
  }
>()("@weft/core/runs/Untold") {
  static readonly layer = Layer.effect(
    Untold,
    Effect.gen(function* () {
      const feed = yield* Feed
      const clock = yield* Clock.Clock
      const scope = yield* Effect.scope
      let from: Timestamp | null = null
      let isTelling = false

      const since = (earlier: Timestamp) => {
        from = from === null || earlier < from ? earlier : from
      }
      const tell = Effect.gen(function* () {
        yield* Effect.sleep(delay)
        const told = from
        from = null
        isTelling = false
        if (told !== null) yield* feed.tell([{ type: "activity:missing", since: told }])
      })
      const answered = Effect.suspend(() => {
        if (from === null || isTelling) return Effect.void
        isTelling = true
        return Effect.asVoid(Effect.forkIn(tell, scope))
      })

      return Untold.of({
        since,
        during: (writing) =>
          Effect.suspend(() => {
            const began = Timestamp.make(clock.currentTimeMillisUnsafe())
            return Effect.onError(
              Effect.tap(writing, () => answered),
              () => Effect.sync(() => since(began))
            )
          })
      })
    })
  )
}
