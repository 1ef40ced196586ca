/**
 * In-memory copies of stored records, so that hot paths need no query.
 *
 * A copy lives until it is invalidated or reaches the age limit. This node invalidates it immediately; other nodes do
 * so when a control message arrives. The age limit applies if that message is lost.
 *
 * Concurrent readers of a missing copy share one query. Absent records are remembered separately, so a flood of invalid
 * keys cannot evict real records. Inserting a copy removes some expired ones.
 */
import { Cache, Clock, Duration, Effect, Exit } from "effect"
import { NotFound } from "../../foundation/Errors.ts"
import { SnapshotCache } from "./SnapshotCache.ts"

export interface Snapshots<Key extends string, A, E> {
  readonly get: (key: Key) => Effect.Effect<A, E>
  /** Returns the cached copy. Undefined means that it is not cached; the record may exist. */
  readonly getCached: (key: Key) => A | undefined
  readonly invalidate: (key: Key) => Effect.Effect<void>
  readonly invalidateAll: Effect.Effect<void>
}

export interface SnapshotOptions {
  /** Maximum copies; beyond it the least recently read copy is evicted. Also the maximum of absent keys. */
  readonly capacity: number
  /** Maximum age of a copy, on a node that missed the control message. */
  readonly ageLimit: Duration.Input
}

/** Maximum expired copies that are removed per inserted copy. */
const expiredPerInsert = 4

/** Time until an absent record is queried again, in milliseconds. */
const absentMs = 1000

export const makeSnapshots = <Key extends string, A, E>(
  lookup: (key: Key) => Effect.Effect<A, E>,
  options: SnapshotOptions
): Effect.Effect<Snapshots<Key, A, E>> =>
  Effect.gen(function* () {
    /** Absent keys, the oldest first, with the epoch milliseconds until which they count as absent. */
    const absent = new Map<Key, { readonly error: E; readonly until: number }>()
    const cached = new SnapshotCache<Key, A>(yield* Clock.Clock, Duration.toMillis(options.ageLimit), options.capacity)
    let generation = 0

    const recordAbsent = (key: Key, error: E, queried: number) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        // A key was invalidated after the query began, so its answer may be stale.
        if (queried !== generation) return
        absent.delete(key)
        absent.set(key, { error, until: now + absentMs })
        for (const [oldest, { until }] of absent) {
          if (now < until && absent.size <= options.capacity) break
          absent.delete(oldest)
        }
      })

    const cache: Cache.Cache<Key, A, E> = yield* Cache.makeWith(
      (key: Key) => {
        const queried = generation
        return lookup(key).pipe(
          Effect.tapError((error) => (error instanceof NotFound ? recordAbsent(key, error, queried) : Effect.void)),
          Effect.tap((value) => {
            if (queried === generation) cached.set(key, value)
            return Effect.forEach(cached.expire(expiredPerInsert), (expired) => Cache.invalidate(cache, expired), {
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

    const invalidating = (drop: () => void, dropCopies: Effect.Effect<void>) =>
      Effect.suspend(() => {
        generation++
        drop()
        return dropCopies
      })

    return {
      get: (key) =>
        Effect.suspend(() => {
          const found = absent.get(key)
          return found === undefined ? Cache.get(cache, key) : getAbsent(key, found.error, found.until)
        }),
      getCached: (key) => cached.getCached(key),
      invalidate: (key) =>
        invalidating(
          () => {
            absent.delete(key)
            cached.delete(key)
          },
          Cache.invalidate(cache, key)
        ),
      invalidateAll: invalidating(() => {
        absent.clear()
        cached.clear()
      }, Cache.invalidateAll(cache))
    }
  })
