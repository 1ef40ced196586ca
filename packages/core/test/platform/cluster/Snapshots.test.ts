/** Cached records become garbage when they expire. */
import { assert, describe, it } from "@effect/vitest"
import { collectGarbage } from "@weft/tooling/garbage"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { NotFound } from "../../../src/foundation/Errors.ts"
import { makeSnapshots } from "../../../src/platform/cluster/Snapshots.ts"

/** A dereferenced object stays alive until the next turn of the event loop. */
const nextTurn = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))

const alive = Effect.fnUntraced(function* (records: ReadonlyArray<WeakRef<object>>) {
  yield* nextTurn
  collectGarbage()
  return records.filter((record) => record.deref() !== undefined).length
})

/** Maximum unreachable records, of 100, that the conservative stack scan of the collector keeps alive. */
const seenMax = 5

const keys = (first: number, count: number) => Array.from({ length: count }, (_, index) => `key ${first + index}`)

describe("snapshots", () => {
  it.effect("are released after their age limit when others are read, not only above the capacity", () =>
    Effect.gen(function* () {
      const records: Array<WeakRef<object>> = []
      const snapshots = yield* makeSnapshots(
        (key: string) =>
          Effect.sync(() => {
            const record = { key }
            records.push(new WeakRef(record))
            return record
          }),
        { capacity: 10_000, ageLimit: "60 seconds" }
      )
      yield* Effect.forEach(keys(0, 100), snapshots.get, { discard: true })
      assert.strictEqual(yield* alive(records), 100)
      yield* TestClock.adjust("61 seconds")
      yield* Effect.forEach(keys(100, 30), snapshots.get, { discard: true })
      assert.isAtMost(yield* alive(records.slice(0, 100)), seenMax)
      assert.strictEqual(yield* alive(records.slice(100)), 30)
      assert.deepStrictEqual(yield* snapshots.get("key 0"), { key: "key 0" })
      assert.strictEqual(records.length, 131)
    })
  )

  it.effect("of missing records are also released", () =>
    Effect.gen(function* () {
      const errors: Array<WeakRef<object>> = []
      const snapshots = yield* makeSnapshots(
        () => {
          const error = new NotFound({ resource: "credential" })
          errors.push(new WeakRef(error))
          return Effect.fail(error)
        },
        { capacity: 10_000, ageLimit: "60 seconds" }
      )
      yield* Effect.forEach(keys(0, 100), (key) => Effect.flip(snapshots.get(key)), { discard: true })
      yield* TestClock.adjust("2 seconds")
      yield* Effect.flip(snapshots.get("another"))
      assert.isAtMost(yield* alive(errors.slice(0, 100)), seenMax)
    })
  )
})
