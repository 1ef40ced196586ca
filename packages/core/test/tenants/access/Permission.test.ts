import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import fc from "fast-check"
import {
  Action,
  allows,
  firstExcess,
  fullPermissions,
  type PermissionMap,
  parsePermissions,
  type ResourceType,
  readable,
  validActions
} from "../../../src/tenants/access/Permission.ts"

const parse = (input: unknown): PermissionMap => Result.getOrThrow(parsePermissions(input))

const reasonOf = (input: unknown): string | null =>
  Result.match(parsePermissions(input), { onSuccess: () => null, onFailure: (error) => error.reason })

const types = Object.keys(validActions).filter((type): type is ResourceType => Object.hasOwn(validActions, type))
const paths = ["*", "a", "b", "a/b", "a/b/c", "a/*", "a/b/*", "x:y"]

const anyTriple = fc.tuple(fc.constantFrom(...types), fc.constantFrom(...paths), fc.constantFrom(...Action.literals))

const anyRule = fc.oneof(
  fc.constantFrom(...types).chain((type) =>
    fc.tuple(
      fc.constantFrom(...paths).map((path) => `${type}:${path}`),
      fc.uniqueArray(fc.constantFrom<string>("*", ...validActions[type]), { minLength: 1 })
    )
  ),
  fc.tuple(fc.constant("*:*"), fc.uniqueArray(fc.constantFrom<string>("*", ...Action.literals), { minLength: 1 }))
)

const anyMap = fc.array(anyRule, { maxLength: 4 }).map((rules) => parse(Object.fromEntries(rules)))

describe("parsePermissions", () => {
  it.each([
    ["no colon", "event", ["read"], "invalid resource"],
    ["an empty key", "", ["read"], "invalid resource"],
    ["an empty type", ":x", ["read"], "invalid resource"],
    ["an empty path", "event:", ["read"], "invalid resource"],
    ["a bare *", "*", ["*"], "invalid resource"],
    ["type * with a path", "*:x", ["*"], "invalid resource"],
    ["a type of odd characters", "ev_ent:*", ["read"], "invalid resource"],
    ["a type with a space", "ev ent:*", ["read"], "invalid resource"],
    ["no actions", "event:*", [], "empty action list"],
    ["actions that are no array", "event:*", "read", "invalid action"],
    ["an action in capitals", "event:*", ["Read"], "invalid action"],
    ["an unknown action", "event:*", ["publish"], "invalid action"],
    ["an action that is no text", "event:*", [1], "invalid action"],
    ["an action of other types", "mcp:*", ["create"], "action not valid for resource"],
    ["an action of other types next to *", "mcp:*", ["*", "create"], "action not valid for resource"],
    ["an unknown type", "planet:*", ["read"], "action not valid for resource"],
    ["an unknown type with *", "planet:*", ["*"], "action not valid for resource"],
    ["a type in capitals", "Event:*", ["read"], "action not valid for resource"],
    ["a type that every object has", "constructor:*", ["*"], "action not valid for resource"]
  ])("refuses %s", (_, key, actions, reason) => {
    const message = reasonOf({ "run:*": ["read"], [key]: actions })
    assert.include(message, reason)
    assert.include(message, JSON.stringify(key))
  })

  it.each([[null], [[]], ["*:*"], [1], [undefined]])("rejects %j, which is not an object", (input) => {
    assert.include(reasonOf(input), "must be an object")
  })

  it("shows only the beginning of a long key", () => {
    assert.isBelow(reasonOf({ ["x".repeat(100_000)]: ["read"] })?.length ?? 0, 300)
  })

  it("replaces ctx by context and merges their actions", () => {
    assert.deepStrictEqual<unknown>(
      parse({ "ctx:p": ["read"], "context:p": ["update", "read"], "event:ctx:x": ["read"] }),
      {
        "context:p": ["read", "update"],
        "event:ctx:x": ["read"]
      }
    )
  })

  it.each([
    [{}],
    [{ "*:*": ["*"] }],
    [{ "*:*": ["read"] }],
    [{ "mcp:*": ["execute"] }],
    [{ "event:order:created": ["create", "read"] }],
    [{ "file:reports/*": ["*"] }],
    [{ "domain:*": ["delete"] }]
  ])("takes %j as it is", (input) => {
    assert.deepStrictEqual<unknown>(parse(input), input)
  })

  it("accepts its own result", () => {
    fc.assert(fc.property(anyMap, (map) => assert.deepStrictEqual(parse(map), map)))
  })
})

describe("allows", () => {
  const cases: ReadonlyArray<[string, ReadonlyArray<string>, ResourceType, string, Action, boolean]> = [
    ["event:order:created", ["create"], "event", "order:created", "create", true],
    ["event:order:created", ["create"], "event", "order", "create", false],
    ["event:order:created", ["create"], "event", "order:created", "read", false],
    ["event:order:*", ["create"], "event", "order:created", "create", false],
    ["event:*", ["*"], "event", "anything", "read", true],
    ["event:*", ["*"], "event", "anything", "delete", false],
    ["*:*", ["read"], "project", "p", "read", true],
    ["*:*", ["read"], "project", "p", "update", false],
    ["project:p", ["read"], "project", "*", "read", false],
    ["project:p", ["read"], "build", "p", "read", false],
    ["file:a/*", ["read"], "file", "a/b/c", "read", true],
    ["file:a/*", ["read"], "file", "ab/c", "read", false],
    ["file:a/*", ["read"], "file", "a", "read", false],
    ["file:a/b", ["read"], "file", "a/b/c", "read", false],
    ["build:a/*", ["read"], "build", "a/b", "read", false]
  ]
  it.each(cases)("%s %j on %s:%s %s: %s", (key, actions, type, path, action, expected) => {
    assert.strictEqual(allows(parse({ [key]: actions }), type, path, action), expected)
  })

  it("grants nothing with an empty map and every valid action with a full one", () => {
    fc.assert(
      fc.property(anyTriple, ([type, path, action]) => {
        assert.isFalse(allows(parse({}), type, path, action))
        const isValid = parsePermissions({ [`${type}:*`]: [action] })
        assert.strictEqual(allows(fullPermissions, type, path, action), Result.isSuccess(isValid))
      })
    )
  })

  it("never grants less after adding a rule", () => {
    fc.assert(
      fc.property(anyMap, anyRule, anyTriple, (map, [key, actions], [type, path, action]) => {
        const more = parse({ ...map, [key]: [...(map[key] ?? []), ...actions] })
        assert.isTrue(!allows(map, type, path, action) || allows(more, type, path, action))
      })
    )
  })

  it("agrees with readable", () => {
    fc.assert(
      fc.property(anyMap, fc.constantFrom(...types), fc.constantFrom(...Action.literals), (map, type, action) => {
        const granted = readable(map, type, action)
        assert.strictEqual(granted === "all", allows(map, type, "*", action))
        if (granted === "all") return
        assert.isTrue(granted.every((path) => allows(map, type, path, action)))
        const exact = paths.filter((path) => map[`${type}:${path}`] !== undefined && allows(map, type, path, action))
        assert.includeMembers([...granted], exact)
      })
    )
  })
})

describe("firstExcess", () => {
  it.each([
    [{ "event:*": ["create"] }, { "event:*": ["create", "read"] }, null],
    [{ "event:*": ["*"] }, { "event:*": ["create", "read"] }, null],
    [{ "event:*": ["*"] }, { "event:*": ["create"] }, "event:* read"],
    [{ "event:a": ["read"] }, { "event:*": ["read"] }, null],
    [{ "event:*": ["read"] }, { "event:a": ["read"] }, "event:* read"],
    [{ "mcp:*": ["*"] }, { "*:*": ["execute"] }, null],
    [{ "*:*": ["*"] }, { "*:*": ["create", "read", "update", "delete", "execute"] }, null],
    [{ "*:*": ["read"] }, { "run:*": ["read"] }, "*:* read"],
    [{ "file:a/b/*": ["read"] }, { "file:a/*": ["read"] }, null],
    [{ "file:a/*": ["read"] }, { "file:a/b/*": ["read"] }, "file:a/* read"],
    [{}, {}, null],
    [{ "ctx:p": ["read"] }, { "context:*": ["read"] }, null]
  ])("of %j over %j is %s", (requested, granted, expected) => {
    assert.strictEqual(firstExcess(parse(requested), parse(granted)), expected)
  })

  it("returns null only if every requested permission is granted", () => {
    fc.assert(
      fc.property(anyMap, anyMap, anyTriple, (requested, granted, [type, path, action]) => {
        if (firstExcess(requested, granted) !== null || !allows(requested, type, path, action)) return
        assert.isTrue(allows(granted, type, path, action))
      }),
      { numRuns: 2000 }
    )
  })

  it("returns a permission that is requested and not granted", () => {
    fc.assert(
      fc.property(anyMap, anyMap, (requested, granted) => {
        const excess = firstExcess(requested, granted)
        if (excess === null) return
        const [key = "", action = ""] = excess.split(" ")
        assert.strictEqual(firstExcess(parse({ [key]: [action] }), requested), null)
        assert.isNotNull(firstExcess(parse({ [key]: [action] }), granted))
      })
    )
  })

  it("is reflexive and transitive", () => {
    fc.assert(
      fc.property(anyMap, anyMap, anyMap, (a, b, c) => {
        assert.isNull(firstExcess(a, a))
        assert.isNull(firstExcess(a, fullPermissions))
        const isChain = firstExcess(a, b) === null && firstExcess(b, c) === null
        if (isChain) assert.isNull(firstExcess(a, c))
      }),
      { numRuns: 2000 }
    )
  })
})
