/**
 * Effective rights of a credential, as a matrix of resource types and actions. Pure.
 *
 * The rules are those of the server. A key `type:path` grants its actions on one path, `type:*` on all of the type, and
 * `*:*` on everything. A session and a service key never have more rights than the API key that created them.
 */
import type { Permissions } from "@weft/client"

export const actions = ["create", "read", "update", "delete", "execute"] as const
export type Action = (typeof actions)[number]

/** The actions that exist for each type of resource. */
export const actionsOf: Readonly<Record<string, ReadonlyArray<Action>>> = {
  event: ["create", "read"],
  run: ["read"],
  call: ["create", "read"],
  stream: ["read"],
  webhook: ["execute"],
  mcp: ["execute"],
  project: ["create", "read", "update", "delete"],
  build: ["create", "read", "execute"],
  context: ["create", "read", "update", "delete"],
  file: ["create", "read", "update", "delete"],
  domain: ["create", "read", "update", "delete"],
  key: ["create", "read", "update", "delete"],
  session: ["create", "read", "delete"],
  env: ["read"],
  eval: ["execute"],
  recording: ["read"]
}

/** Types without named resources: only `type:*` grants something. */
const pathless: ReadonlySet<string> = new Set(["key", "session", "env", "domain", "eval"])

/**
 * A cell. `all`: on every resource. `some`: only on the paths. `lost`: the credential has the right, and the API key that
 * created it has not. `none`: not granted. `unknown`: the action does not exist for the type.
 */
export interface Right {
  readonly state: "all" | "some" | "lost" | "none" | "unknown"
  readonly paths: ReadonlyArray<string>
}

const unknown: Right = { state: "unknown", paths: [] }

const grants = (map: Permissions, key: string, action: Action): boolean => {
  const granted = map[key]
  return granted !== undefined && (granted.includes(action) || granted.includes("*"))
}

const grantsAll = (map: Permissions, type: string, action: Action): boolean =>
  grants(map, "*:*", action) || grants(map, `${type}:*`, action)

/** Returns the single paths on which the map grants the action. */
const pathsOf = (map: Permissions, type: string, action: Action): ReadonlyArray<string> =>
  pathless.has(type)
    ? []
    : Object.keys(map)
        .filter((key) => key.startsWith(`${type}:`) && key !== `${type}:*` && grants(map, key, action))
        .map((key) => key.slice(type.length + 1))

/** True if the path is one of the granted ones, or of files in a granted folder. */
const isWithin = (path: string, type: string, granted: ReadonlyArray<string>): boolean =>
  granted.some((one) => one === path || (type === "file" && one.endsWith("/*") && path.startsWith(one.slice(0, -1))))

/** Returns the right of `own`, restricted to what `creator` grants; without a creator, of `own` alone. */
export const rightOf = (own: Permissions, creator: Permissions | null, type: string, action: Action): Right => {
  if (actionsOf[type]?.includes(action) !== true) return unknown
  const isAll = grantsAll(own, type, action)
  const paths = pathsOf(own, type, action)
  if (!isAll && paths.length === 0) return { state: "none", paths: [] }
  if (creator === null || grantsAll(creator, type, action)) {
    return isAll ? { state: "all", paths: [] } : { state: "some", paths }
  }
  const permitted = pathsOf(creator, type, action)
  const effective = isAll
    ? permitted
    : [
        ...paths.filter((path) => isWithin(path, type, permitted)),
        ...permitted.filter((path) => !paths.includes(path) && isWithin(path, type, paths))
      ]
  return { state: effective.length === 0 ? "lost" : "some", paths: effective }
}

/** Returns the paths of a row, each with its actions. */
export const limitedPaths = (
  own: Permissions,
  creator: Permissions | null,
  type: string
): ReadonlyArray<readonly [path: string, actions: ReadonlyArray<Action>]> => {
  const found = new Map<string, ReadonlyArray<Action>>()
  for (const action of actionsOf[type] ?? []) {
    for (const path of rightOf(own, creator, type, action).paths) {
      found.set(path, [...(found.get(path) ?? []), action])
    }
  }
  return [...found].sort(([a], [b]) => a.localeCompare(b))
}
