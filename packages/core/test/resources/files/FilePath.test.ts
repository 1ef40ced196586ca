import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import fc from "fast-check"
import { utf8Encode } from "../../../src/foundation/Utf8.ts"
import { checkPath } from "../../../src/resources/files/FilePath.ts"

const isPath = (text: string): boolean =>
  Effect.runSync(Effect.match(checkPath(text), { onFailure: () => false, onSuccess: () => true }))

const segment = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 20 })
  .filter((text) => !/[\p{Cc}/\\]/u.test(text) && text !== "." && text !== "..")
const path = fc.array(segment, { minLength: 1, maxLength: 8 }).map((segments) => segments.join("/"))

describe("a path of a file", () => {
  it("consists of segments", () => {
    for (const text of ["a", "a/b", "...", ".a", "a..b/..c", "with space/ü/🧵", "%2e%2e", "*", "a:b", "~", "-", " "]) {
      assert.isTrue(isPath(text), text)
    }
  })

  it("is not empty and has no segment that is empty, . or ..", () => {
    for (const text of ["", "/", "/a", "a/", "a//b", ".", "..", "a/.", "a/..", "../a", "a/../b", "./a", "a/./b"]) {
      assert.isFalse(isPath(text), text)
    }
  })

  it("has no backslash, control character or lone surrogate", () => {
    for (const text of ["a\\b", "\\", "a\u0000", "\n", "a\u007fb", "\u0085", "\ud800", "a/\udc00b"]) {
      assert.isFalse(isPath(text), JSON.stringify(text))
    }
  })

  it("has at most 1024 bytes", () => {
    assert.isTrue(isPath("a".repeat(1024)))
    assert.isFalse(isPath("a".repeat(1025)))
    assert.isTrue(isPath("ü".repeat(512)))
    assert.isFalse(isPath(`${"ü".repeat(512)}a`))
    assert.isFalse(isPath("🧵".repeat(257)))
  })

  it("is any segments joined by slashes", () => {
    fc.assert(fc.property(path, (text) => isPath(text) === utf8Encode(text).length <= 1024))
  })

  it("is invalid with a forbidden part at any position", () => {
    const spoils = fc.constantFrom("//", "/./", "/../", "\\", "\u0000", "\u001f", "\u007f", "\ud83e/", "/../../")
    fc.assert(fc.property(path, spoils, path, (before, spoil, after) => !isPath(before + spoil + after)))
  })

  it("never leads out of its folder", () => {
    const crumbs = fc.array(fc.constantFrom("a", ".", "..", "/", "\\", "%2e", "b"), { maxLength: 12 })
    fc.assert(
      fc.property(crumbs, (parts) => {
        const text = parts.join("")
        if (!isPath(text)) return true
        const resolved = new URL(text.replaceAll("%", "%25"), "file:///folder/").pathname
        return resolved === `/folder/${text.replaceAll("%", "%25")}`
      })
    )
  })
})
