import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import fc from "fast-check"
import {
  partBytesMax,
  partBytesMin,
  partsMax,
  type UploadedPart
} from "../../../src/resources/files/MultipartUpload.ts"
import { assembledBytesMax, assembledSize, parsePartNumber, planParts } from "../../../src/resources/files/Parts.ts"

const MiB = 1024 ** 2

const part = (part_number: number, size: number): UploadedPart => ({ part_number, size, etag: `"${part_number}"` })

const outcome = (parts: ReadonlyArray<UploadedPart>, expected: number | null = null, fileBytes = -1) =>
  Effect.runSync(
    Effect.match(assembledSize(parts, expected, fileBytes), {
      onFailure: (error) => `${error._tag}: ${error.message}`,
      onSuccess: (size) => size
    })
  )

describe("the plan of parts", () => {
  it("is one part of 8 MiB without a declared size", () => {
    assert.deepStrictEqual(planParts(null), { part_size: 8 * MiB, parts_expected: 1 })
  })

  it("has at least one part, and as few as their size allows", () => {
    assert.strictEqual(planParts(0).parts_expected, 1)
    assert.strictEqual(planParts(8 * MiB).parts_expected, 1)
    assert.strictEqual(planParts(8 * MiB + 1).parts_expected, 2)
    assert.deepStrictEqual(planParts(assembledBytesMax), { part_size: partBytesMax, parts_expected: partsMax })
  })

  it("fits every size that parts can make", () => {
    fc.assert(
      fc.property(
        fc.maxSafeNat().map((n) => n % (assembledBytesMax + 1)),
        (size) => {
          const { part_size, parts_expected } = planParts(size)
          assert.isAtLeast(part_size, 8 * MiB)
          assert.isAtMost(part_size, partBytesMax)
          assert.isAtMost(parts_expected, partsMax)
          assert.isAtLeast(part_size * parts_expected, size)
          assert.isTrue(parts_expected === 1 || part_size * (parts_expected - 1) < size)
        }
      )
    )
  })
})

describe("the number of a part", () => {
  it("is an integer from 1 to 10000, without leading zeros", () => {
    for (const text of ["1", "9", "10", "9999", "10000"]) {
      assert.strictEqual(Effect.runSync(parsePartNumber(text)), Number(text))
    }
    for (const text of ["0", "10001", "99999", "-1", "+1", "01", "1.0", "1e3", " 1", "", "one", "0x1", "١"]) {
      assert.isTrue(Exit.isFailure(Effect.runSyncExit(parsePartNumber(text))), text)
    }
  })
})

describe("parts", () => {
  it("make a file without a gap, with no short part except the last, and with the declared size", () => {
    assert.strictEqual(outcome([part(1, 0)]), 0)
    assert.strictEqual(
      outcome([part(1, partBytesMin), part(2, 1)], partBytesMin + 1, partBytesMin + 1),
      partBytesMin + 1
    )
    assert.strictEqual(outcome([]), "BadRequest: No part was uploaded")
    assert.strictEqual(outcome([part(2, 5)]), "BadRequest: Part 1 is missing")
    assert.strictEqual(outcome([part(1, partBytesMin), part(3, 5)]), "BadRequest: Part 2 is missing")
    assert.include(outcome([part(1, partBytesMin - 1), part(2, 9)]), "BadRequest: Part 1 is not the last")
    assert.include(outcome([part(1, 5)], 6), "BadRequest: The parts have 5 bytes")
    assert.include(outcome([part(1, 5)], null, 4), "PlanRequired")
  })

  it("make a file of the sum of their sizes", () => {
    const sizes = fc.array(fc.integer({ min: partBytesMin - 2, max: partBytesMin + 2 }), { minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(sizes, fc.boolean(), (sizes, isExact) => {
        const total = sizes.reduce((sum, size) => sum + size, 0)
        const isWhole = isExact && sizes.slice(0, -1).every((size) => size >= partBytesMin)
        const found = outcome(
          sizes.map((size, index) => part(index + 1, size)),
          isExact ? total : total + 1
        )
        return isWhole ? found === total : String(found).startsWith("BadRequest")
      })
    )
  })
})
