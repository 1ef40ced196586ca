/**
 * Permission maps of credentials (specification, "Permission map").
 *
 * A permission map is a JSON object from resource URNs `type:path` to arrays of actions. Services check it with `allows`.
 */
import { Result, Schema } from "effect"
import { BadRequest } from "../../foundation/Errors.ts"
import { isStorable } from "../../foundation/StorableText.ts"

export const Action = Schema.Literals(["create", "read", "update", "delete", "execute"])
export type Action = typeof Action.Type

/** Permission map as stored and returned. Only `parsePermissions` creates it, so that every value is valid. */
export const PermissionMap = Schema.Record(Schema.String, Schema.Array(Schema.String)).pipe(
  Schema.brand("PermissionMap")
)
export type PermissionMap = typeof PermissionMap.Type

/** Valid actions of each resource type. */
export const validActions = {
  mcp: ["execute"],
  webhook: ["execute"],
  stream: ["read"],
  event: ["create", "read"],
  run: ["read"],
  recording: ["read"],
  call: ["create", "read"],
  project: ["create", "read", "update", "delete"],
  build: ["create", "read", "execute"],
  context: ["create", "read", "update", "delete"],
  key: ["create", "read", "update", "delete"],
  session: ["create", "read", "delete"],
  env: ["read"],
  file: ["create", "read", "update", "delete"],
  domain: ["create", "read", "update", "delete"],
  eval: ["execute"]
} as const satisfies Record<string, ReadonlyArray<Action>>

export type ResourceType = keyof typeof validActions

/** Types without named resources: a rule with a path other than `*` grants nothing. */
export const pathless: ReadonlySet<ResourceType> = new Set(["key", "session", "env", "domain", "eval"])

/** Permissions of the access level Full. */
export const fullPermissions: PermissionMap = PermissionMap.make({ "*:*": ["*"] })

/**
 * True if `map` grants `action` on the resource `type:path`. The path `*` means every resource of the type.
 *
 * A granted path is exact, `*`, or, for files, a prefix that ends in `/*`.
 */
export const allows = (map: PermissionMap, type: ResourceType, path: string, action: Action): boolean =>
  isValidAction(type, action) &&
  (grants(map, "*:*", action) ||
    grants(map, `${type}:*`, action) ||
    grants(map, `${type}:${path}`, action) ||
    (type === "file" && isInGrantedFolder(map, path, action)))

/**
 * Returns the paths on which `map` grants `action`, for filters of lists: "all", or an array, which may be empty.
 */
export const readable = (map: PermissionMap, type: ResourceType, action: Action): "all" | ReadonlyArray<string> =>
  allows(map, type, "*", action)
    ? "all"
    : Object.keys(map)
        .filter((key) => key.startsWith(`${type}:`) && allows(map, type, key.slice(type.length + 1), action))
        .map((key) => key.slice(type.length + 1))

/**
 * Checks the subset rule. Returns the first permission of `requested` that `granted` does not include, as
 * `type:path action`, or null if `requested` is a subset.
 */
export const firstExcess = (requested: PermissionMap, granted: PermissionMap): string | null => {
  for (const [key, actions] of Object.entries(requested)) {
    const [type, path] = splitKey(key)
    const excess = expand(type, actions).find((action) => !covers(granted, type, path, action))
    if (excess !== undefined) return `${key} ${excess}`
  }
  return null
}

/**
 * Returns the intersection of two maps: the effective permissions of a credential that another credential created.
 *
 * Of any two keys, one contains the other or they are disjoint. Therefore the intersection needs no new keys: each key
 * keeps the actions that the other map grants on it.
 */
export const intersect = (a: PermissionMap, b: PermissionMap): PermissionMap => {
  if (firstExcess(a, b) === null) return a
  const both = new Map<string, ReadonlyArray<string>>()
  for (const [own, other] of [
    [a, b],
    [b, a]
  ] as const) {
    for (const [key, actions] of Object.entries(own)) {
      const [type, path] = splitKey(key)
      const shared = expand(type, actions).filter((action) => covers(other, type, path, action))
      if (shared.length > 0) both.set(key, [...new Set([...(both.get(key) ?? []), ...shared])])
    }
  }
  return PermissionMap.make(Object.fromEntries(both))
}

/**
 * Checks a permission map by the rules of the specification. The error contains the invalid key and the reason in the
 * words of the specification. Replaces the type `ctx` by `context`. An empty map is valid and grants nothing.
 */
export const parsePermissions = (input: unknown): Result.Result<PermissionMap, BadRequest> => {
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    return Result.fail(new BadRequest({ reason: "permissions must be an object of resources and their actions" }))
  }
  const rules = Object.entries(input)
  if (rules.length > rulesMax) {
    return Result.fail(new BadRequest({ reason: `permissions must name at most ${rulesMax} resources` }))
  }
  if (rules.reduce((sum, [key]) => sum + key.length, 0) > charactersMax) {
    return Result.fail(
      new BadRequest({ reason: `permissions must name resources of at most ${charactersMax} characters together` })
    )
  }
  const map = new Map<string, ReadonlyArray<string>>()
  for (const [given, actions] of rules) {
    const fault = findFault(given, actions)
    if (fault !== null) return Result.fail(new BadRequest({ reason: `permissions: "${clip(given)}": ${fault}` }))
    const key = given.replace(/^ctx:/, "context:")
    map.set(key, [...new Set([...(map.get(key) ?? []), ...(Array.isArray(actions) ? actions.map(String) : [])])])
  }
  return Result.succeed(PermissionMap.make(Object.fromEntries(map)))
}

/** Shortens a path for messages to at most 128 characters. */
export const clip = (path: string): string => (path.length <= 128 ? path : `${path.slice(0, 128)}…`)

/** Maximum keys of a map. Each request may iterate over them. */
const rulesMax = 1000

/** Maximum characters of all keys together, which limits the cost of a check. */
const charactersMax = 65_536

/** Maximum characters of a key. The longest possible key names a file. */
const keyLengthMax = 2048

const findFault = (key: string, actions: unknown): string | null => {
  const [type, path] = splitKey(key)
  if (type === "" || path === "" || key.length > keyLengthMax || !isStorable(key)) return "invalid resource"
  if (type === "*" ? path !== "*" : !/^[A-Za-z0-9-]+$/.test(type)) return "invalid resource"
  if (!Array.isArray(actions)) return "invalid action: the actions must be an array"
  if (actions.length === 0) return "empty action list"
  if (!actions.every((action) => action === "*" || isAction(action))) return "invalid action"
  const valid: ReadonlyArray<string> = actionsOf(type === "ctx" ? "context" : type)
  return valid.length > 0 && actions.every((action) => action === "*" || valid.includes(action))
    ? null
    : "action not valid for resource"
}

const isAction = Schema.is(Action)

/** Splits at the first colon. The path is empty without a colon. */
const splitKey = (key: string): readonly [type: string, path: string] => {
  const colon = key.indexOf(":")
  return colon === -1 ? [key, ""] : [key.slice(0, colon), key.slice(colon + 1)]
}

const isResourceType = (type: string): type is ResourceType => Object.hasOwn(validActions, type)

const actionsOf = (type: string): ReadonlyArray<Action> =>
  type === "*" ? Action.literals : isResourceType(type) ? validActions[type] : []

const isValidAction = (type: ResourceType, action: Action): boolean => actionsOf(type).includes(action)

/** Returns the actions of a rule, with `*` replaced by all actions of the type. */
const expand = (type: string, actions: ReadonlyArray<string>): ReadonlyArray<string> =>
  actions.includes("*") ? actionsOf(type) : actions

/** True if `map` grants the action on every resource that the key `type:path` matches. */
const covers = (map: PermissionMap, type: string, path: string, action: string): boolean =>
  type === "*"
    ? grants(map, "*:*", action)
    : isResourceType(type) && isAction(action) && allows(map, type, path, action)

const grants = (map: PermissionMap, key: string, action: string): boolean => {
  const actions = map[key]
  return actions !== undefined && (actions.includes(action) || actions.includes("*"))
}

/** True if `map` grants the action on a folder that contains the path: `a/b/c` is in `a` and `a/b`. */
const isInGrantedFolder = (map: PermissionMap, path: string, action: string): boolean => {
  for (let end = path.indexOf("/"); end !== -1; end = path.indexOf("/", end + 1)) {
    if (grants(map, `file:${path.slice(0, end)}/*`, action)) return true
  }
  return false
}
