import { assert, describe, it } from "@effect/vitest"
import { hasMoreContainers, isDeeper } from "@weft/core/adapter"
import * as fc from "fast-check"

/** Counts the levels of a value by recursion. */
const levelsOf = (value: unknown): number =>
  typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(levelsOf)) : 0

describe("isDeeper", () => {
  it("compares the levels of arrays and objects, not brackets in strings", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.boolean(), (value, isIndented) => {
        const text = JSON.stringify(value, null, isIndented ? 1 : 0)
        const levels = levelsOf(value)
        assert.isFalse(isDeeper(text, levels), text)
        if (levels > 0) assert.isTrue(isDeeper(text, levels - 1), text)
      })
    )
    assert.isFalse(isDeeper(`["${"[".repeat(50)}\\"${"{".repeat(50)}"]`, 1))
  })

  it("accepts text that is no JSON", () => {
    assert.isFalse(isDeeper(`${"]".repeat(50)}[[`, 2))
    assert.isFalse(isDeeper(`"${"[".repeat(50)}`, 2))
    assert.isTrue(isDeeper("[".repeat(1_000_000), 500))
  })
})

/** Counts the arrays and objects of a value by recursion. */
const containersOf = (value: unknown): number =>
  typeof value === "object" && value !== null
    ? Object.values(value).reduce<number>((count, item) => count + containersOf(item), 1)
    : 0

describe("hasMoreContainers", () => {
  it("counts arrays and objects, not brackets in strings", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.boolean(), (value, isIndented) => {
        const text = JSON.stringify(value, null, isIndented ? 1 : 0)
        const containers = containersOf(value)
        assert.isFalse(hasMoreContainers(text, containers), text)
        if (containers > 0) assert.isTrue(hasMoreContainers(`${text} `, containers - 1), text)
      })
    )
    assert.isFalse(hasMoreContainers(JSON.stringify("[{".repeat(50)), 1))
  })
})
