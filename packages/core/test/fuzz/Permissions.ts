/** Permission maps: two as JSON text, of what a credential asks for and what its creator holds. */
import { type Draws, type Target, textOf, utf8 } from "@weft/tooling/fuzz"
import { Result } from "effect"
import { assert } from "vitest"
import { Action, allows, firstExcess, meet, type PermissionMap, parsePermissions } from "../../src/access/Permission.ts"
import { grantedBy, show, types, world } from "../access/PermissionModel.ts"

const paths = ["*", "a", "b", "a/b", "a/b/c", "a/*", "a/b/*", "*/*", "x:y", "__proto__", "constructor", "é", "", " "]
const odd = ["", ":", "*", "*:a", ":*", "a b:*", "file", "FILE:*", "toString:*", "__proto__:*", "planet:*", "\u0000:*"]

const mapOf = (draws: Draws): unknown =>
  Object.fromEntries(
    draws.some((): [string, unknown] => {
      const key = draws.chance(0.1) ? draws.one(odd) : `${draws.one([...types, "ctx", "*"])}:${draws.one(paths)}`
      const actions = draws.some(
        (): unknown => (draws.chance(0.03) ? draws.one(["READ", 1, null]) : draws.one(["*", ...Action.literals])),
        3,
        1
      )
      return [key, draws.chance(0.03) ? draws.one([null, {}, "read", []]) : actions]
    }, 5)
  )

const read = (input: unknown): PermissionMap | null => {
  const parsed = parsePermissions(input)
  if (Result.isSuccess(parsed)) return parsed.success
  assert.isNotEmpty(parsed.failure.reason)
  return null
}

const isAllowed = (map: PermissionMap) => world.filter(({ type, path, action }) => allows(map, type, path, action))

const jsonOf = (input: Uint8Array): unknown => {
  try {
    return JSON.parse(textOf(input))
  } catch {
    return null
  }
}

export const permissions: Target = {
  name: "permissions",
  generate: (draws) => utf8(JSON.stringify([mapOf(draws), mapOf(draws)])),
  words: [
    '"*:*":["*"]',
    '"__proto__":["*"]',
    '"ctx:*":["read"]',
    '"file:a/*":["*"],',
    "\\u0000",
    "/*",
    "*",
    '{"a":',
    "[],"
  ],
  run: (input) => {
    const pair = jsonOf(input)
    const [asked, held] = Array.isArray(pair) ? pair.map(read) : [read(pair), null]
    if (asked === null || asked === undefined) return "refused"
    // Read again it is the same, and grants what the model grants.
    assert.deepStrictEqual(read(JSON.parse(JSON.stringify(asked))), asked)
    assert.deepStrictEqual(show(isAllowed(asked)), show(grantedBy(asked)))
    if (held === null || held === undefined) return "taken"
    const ofHeld = new Set(show(grantedBy(held)))
    const both = meet(asked, held)
    assert.deepStrictEqual(
      show(isAllowed(both)),
      show(grantedBy(asked)).filter((grant) => ofHeld.has(grant))
    )
    assert.isNull(firstExcess(both, held))
    assert.isNull(firstExcess(both, asked))
    if (firstExcess(asked, held) === null) assert.deepStrictEqual(isAllowed(both), isAllowed(asked))
    return "taken"
  }
}
