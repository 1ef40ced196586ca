/**
 * Writes bytes whose record is not yet stored.
 *
 * The key is reserved before the first byte is written, and the reservation is extended while the write continues.
 * Therefore, even if the process crashes, a record references the bytes or the janitor removes them.
 */
import { Effect, Exit } from "effect"
import { StoreUnavailable } from "../../foundation/Errors.ts"
import { logOutage } from "../../foundation/Supervised.ts"
import { addMillis, now } from "../../foundation/time/Timestamp.ts"
import { BlobStore, type WrittenBlob } from "../../platform/blobs/BlobStore.ts"
import { FileStore, type Stored } from "./FileStore.ts"

/** Duration of a reservation, and interval in which it is extended, in milliseconds. */
const reservationMs = 30_000
const extendMs = 10_000

export interface UncommittedBlobs {
  /**
   * Writes the bytes under a new key, then stores the record. If the record is not stored, removes the bytes, or leaves
   * them to the janitor. An interruption cannot separate the store from its result.
   */
  readonly writeAndStore: <E, E2>(
    key: string,
    write: Effect.Effect<WrittenBlob, E>,
    store: (written: WrittenBlob) => Effect.Effect<Stored, E2>
  ) => Effect.Effect<Stored, E | E2 | StoreUnavailable>
}

export const makeUncommittedBlobs: Effect.Effect<UncommittedBlobs, never, FileStore | BlobStore> = Effect.gen(
  function* () {
    const files = yield* FileStore
    const blobs = yield* BlobStore

    /** Fails if the reservation is lost. If the store is unavailable, two more attempts follow before it expires. */
    const extend = (key: string) =>
      Effect.flatMap(now, (instant) => files.extend(key, addMillis(instant, reservationMs))).pipe(
        Effect.catchTag("StoreUnavailable", (error) => Effect.as(logOutage(error), true)),
        Effect.flatMap((isReserved) => (isReserved ? Effect.void : Effect.fail(reservationLost)))
      )
    const keepReserved = (key: string) => Effect.forever(Effect.andThen(Effect.sleep(extendMs), extend(key)))

    const discard = (key: string) =>
      Effect.andThen(blobs.remove(key), files.release([key])).pipe(
        Effect.ignore({ log: "Warn", message: "Unreferenced bytes could not be removed; the janitor will remove them" })
      )

    return {
      writeAndStore: (key, write, store) =>
        Effect.uninterruptibleMask((restore) =>
          Effect.gen(function* () {
            yield* files.reserve(key, addMillis(yield* now, reservationMs))
            const written = yield* Effect.exit(restore(Effect.raceFirst(write, keepReserved(key))))
            if (Exit.isFailure(written)) {
              yield* discard(key)
              return yield* Effect.failCause(written.cause)
            }
            // If the store fails, the record may be stored. Only then is the reservation gone, so the janitor decides.
            const stored = yield* store(written.value)
            if (stored._tag !== "Stored") yield* discard(key)
            return stored
          })
        )
    }
  }
)

const reservationLost = new StoreUnavailable({
  operation: "extend",
  cause: new Error("The reservation of the bytes expired")
})
