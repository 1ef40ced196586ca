/**
 * Writes whose result is unknown: a store that does not answer may still have executed the request, and repeating it
 * yields no result. Once the store answers again, all nodes replay the activity since the oldest such write.
 */
import { Clock, Context, Effect, Exit, Layer } from "effect"
import { InFlightMap } from "../../foundation/InFlightMap.ts"
import { Timestamp } from "../../foundation/time/Timestamp.ts"
import { ClusterBus } from "../../platform/cluster/ClusterBus.ts"
import { uncertainMs } from "./LocalRuns.ts"

/** Delay of `activity:missing`: delayed requests mostly reach the store at about the time of its first answer. */
const broadcastDelay = "1 second"

/**
 * Duration in milliseconds from which a write is slow. Activity of slow writes is replayed as well. Meanwhile,
 * clients may have reconnected with positions of a node that did not know of the write.
 */
const slowMs = 2_000

export class UnconfirmedWrites extends Context.Service<
  UnconfirmedWrites,
  {
    /**
     * Executes a write. If it fails or is interrupted, its activity may be stored and is broadcast later. `since` is the
     * time of its oldest activity if that is before the write.
     */
    readonly track: <A, E, R>(write: Effect.Effect<A, E, R>, since?: Timestamp) => Effect.Effect<A, E, R>
    /** Requests that all nodes replay stored activity since `from`. */
    readonly broadcastFrom: (from: Timestamp) => void
    /** Adds a queue of writes. `readOldest` returns the time of its oldest queued activity, or null if it is empty. */
    readonly trackQueue: (readOldest: ReadOldest) => void
    /** Returns the start of the oldest write that is not yet confirmed and broadcast, or null. */
    readonly oldest: () => Timestamp | null
    /** Records that the store answers. Pending activity is broadcast 1 s later. Successful writes do the same. */
    readonly storeAnswered: Effect.Effect<void>
  }
>()("@weft/core/runtime/journal/UnconfirmedWrites") {
  static readonly layer = Layer.effect(
    UnconfirmedWrites,
    Effect.gen(function* () {
      const bus = yield* ClusterBus
      const clock = yield* Clock.Clock
      const scope = yield* Effect.scope
      /** Writes and queues without an answer. */
      const writes = new InFlightMap<ReadOldest, ReadOldest>()
      let from: Timestamp | null = null
      let isBroadcasting = false
      /** Start and time of the second broadcast. */
      let repeatFrom: Timestamp | null = null
      let repeatAt = 0

      const broadcastFrom = (earlier: Timestamp) => {
        from = from === null || earlier < from ? earlier : from
      }
      const oldest = (): Timestamp | null => {
        let least = from
        for (const readOldest of writes.values()) {
          const at = readOldest()
          if (at !== null && (least === null || at < least)) least = at
        }
        return least
      }
      const broadcast = (since: Timestamp) => bus.sendControl([{ type: "activity:missing", since }])
      /** Broadcasts again once every delayed request must have reached the store. */
      const repeat = Effect.gen(function* () {
        while (clock.currentTimeMillisUnsafe() < repeatAt) {
          yield* Effect.sleep(repeatAt - clock.currentTimeMillisUnsafe())
        }
        const since = repeatFrom
        repeatFrom = null
        if (since !== null) yield* broadcast(since)
      })
      const broadcastPending = Effect.gen(function* () {
        yield* Effect.sleep(broadcastDelay)
        const since = from
        from = null
        isBroadcasting = false
        if (since === null) return
        yield* broadcast(since)
        repeatAt = clock.currentTimeMillisUnsafe() + uncertainMs
        const isScheduled = repeatFrom !== null
        repeatFrom = repeatFrom === null || since < repeatFrom ? since : repeatFrom
        if (!isScheduled) yield* Effect.forkIn(repeat, scope)
      })
      const storeAnswered = Effect.suspend(() => {
        if (from === null || isBroadcasting) return Effect.void
        isBroadcasting = true
        return Effect.asVoid(Effect.forkIn(broadcastPending, scope))
      })

      // A node that shuts down broadcasts at once: no other node knows of its unconfirmed writes.
      yield* Effect.addFinalizer(() =>
        Effect.suspend(() => {
          const since = oldest() ?? repeatFrom
          return since === null ? Effect.void : broadcast(since)
        })
      )

      return UnconfirmedWrites.of({
        broadcastFrom,
        storeAnswered,
        oldest,
        trackQueue: (readOldest) => writes.set(readOldest, readOldest),
        track: (write, since) =>
          Effect.suspend(() => {
            const earliest = since ?? Timestamp.make(clock.currentTimeMillisUnsafe(), { disableChecks: true })
            const readOldest = () => earliest
            writes.set(readOldest, readOldest)
            return Effect.onExit(write, (exit) => {
              writes.delete(readOldest)
              if (Exit.isFailure(exit)) return Effect.sync(() => broadcastFrom(earliest))
              if (clock.currentTimeMillisUnsafe() - earliest > slowMs) broadcastFrom(earliest)
              return storeAnswered
            })
          })
      })
    })
  )
}

/** Returns the time of the oldest activity of a write or a queue, or null. */
type ReadOldest = () => Timestamp | null
