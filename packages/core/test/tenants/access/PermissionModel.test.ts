/**
 * Permission maps against a model without rules of precedence. In the model, a map is the set of all triples of type,
 * path and action that it grants, enumerated over a small universe.
 */
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import fc from "fast-check"
import {
  Action,
  allows,
  firstExcess,
  fullPermissions,
  intersect,
  type PermissionMap,
  parsePermissions,
  type ResourceType,
  readable,
  validActions
} from "../../../src/tenants/access/Permission.ts"
import { files, grantedBy, isNamed, names, show, types, universe } from "./PermissionModel.ts"

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

const isAllowed = (map: PermissionMap) => universe.filter(({ type, path, action }) => allows(map, type, path, action))

describe("permission maps and the model", () => {
  it("agree on the permissions of a map, also with ctx", () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const granted = new Set(
          Object.entries(input).flatMap(([key, actions]) => grantedBy({ [key.replace(/^ctx:/, "context:")]: actions }))
        )
        const expected = universe.filter((grant) => granted.has(grant))
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
        // `*:*` also includes future types, so that no list of types is equal to it.
        else if (!excess.startsWith("*:*")) assert.isNotEmpty(beyond, excess)
      }),
      { numRuns: 500 }
    )
  })

  it("agree on the paths that a list may contain", () => {
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

describe("intersect", () => {
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
    assert.deepStrictEqual<unknown>(intersect(parse(a), parse(b)), expected)
  })

  it("grants exactly the common permissions, in either order", () => {
    fc.assert(
      fc.property(anyMap, anyMap, (a, b) => {
        const ofB = new Set(show(grantedBy(b)))
        const both = show(grantedBy(a)).filter((grant) => ofB.has(grant))
        assert.deepStrictEqual(show(isAllowed(intersect(a, b))), both)
        assert.deepStrictEqual(show(isAllowed(intersect(b, a))), both)
      }),
      { numRuns: 700 }
    )
  })

  it("is a valid map that neither map lacks", () => {
    fc.assert(
      fc.property(anyMap, anyMap, (a, b) => {
        const both = intersect(a, b)
        assert.deepStrictEqual(parse(both), both)
        assert.isNull(firstExcess(both, a))
        assert.isNull(firstExcess(both, b))
      }),
      { numRuns: 2000 }
    )
  })

  it("contains every map that both contain", () => {
    fc.assert(
      fc.property(anyMap, anyMap, anyMap, (a, b, c) => {
        if (firstExcess(c, a) === null && firstExcess(c, b) === null) assert.isNull(firstExcess(c, intersect(a, b)))
        const within = intersect(c, intersect(a, b))
        assert.isNull(firstExcess(within, intersect(a, b)))
      }),
      { numRuns: 2000 }
    )
  })

  it("does not change a map that intersects with a full map or with itself", () => {
    fc.assert(
      fc.property(anyMap, (map) => {
        assert.strictEqual(intersect(map, fullPermissions), map)
        assert.strictEqual(intersect(map, map), map)
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

  it("accepts exactly the maps whose rules all match the table, and never throws", () => {
    fc.assert(
      fc.property(fc.dictionary(anyKey, fc.array(anyAction, { maxLength: 3 }), { maxKeys: 3 }), (input) => {
        const expected = Object.entries(input).every(([key, actions]) => isValid(key, actions))
        assert.strictEqual(Result.isSuccess(parsePermissions(input)), expected)
      }),
      { numRuns: 3000 }
    )
  })

  it("rejects any JSON that is not a map, and never throws", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (input) => {
        const parsed = parsePermissions(input)
        if (Result.isFailure(parsed)) assert.match(parsed.failure.reason, /^permissions/)
      })
    )
  })

  it("accepts at most 1000 resources, each of at most 2048 characters", () => {
    const rules = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`event:e${n}`, ["read"]]))
    assert.isTrue(Result.isSuccess(parsePermissions(rules(1000))))
    assert.isTrue(Result.isFailure(parsePermissions(rules(1001))))
    assert.isTrue(Result.isSuccess(parsePermissions({ [`event:${"x".repeat(2042)}`]: ["read"] })))
    assert.isTrue(Result.isFailure(parsePermissions({ [`event:${"x".repeat(2043)}`]: ["read"] })))
  })

  it("accepts at most 65,536 characters in the names of all resources", () => {
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
