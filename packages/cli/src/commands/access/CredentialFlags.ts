/** Flags for permissions and lifetime of credentials. */
import { Effect, Result } from "effect"
import { Flag } from "effect/cli"
import { usageError } from "../../Failure.ts"
import { parseDuration } from "../../input/Duration.ts"
import { parsePermissions } from "../../input/Permissions.ts"

export const allowFlag = Flag.String("allow").pipe(
  Flag.withMetavar("rule"),
  Flag.withDescription("A permission, as type:path=action,action; repeat it for each resource"),
  Flag.atLeast(0)
)

export const expiresFlag = Flag.String("expires").pipe(
  Flag.withMetavar("time"),
  Flag.filterMap(parseDuration, (text) => `Expected: a time such as 15m, 12h or 30d, not ${text}`),
  Flag.withDescription("Lifetime, such as 15m, 12h or 30d"),
  Flag.optional
)

/** Returns null if no rule is given. */
export const readPermissions = (rules: ReadonlyArray<string>) =>
  rules.length === 0
    ? Effect.succeed(null)
    : Result.match(parsePermissions(rules), {
        onSuccess: (permissions) => Effect.succeed(permissions),
        onFailure: (message) => Effect.fail(usageError(message))
      })

/** Fails if no rule is given. */
export const readRequiredPermissions = Effect.fnUntraced(function* (rules: ReadonlyArray<string>) {
  const permissions = yield* readPermissions(rules)
  if (permissions !== null) return permissions
  return yield* usageError("No permissions are given", "give --allow at least once, such as --allow 'event:*=create'")
})
