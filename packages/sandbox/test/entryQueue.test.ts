import { assert, describe, it } from "vitest"
import { EntryQueue } from "../src/runner/EntryQueue.ts"

const queueOf = (...isolates: ReadonlyArray<readonly [owner: number, name: string]>) => {
  const queue = new EntryQueue<{ readonly owner: number; readonly name: string }>()
  for (const [owner, name] of isolates) queue.push({ owner, name })
  return (mayEnter: (owner: number) => boolean = () => true): string | undefined => queue.next(mayEnter)?.name
}

describe("the queue of isolates that wait to compute", () => {
  it("takes turns between owners, and keeps the order of each", () => {
    const next = queueOf([1, "a"], [1, "b"], [1, "c"], [2, "d"], [3, "e"], [2, "f"])
    assert.deepStrictEqual(
      Array.from({ length: 7 }, () => next()),
      ["a", "d", "e", "b", "f", "c", undefined]
    )
  })

  it("passes owners that may not enter, which keep their place", () => {
    const next = queueOf([1, "a"], [2, "b"], [1, "c"], [3, "d"])
    assert.strictEqual(
      next((owner) => owner !== 1),
      "b"
    )
    assert.isUndefined(next(() => false))
    assert.strictEqual(next(), "a")
    assert.strictEqual(
      next((owner) => owner === 1),
      "c"
    )
    assert.strictEqual(next(), "d")
  })
})
