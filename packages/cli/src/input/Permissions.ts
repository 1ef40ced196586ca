/** Permissions as flags: `event:order:created=create,read`. */
import type { Permissions } from "@weft/client"
import { Result } from "effect"

/**
 * A map of what `--allow` says, each as `type:path=action,action`. A resource that is named twice has the actions of
 * both.
 */
export const permissionsOf = (rules: ReadonlyArray<string>): Result.Result<Permissions, string> => {
  const map: Record<string, ReadonlyArray<string>> = {}
  for (const rule of rules) {
    const at = rule.lastIndexOf("=")
    const resource = rule.slice(0, at)
    const actions = rule
      .slice(at + 1)
      .split(",")
      .map((action) => action.trim())
    if (at < 1 || !resource.includes(":") || actions.includes("")) {
      return Result.fail(`--allow ${rule}: write it as type:path=action,action, such as 'event:*=create,read'`)
    }
    map[resource] = [...new Set([...(map[resource] ?? []), ...actions])]
  }
  return Result.succeed(map)
}

/** As `--allow` takes them, one a resource. */
export const rulesOf = (permissions: Permissions): ReadonlyArray<string> =>
  Object.entries(permissions).map(([resource, actions]) => `${resource}=${actions.join(",")}`)
