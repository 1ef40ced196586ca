/**
 * The permission language against a model that knows no rules of precedence: a map is the set of all
 * (type, path, action) that it grants, spelled out over a small world.
 */
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import fc from "fast-check"
import {
  Action,
  allows,
  firstExcess,
  fullPermissions,
  meet,
  type PermissionMap,
  parsePermissions,
  type ResourceType,
  readable,
  validActions
} from "../../src/access/Permission.ts"
import { files, grantedBy, isNamed, names, show, types, world } from "./PermissionModel.ts"

const rulePaths = ["*", "a", "b", "a/b", "a/b/c", "a/*", "a/b/*", "*/*", "x:y"]

const anyActions = (valid: ReadonlyArray<string>) =>
  fc.uniqueArray(fc.constantFrom("*", ...valid), { minLength: 1, maxLength: 3 })

type Rule = readonly [key: string, actions: ReadonlyArray<string>]

const anyTyped = fc
  .oneof(
    { arbitrary: fc.constantFrom<ResourceType>("file", "context", "mcp", "event"), weight: 3 },
    { arbitrary: fc.constantFrom(...types), weight: 1 }
  )
  .chain((type) =>
    fc
      .tuple(
        fc.constantFrom<string>(type === "context" ? "ctx" : type, type),
        fc.constantFrom(...rulePaths),
        anyActions(validActions[type])
      )
      .map(([written, path, actions]): Rule => [`${written}:${path}`, actions])
  )

const anyWide = anyActions(Action.literals).map((actions): Rule => ["*:*", actions])

const anyRule = fc.oneof({ arbitrary: anyTyped, weight: 6 }, { arbitrary: anyWide, weight: 1 })

const anyInput = fc.array(anyRule, { maxLength: 6 }).map((rules) => Object.fromEntries(rules))

const parse = (input: unknown): PermissionMap => Result.getOrThrow(parsePermissions(input))

const anyMap = anyInput.map(parse)

const isAllowed = (map: PermissionMap) => world.filter(({ type, path, action }) => allows(map, type, path, action))

describe("permission maps and the model", () => {
  it("agree on what a map grants, also when it says ctx", () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const granted = new Set(
          Object.entries(input).flatMap(([key, actions]) => grantedBy({ [key.replace(/^ctx:/, "context:")]: actions }))
        )
        const expected = world.filter((grant) => granted.has(grant))
        assert.deepStrictEqual(show(isAllowed(parse(input))), show(expected))
      }),
      { numRuns: 500 }
    )
  })

  it("agree on whether a map exceeds another", () => {
    fc.assert(
      fc.property(anyMap, anyMap, (requested, granted) => {
        const ofGranted = new Set(show(grantedBy(granted)))
        const beyond = show(grantedBy(requested)).filter((grant) => !ofGranted.has(grant))
        const excess = firstExcess(requested, granted)
        if (excess === null) assert.deepStrictEqual(beyond, [])
        // `*:*` is also the types to come, so that no list of types makes up for it.
        else if (!excess.startsWith("*:*")) assert.isNotEmpty(beyond, excess)
      }),
      { numRuns: 500 }
    )
  })

  it("agree on what a list may show", () => {
    fc.assert(
      fc.property(anyMap, fc.constantFrom(...types), fc.constantFrom(...Action.literals), (map, type, action) => {
        const granted = readable(map, type, action)
        const expected = grantedBy(map).filter((grant) => grant.type === type && grant.action === action)
        const paths = (type === "file" ? files : names).filter(
          (path) =>
            validActions[type].some((valid) => valid === action) &&
            (granted === "all" || granted.some((rule) => isNamed(type, rule, path)))
        )
        assert.deepStrictEqual(
          paths,
          expected.map((grant) => grant.path)
        )
      }),
      { numRuns: 500 }
    )
  })
})

describe("meet", () => {
  it.each([
    [{ "*:*": ["*"] }, { "run:*": ["read"] }, { "run:*": ["read"] }],
    [{ "run:*": ["read"] }, { "*:*": ["*"] }, { "run:*": ["read"] }],
    [{ "*:*": ["create"] }, { "mcp:*": ["*"], "event:a": ["*"] }, { "event:a": ["create"] }],
    [{ "event:*": ["create"] }, { "event:*": ["read"] }, {}],
    [{ "event:a": ["*"], "run:*": ["read"] }, { "event:b": ["*"], "run:*": ["*"] }, { "run:*": ["read"] }],
    [{ "file:a/*": ["*"] }, { "file:a/b/*": ["read"], "file:c": ["read"] }, { "file:a/b/*": ["read"] }],
    [{ "file:a/b": ["read"] }, { "file:a/*": ["read", "delete"] }, { "file:a/b": ["read"] }],
    [{ "ctx:p": ["read"] }, { "context:*": ["read"] }, { "context:p": ["read"] }],
    [{}, { "*:*": ["*"] }, {}]
  ])("of %j and %j is %j", (a, b, expected) => {
    assert.deepStrictEqual<unknown>(meet(parse(a), parse(b)), expected)
  })

  it("grants exactly what both grant, whichever comes first", () => {
    fc.assert(
      fc.property(anyMap, anyMap, (a, b) => {
        const ofB = new Set(show(grantedBy(b)))
        const both = show(grantedBy(a)).filter((grant) => ofB.has(grant))
        assert.deepStrictEqual(show(isAllowed(meet(a, b))), both)
        assert.deepStrictEqual(show(isAllowed(meet(b, a))), both)
      }),
      { numRuns: 700 }
    )
  })

  it("is a valid map within both", () => {
    fc.assert(
      fc.property(anyMap, anyMap, (a, b) => {
        const both = meet(a, b)
        assert.deepStrictEqual(parse(both), both)
        assert.isNull(firstExcess(both, a))
        assert.isNull(firstExcess(both, b))
      }),
      { numRuns: 2000 }
    )
  })

  it("is the greatest: whatever lies within both lies within it", () => {
    fc.assert(
      fc.property(anyMap, anyMap, anyMap, (a, b, c) => {
        if (firstExcess(c, a) === null && firstExcess(c, b) === null) assert.isNull(firstExcess(c, meet(a, b)))
        const within = meet(c, meet(a, b))
        assert.isNull(firstExcess(within, meet(a, b)))
      }),
      { numRuns: 2000 }
    )
  })

  it("changes nothing within a full map or within itself", () => {
    fc.assert(
      fc.property(anyMap, (map) => {
        assert.strictEqual(meet(map, fullPermissions), map)
        assert.strictEqual(meet(map, map), map)
      })
    )
  })
})

describe("parsePermissions", () => {
  const anyKey = fc.oneof(
    fc.string({ maxLength: 6 }),
    fc
      .tuple(fc.constantFrom(...types, "*", "ctx", "", "ev ent", "Event", "planet"), fc.constantFrom("*", "a", ""))
      .map(([type, path]) => `${type}:${path}`)
  )
  const anyAction = fc.constantFrom<unknown>("*", ...Action.literals, "READ", "publish", "", 1, null)

  /** The table of the specification, row by row, in its order. */
  const isValid = (key: string, actions: ReadonlyArray<unknown>): boolean => {
    const colon = key.indexOf(":")
    if (colon <= 0 || colon === key.length - 1) return false
    const type = key.slice(0, colon)
    if (type === "*" && key !== "*:*") return false
    if (type !== "*" && !/^[a-zA-Z0-9-]+$/.test(type)) return false
    if (actions.length === 0) return false
    const known = type === "*" ? Action.literals : types.find((one) => one === (type === "ctx" ? "context" : type))
    const valid: ReadonlyArray<string> = typeof known === "string" ? validActions[known] : (known ?? [])
    return valid.length > 0 && actions.every((action) => typeof action === "string" && [...valid, "*"].includes(action))
  }

  it("takes exactly the maps whose every rule passes the table, and never throws", () => {
    fc.assert(
      fc.property(fc.dictionary(anyKey, fc.array(anyAction, { maxLength: 3 }), { maxKeys: 3 }), (input) => {
        const expected = Object.entries(input).every(([key, actions]) => isValid(key, actions))
        assert.strictEqual(Result.isSuccess(parsePermissions(input)), expected)
      }),
      { numRuns: 3000 }
    )
  })

  it("says no to any JSON that is no map, and never throws", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (input) => {
        const parsed = parsePermissions(input)
        if (Result.isFailure(parsed)) assert.match(parsed.failure.reason, /^permissions/)
      })
    )
  })

  it("names at most a thousand resources, each of at most 2048 characters", () => {
    const rules = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`event:e${n}`, ["read"]]))
    assert.isTrue(Result.isSuccess(parsePermissions(rules(1000))))
    assert.isTrue(Result.isFailure(parsePermissions(rules(1001))))
    assert.isTrue(Result.isSuccess(parsePermissions({ [`event:${"x".repeat(2042)}`]: ["read"] })))
    assert.isTrue(Result.isFailure(parsePermissions({ [`event:${"x".repeat(2043)}`]: ["read"] })))
  })

  it("has at most 65,536 characters in the names of all resources", () => {
    const rules = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`file:${String(n).padStart(2043, "x")}`, ["read"]]))
    assert.isTrue(Result.isSuccess(parsePermissions(rules(32))))
    const parsed = parsePermissions(rules(33))
    assert.strictEqual(
      Result.isFailure(parsed) && parsed.failure.reason,
      "permissions must name resources of at most 65536 characters together"
    )
  })
})
