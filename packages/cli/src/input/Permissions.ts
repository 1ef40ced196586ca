/** Permissions in flag notation: `event:order:created=create,read`. */
import type { Permissions } from "@weft/client"
import { Result } from "effect"

/**
 * Parses values of `--allow`, each `type:path=action,action`. A resource that occurs twice gets the actions of both.
 */
export const parsePermissions = (rules: ReadonlyArray<string>): Result.Result<Permissions, string> => {
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

/** Formats permissions in the notation of `--allow`, one string per resource. */
export const formatPermissions = (permissions: Permissions): ReadonlyArray<string> =>
  Object.entries(permissions).map(([resource, actions]) => `${resource}=${actions.join(",")}`)
