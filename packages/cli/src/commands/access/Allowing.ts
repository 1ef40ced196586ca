/** What a credential may do and how long it lives, as flags. */
import { Effect, Result } from "effect"
import { Flag } from "effect/cli"
import { misuse } from "../../Failure.ts"
import { lifetimeOf } from "../../input/Lifetime.ts"
import { permissionsOf } from "../../input/Permissions.ts"

export const allowFlag = Flag.String("allow").pipe(
  Flag.withMetavar("rule"),
  Flag.withDescription("What it may do, as type:path=action,action; once for each resource"),
  Flag.atLeast(0)
)

export const expiresFlag = Flag.String("expires").pipe(
  Flag.withMetavar("time"),
  Flag.filterMap(lifetimeOf, (text) => `Expected: a time such as 15m, 12h or 30d, not ${text}`),
  Flag.withDescription("How long it lives, such as 15m, 12h or 30d"),
  Flag.optional
)

/** Null when no rule was given. */
export const readPermissions = (rules: ReadonlyArray<string>) =>
  rules.length === 0
    ? Effect.succeed(null)
    : Result.match(permissionsOf(rules), {
        onSuccess: (permissions) => Effect.succeed(permissions),
        onFailure: (message) => Effect.fail(misuse(message))
      })

/** Fails when no rule was given. */
export const readRequiredPermissions = Effect.fnUntraced(function* (rules: ReadonlyArray<string>) {
  const permissions = yield* readPermissions(rules)
  if (permissions !== null) return permissions
  return yield* misuse("What is it to be allowed?", "give --allow at least once, such as --allow 'event:*=create'")
})
