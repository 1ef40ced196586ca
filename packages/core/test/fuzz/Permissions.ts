/** Fuzz target for permissions: two maps as JSON text, those that a credential requests and those of its creator. */
import { type Draws, type Target, textOf, utf8 } from "@weft/tooling/fuzz"
import { Result } from "effect"
import { assert } from "vitest"
import {
  Action,
  allows,
  firstExcess,
  intersect,
  type PermissionMap,
  parsePermissions
} from "../../src/tenants/access/Permission.ts"
import { grantedBy, show, types, universe } from "../tenants/access/PermissionModel.ts"

const paths = ["*", "a", "b", "a/b", "a/b/c", "a/*", "a/b/*", "*/*", "x:y", "__proto__", "constructor", "é", "", " "]
const odd = ["", ":", "*", "*:a", ":*", "a b:*", "file", "FILE:*", "toString:*", "__proto__:*", "planet:*", "\u0000:*"]

const makeMap = (draws: Draws): unknown =>
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

const isAllowed = (map: PermissionMap) => universe.filter(({ type, path, action }) => allows(map, type, path, action))

const parseJson = (input: Uint8Array): unknown => {
  try {
    return JSON.parse(textOf(input))
  } catch {
    return null
  }
}

export const permissions: Target = {
  name: "permissions",
  generate: (draws) => utf8(JSON.stringify([makeMap(draws), makeMap(draws)])),
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
    const pair = parseJson(input)
    const [requested, held] = Array.isArray(pair) ? pair.map(read) : [read(pair), null]
    if (requested === null || requested === undefined) return "refused"
    // It is unchanged after another parse, and grants the same as the model.
    assert.deepStrictEqual(read(JSON.parse(JSON.stringify(requested))), requested)
    assert.deepStrictEqual(show(isAllowed(requested)), show(grantedBy(requested)))
    if (held === null || held === undefined) return "taken"
    const heldGrants = new Set(show(grantedBy(held)))
    const both = intersect(requested, held)
    assert.deepStrictEqual(
      show(isAllowed(both)),
      show(grantedBy(requested)).filter((grant) => heldGrants.has(grant))
    )
    assert.isNull(firstExcess(both, held))
    assert.isNull(firstExcess(both, requested))
    if (firstExcess(requested, held) === null) assert.deepStrictEqual(isAllowed(both), isAllowed(requested))
    return "taken"
  }
}
