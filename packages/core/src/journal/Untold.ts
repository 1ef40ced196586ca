/**
 * What was stored and may have been told to nobody: a store that does not answer may have done what it was asked, and
 * asking it again gives no result. Those who watch are told from the store, on all nodes, once it answers again.
 */
import { Clock, Context, Effect, Exit, Layer } from "effect"
import { Feed } from "../activity/Feed.ts"
import { Timestamp } from "../ids/Timestamp.ts"
import { Roster } from "../runs/Roster.ts"
import { doubtMs } from "./OwnRuns.ts"

/** What a network held up mostly arrives at about the time of the first answer, and is to be among what is told. */
const delay = "1 second"

/**
 * What was stored so long after it happened is told from the store, too: watchers who change nodes meanwhile bring along
 * how far the other node had got, which knew nothing of it.
 */
const slowMs = 2_000

export class Untold extends Context.Service<
  Untold,
  {
    /**
     * Writes to the store. Where that fails, or was interrupted, nobody knows what was stored meanwhile. `happened` says
     * since when that has happened, where it is older than the writing.
     */
    readonly during: <A, E, R>(writing: Effect.Effect<A, E, R>, happened?: Timestamp) => Effect.Effect<A, E, R>
    /** What has happened since then is to be told from the store. */
    readonly since: (from: Timestamp) => void
    /** `happened` says at any time since when has happened what still waits to be written; null while nothing does. */
    readonly waiting: (happened: Happened) => void
    /** Since when has happened what is perhaps stored and not told yet; null where there is nothing. */
    readonly oldest: () => Timestamp | null
    /** The store answers, as a write that succeeds says, too: what is still to be told is told a moment later. */
    readonly answered: Effect.Effect<void>
  }
>()("@weft/core/runs/Untold") {
  static readonly layer = Layer.effect(
    Untold,
    Effect.gen(function* () {
      const feed = yield* Feed
      const clock = yield* Clock.Clock
      const scope = yield* Effect.scope
      /** Since when has happened what writes store that have no answer yet. */
      const writes = new Roster<Happened, Happened>()
      let from: Timestamp | null = null
      let isTelling = false
      /** What is to be told once more, and when. */
      let lateFrom: Timestamp | null = null
      let lateUntil = 0

      const since = (earlier: Timestamp) => {
        from = from === null || earlier < from ? earlier : from
      }
      const oldest = (): Timestamp | null => {
        let least = from
        for (const happened of writes.values()) {
          const at = happened()
          if (at !== null && (least === null || at < least)) least = at
        }
        return least
      }
      const missing = (told: Timestamp) => feed.tell([{ type: "activity:missing", since: told }])
      /** What is still held up is told when it must have arrived. */
      const tellLate = Effect.gen(function* () {
        while (clock.currentTimeMillisUnsafe() < lateUntil) {
          yield* Effect.sleep(lateUntil - clock.currentTimeMillisUnsafe())
        }
        const told = lateFrom
        lateFrom = null
        if (told !== null) yield* missing(told)
      })
      const tell = Effect.gen(function* () {
        yield* Effect.sleep(delay)
        const told = from
        from = null
        isTelling = false
        if (told === null) return
        yield* missing(told)
        lateUntil = clock.currentTimeMillisUnsafe() + doubtMs
        const isWaiting = lateFrom !== null
        lateFrom = lateFrom === null || told < lateFrom ? told : lateFrom
        if (!isWaiting) yield* Effect.forkIn(tellLate, scope)
      })
      const answered = Effect.suspend(() => {
        if (from === null || isTelling) return Effect.void
        isTelling = true
        return Effect.asVoid(Effect.forkIn(tell, scope))
      })

      // A node that stops has no time to wait, and what it did not tell nobody would.
      yield* Effect.addFinalizer(() =>
        Effect.suspend(() => {
          const told = oldest() ?? lateFrom
          return told === null ? Effect.void : missing(told)
        })
      )

      return Untold.of({
        since,
        answered,
        oldest,
        waiting: (happened) => writes.set(happened, happened),
        during: (writing, happened) =>
          Effect.suspend(() => {
            const earliest = happened ?? Timestamp.make(clock.currentTimeMillisUnsafe(), { disableChecks: true })
            const write = () => earliest
            writes.set(write, write)
            return Effect.onExit(writing, (exit) => {
              writes.delete(write)
              if (Exit.isFailure(exit)) return Effect.sync(() => since(earliest))
              if (clock.currentTimeMillisUnsafe() - earliest > slowMs) since(earliest)
              return answered
            })
          })
      })
    })
  )
}

/** Since when what is being written has happened; null while nothing is. */
type Happened = () => Timestamp | null
