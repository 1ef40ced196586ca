/** A model of permissions as sets: all grants of a map in a small universe, without rules of precedence. */
import { type Action, type ResourceType, validActions } from "../../../src/tenants/access/Permission.ts"

export const types = Object.keys(validActions).filter((type): type is ResourceType => Object.hasOwn(validActions, type))

/** Names of resources; `anything` stands for all names that no rule contains. */
export const names = ["a", "b", "a/b", "a/c", "a/b/c", "a/*", "a/b/*", "*/*", "x:y", "anything"]
export const files = [...names, "a/anything", "a/b/anything", "*/q"]

interface Grant {
  readonly type: ResourceType
  readonly path: string
  readonly action: Action
}

export const universe: ReadonlyArray<Grant> = types.flatMap((type) =>
  (type === "file" ? files : names).flatMap((path) => validActions[type].map((action) => ({ type, path, action })))
)

/** True if the path of a rule matches the path of a resource. */
export const isNamed = (type: string, rule: string, path: string): boolean => {
  if (rule === "*" || rule === path) return true
  return type === "file" && rule.endsWith("/*") && path.startsWith(rule.slice(0, -1))
}

export const grantedBy = (map: Readonly<Record<string, ReadonlyArray<string>>>): ReadonlyArray<Grant> =>
  universe.filter(({ type, path, action }) =>
    Object.entries(map).some(([key, actions]) => {
      const [ruleType = "", ...rest] = key.split(":")
      const covers = ruleType === "*" || (ruleType === type && isNamed(type, rest.join(":"), path))
      return covers && (actions.includes("*") || actions.includes(action))
    })
  )

export const show = (grants: ReadonlyArray<Grant>): ReadonlyArray<string> =>
  grants.map(({ type, path, action }) => `${type}:${path} ${action}`)
