import { assert, describe, it } from "@effect/vitest"
import { pathless, type ResourceType, validActions } from "@weft/core/adapter"
import { allows, parsePermissions } from "@weft/core/internal"
import { Result } from "effect"
import { actions, actionsOf, rightOf } from "../src/access/Rights.ts"

const types = Object.keys(validActions) as ReadonlyArray<ResourceType>

const maps = [
  { "*:*": ["*"] },
  {},
  { "run:*": ["read"], "event:*": ["*"], "build:shop": ["read", "execute"] },
  {
    "file:reports/*": ["read"],
    "file:reports/a.txt": ["delete"],
    "build:*": ["execute"],
    "call:orders/pay": ["create"]
  },
  { "file:reports/2026/*": ["read", "update"], "file:*": ["delete"], "build:other": ["*"], "key:one": ["read"] }
]

const paths = ["*", "shop", "other", "one", "orders/pay", "reports/a.txt", "reports/2026/b.txt", "elsewhere/c.txt"]

const parsed = maps.map((map) => Result.getOrThrow(parsePermissions(map)))

describe("rights of a credential", () => {
  it("have the actions of the server for each type", () => {
    const known = Object.fromEntries(types.map((type) => [type, [...validActions[type]].sort()]))
    const shown = Object.fromEntries(Object.entries(actionsOf).map(([type, names]) => [type, [...names].sort()]))
    assert.deepStrictEqual(shown, known)
  })

  it("are those that the server grants by both maps, for each type, action and path", () => {
    for (const own of parsed) {
      for (const creator of [null, ...parsed]) {
        for (const type of types) {
          for (const action of actions) {
            const right = rightOf(own, creator, type, action)
            // Services check types without named resources for all of them.
            for (const path of pathless.has(type) ? ["*"] : paths) {
              const expected =
                allows(own, type, path, action) && (creator === null || allows(creator, type, path, action))
              const isShown =
                right.state === "all" ||
                right.paths.some(
                  (one) => one === path || (type === "file" && one.endsWith("/*") && path.startsWith(one.slice(0, -1)))
                )
              const what = JSON.stringify({ own, creator, type, action, path, right })
              assert.strictEqual(isShown, expected, what)
            }
          }
        }
      }
    }
  })

  it("name a right that only the credential has", () => {
    assert.strictEqual(rightOf({ "run:*": ["read"] }, { "event:*": ["read"] }, "run", "read").state, "lost")
    assert.strictEqual(rightOf({ "run:*": ["read"] }, null, "run", "create").state, "unknown")
  })
})
