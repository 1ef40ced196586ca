/**
 * Copies of stored records in memory, so that hot paths need no query.
 *
 * A copy lives until it is forgotten (on this node at once, on others when the feed tells) or until it is
 * older than the age limit, which holds where a message of the feed was lost. Concurrent readers of a missing
 * copy share one query. That a record is absent is remembered too, but apart: a flood of made-up keys cannot
 * push real records out. Copies that nobody asks for any more go as new ones come.
 */
import { Cache, Clock, Duration, Effect, Exit } from "effect"
import { NotFound } from "../errors/Errors.ts"
import { AtHand } from "./AtHand.ts"

export interface Snapshots<Key extends string, A, E> {
  readonly get: (key: Key) => Effect.Effect<A, E>
  /** The copy that is at hand; undefined says nothing. */
  readonly peek: (key: Key) => A | undefined
  readonly forget: (key: Key) => Effect.Effect<void>
  readonly forgetAll: Effect.Effect<void>
}

export interface SnapshotOptions {
  /** Copies to keep; beyond, the one that was not read for the longest goes. Also the bound of the absent ones. */
  readonly capacity: number
  /** The longest that a node which missed the news goes on with its copy. */
  readonly ageLimit: Duration.Input
}

/** Copies that are let go for each one that comes, at most. */
const expiredAtOnce = 4

/** How long an absent record is taken for absent without asking again. */
const absentMs = 1000

export const makeSnapshots = <Key extends string, A, E>(
  lookup: (key: Key) => Effect.Effect<A, E>,
  options: SnapshotOptions
): Effect.Effect<Snapshots<Key, A, E>> =>
  Effect.gen(function* () {
    /** Absent keys, the first noted first, with the epoch milliseconds until which they count as absent. */
    const absent = new Map<Key, { readonly error: E; readonly until: number }>()
    const atHand = new AtHand<Key, A>(yield* Clock.Clock, Duration.toMillis(options.ageLimit), options.capacity)
    let generation = 0

    const noteAbsent = (key: Key, error: E, asked: number) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        // Whoever forgot a key in the meantime knows that this answer may be out of date.
        if (asked !== generation) return
        absent.delete(key)
        absent.set(key, { error, until: now + absentMs })
        for (const [oldest, { until }] of absent) {
          if (now < until && absent.size <= options.capacity) break
          absent.delete(oldest)
        }
      })

    const cache: Cache.Cache<Key, A, E> = yield* Cache.makeWith(
      (key: Key) => {
        const asked = generation
        return lookup(key).pipe(
          Effect.tapError((error) => (error instanceof NotFound ? noteAbsent(key, error, asked) : Effect.void)),
          Effect.tap((value) => {
            if (asked === generation) atHand.note(key, value)
            return Effect.forEach(atHand.expire(expiredAtOnce), (expired) => Cache.invalidate(cache, expired), {
              discard: true
            })
          })
        )
      },
      { capacity: options.capacity, timeToLive: (exit) => (Exit.isSuccess(exit) ? options.ageLimit : 0) }
    )

    const getAbsent = (key: Key, error: E, until: number) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        if (now < until) return Effect.fail(error)
        absent.delete(key)
        return Cache.get(cache, key)
      })

    const forgetting = (drop: () => void, dropCopies: Effect.Effect<void>) =>
      Effect.suspend(() => {
        generation++
        drop()
        return dropCopies
      })

    return {
      get: (key) =>
        Effect.suspend(() => {
          const noted = absent.get(key)
          return noted === undefined ? Cache.get(cache, key) : getAbsent(key, noted.error, noted.until)
        }),
      peek: (key) => atHand.peek(key),
      forget: (key) =>
        forgetting(
          () => {
            absent.delete(key)
            atHand.forget(key)
          },
          Cache.invalidate(cache, key)
        ),
      forgetAll: forgetting(() => {
        absent.clear()
        atHand.forgetAll()
      }, Cache.invalidateAll(cache))
    }
  })
