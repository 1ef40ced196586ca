/**
 * Permission maps: what a credential may do (specification, "Permission map").
 *
 * A JSON object from resource URNs `type:path` to arrays of actions. Pure: services ask `allows`.
 */
import { Result, Schema } from "effect"
import { BadRequest } from "../errors/Errors.ts"

export const Action = Schema.Literals(["create", "read", "update", "delete", "execute"])
export type Action = typeof Action.Type

/** As stored and as shown. Made only by `parsePermissions`, so that one which is held is valid. */
export const PermissionMap = Schema.Record(Schema.String, Schema.Array(Schema.String)).pipe(
  Schema.brand("PermissionMap")
)
export type PermissionMap = typeof PermissionMap.Type

/** What can be done with each type of resource. */
export const validActions = {
  mcp: ["execute"],
  webhook: ["execute"],
  stream: ["read"],
  event: ["create", "read"],
  run: ["read"],
  call: ["create", "read"],
  project: ["create", "read", "update", "delete"],
  build: ["create", "read", "execute"],
  context: ["create", "read", "update", "delete"],
  key: ["create", "read", "update", "delete"],
  session: ["create", "read", "delete"],
  env: ["read"],
  file: ["create", "read", "update", "delete"],
  domain: ["create", "read", "update", "delete"]
} as const satisfies Record<string, ReadonlyArray<Action>>

export type ResourceType = keyof typeof validActions

/** What an API key with the access level Full holds. */
export const fullPermissions: PermissionMap = PermissionMap.make({ "*:*": ["*"] })

/**
 * Whether `map` grants `action` on the resource `type:path`; with the path `*`, on every resource of the type.
 *
 * Granted paths are exact, `*`, or, for files, a prefix that ends in `/*`.
 */
export const allows = (map: PermissionMap, type: ResourceType, path: string, action: Action): boolean =>
  isValidAction(type, action) &&
  (grants(map, "*:*", action) ||
    grants(map, `${type}:*`, action) ||
    grants(map, `${type}:${path}`, action) ||
    (type === "file" && folders(path).some((folder) => grants(map, `file:${folder}/*`, action))))

/**
 * What `map` grants `action` on, for filtering lists: everything of the type, or only these paths. Nothing at
 * all is the empty array.
 */
export const readable = (map: PermissionMap, type: ResourceType, action: Action): "all" | ReadonlyArray<string> =>
  allows(map, type, "*", action)
    ? "all"
    : Object.keys(map)
        .filter((key) => key.startsWith(`${type}:`) && allows(map, type, key.slice(type.length + 1), action))
        .map((key) => key.slice(type.length + 1))

/**
 * The subset rule: the first permission of `requested` that `granted` does not include, written as
 * `type:path action`, or null when there is none.
 */
export const firstExcess = (requested: PermissionMap, granted: PermissionMap): string | null => {
  for (const [key, actions] of Object.entries(requested)) {
    const [type, path] = splitKey(key)
    const requestedActions: ReadonlyArray<string> = actions.includes("*") ? actionsOf(type) : actions
    for (const action of requestedActions) {
      const isGranted = type === "*" ? grants(granted, "*:*", action) : isGrantedOn(granted, type, path, action)
      if (!isGranted) return `${key} ${action}`
    }
  }
  return null
}

/**
 * Checks a permission map as the specification's table says and names the offending key and the reason in the
 * table's words. The type `ctx` becomes `context`. An empty map is valid and grants nothing.
 */
export const parsePermissions = (input: unknown): Result.Result<PermissionMap, BadRequest> => {
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    return Result.fail(new BadRequest({ reason: "permissions must be an object of resources and their actions" }))
  }
  const map = new Map<string, ReadonlyArray<string>>()
  for (const [given, actions] of Object.entries(input)) {
    const fault = faultOf(given, actions)
    if (fault !== null) return Result.fail(new BadRequest({ reason: `permissions: "${clip(given)}": ${fault}` }))
    const key = given.replace(/^ctx:/, "context:")
    map.set(key, [...new Set([...(map.get(key) ?? []), ...(Array.isArray(actions) ? actions.map(String) : [])])])
  }
  return Result.succeed(PermissionMap.make(Object.fromEntries(map)))
}

/** A path as it stands in messages: enough of it to recognise. */
export const clip = (path: string): string => (path.length <= 128 ? path : `${path.slice(0, 128)}…`)

const faultOf = (key: string, actions: unknown): string | null => {
  const [type, path] = splitKey(key)
  if (type === "" || path === "") return "invalid resource"
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

/** Splits at the first colon; without one there is no path. */
const splitKey = (key: string): readonly [type: string, path: string] => {
  const colon = key.indexOf(":")
  return colon === -1 ? [key, ""] : [key.slice(0, colon), key.slice(colon + 1)]
}

const isResourceType = (type: string): type is ResourceType => Object.hasOwn(validActions, type)

const actionsOf = (type: string): ReadonlyArray<Action> =>
  type === "*" ? Action.literals : isResourceType(type) ? validActions[type] : []

const isValidAction = (type: ResourceType, action: Action): boolean => actionsOf(type).includes(action)

const isGrantedOn = (granted: PermissionMap, type: string, path: string, action: string): boolean =>
  isResourceType(type) && isAction(action) && allows(granted, type, path, action)

const grants = (map: PermissionMap, key: string, action: string): boolean => {
  const actions = map[key]
  return actions !== undefined && (actions.includes(action) || actions.includes("*"))
}

/** The folders that hold a path, outermost first: `a/b/c` is in `a` and `a/b`. */
const folders = (path: string): ReadonlyArray<string> =>
  path.split("/").flatMap((_, depth, segments) => (depth === 0 ? [] : [segments.slice(0, depth).join("/")]))
