/**
 * Bytes on their way to a record.
 *
 * Their key is noted as loose before the first byte is written, and the note is kept fresh while the writer is at
 * work. So whatever happens, to the writer or to the whole process, the bytes end up named by a record or removed.
 */
import { Effect, Exit } from "effect"
import { BlobStore, type Written } from "../blobs/BlobStore.ts"
import { StoreUnavailable } from "../errors/Errors.ts"
import { logOutage } from "../errors/Lasting.ts"
import { addMillis, now } from "../ids/Timestamp.ts"
import { FileStore, type Stored } from "./FileStore.ts"

/** How long a note holds that nobody extends, and how often one is extended, in milliseconds. */
const noteMs = 30_000
const extendMs = 10_000

export interface LooseBytes {
  /**
   * Writes under a fresh key, then stores the record. What was written and is not stored is removed, at once or by
   * the janitor. Whether the record was stored is known also when the fiber is interrupted.
   */
  readonly through: <E, E2>(
    key: string,
    write: Effect.Effect<Written, E>,
    store: (written: Written) => Effect.Effect<Stored, E2>
  ) => Effect.Effect<Stored, E | E2 | StoreUnavailable>
}

export const makeLooseBytes: Effect.Effect<LooseBytes, never, FileStore | BlobStore> = Effect.gen(function* () {
  const files = yield* FileStore
  const blobs = yield* BlobStore

  /** Fails when the note is lost; a store that does not answer has two more chances before that. */
  const extend = (key: string) =>
    Effect.flatMap(now, (instant) => files.extend(key, addMillis(instant, noteMs))).pipe(
      Effect.catchTag("StoreUnavailable", (error) => Effect.as(logOutage(error), true)),
      Effect.flatMap((isLoose) => (isLoose ? Effect.void : Effect.fail(noteLost)))
    )
  const keepFresh = (key: string) => Effect.forever(Effect.andThen(Effect.sleep(extendMs), extend(key)))

  const clearAway = (key: string) =>
    Effect.andThen(blobs.remove(key), files.forget([key])).pipe(
      Effect.ignore({ log: "Warn", message: "Bytes of no file are left to the janitor" })
    )

  return {
    through: (key, write, store) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function* () {
          yield* files.announce(key, addMillis(yield* now, noteMs))
          const written = yield* Effect.exit(restore(Effect.raceFirst(write, keepFresh(key))))
          if (Exit.isFailure(written)) {
            yield* clearAway(key)
            return yield* Effect.failCause(written.cause)
          }
          // A store that did not answer may have stored it all the same: then the note is gone, else it stays.
          const stored = yield* store(written.value)
          if (stored._tag !== "Stored") yield* clearAway(key)
          return stored
        })
      )
  }
})

const noteLost = new StoreUnavailable({ operation: "extend", cause: new Error("The note of loose bytes was taken") })
