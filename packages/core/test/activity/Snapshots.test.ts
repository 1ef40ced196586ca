/** Copies of records in memory go when nobody needs them any more. */
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { makeSnapshots } from "../../src/activity/Snapshots.ts"
import { NotFound } from "../../src/errors/Errors.ts"

setFlagsFromString("--expose-gc")
const collectGarbage: () => void = runInNewContext("gc")

/** What is dereferenced in a turn of the event loop is kept until the next one. */
const nextTurn = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))

const alive = Effect.fnUntraced(function* (records: ReadonlyArray<WeakRef<object>>) {
  yield* nextTurn
  collectGarbage()
  return records.filter((record) => record.deref() !== undefined).length
})

/** Of a hundred that nobody holds, those that the collector may take for held: it looks for them on the stack, too. */
const seenMax = 5

const keys = (first: number, count: number) => Array.from({ length: count }, (_, index) => `key ${first + index}`)

describe("copies of records", () => {
  it.effect("are let go when they are too old and others come, not only when there are too many", () =>
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

  it.effect("of what is not there go, too", () =>
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
