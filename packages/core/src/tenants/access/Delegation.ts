/** Common rules of sessions and service keys, which an API key creates with a subset of its own permissions. */
import { Effect } from "effect"
import { BadRequest, PermissionEscalation } from "../../foundation/Errors.ts"
import { isStorable } from "../../foundation/StorableText.ts"
import { clip, firstExcess, type PermissionMap, parsePermissions } from "./Permission.ts"

/** Returns the requested permissions if they are valid and a subset of `granted`. */
export const delegate = (
  requested: unknown,
  granted: PermissionMap
): Effect.Effect<PermissionMap, BadRequest | PermissionEscalation> =>
  Effect.flatMap(Effect.fromResult(parsePermissions(requested)), (permissions) => {
    const excess = firstExcess(permissions, granted)
    return excess === null
      ? Effect.succeed(permissions)
      : Effect.fail(new PermissionEscalation({ permission: clip(excess) }))
  })

/** Returns the lifetime of a credential in milliseconds, from the `expires_in` of the request in seconds. */
export const parseLifetime = (seconds: number, secondsMax: number): Effect.Effect<number, BadRequest> =>
  Number.isInteger(seconds) && seconds >= 1 && seconds <= secondsMax
    ? Effect.succeed(seconds * 1000)
    : Effect.fail(new BadRequest({ reason: `expires_in must be an integer from 1 to ${secondsMax}` }))

/** Checks the length and characters of a credential's name or description. */
export const checkLabel = (field: string, text: string, lengthMax: number): Effect.Effect<string, BadRequest> =>
  text.length <= lengthMax && isStorable(text)
    ? Effect.succeed(text)
    : Effect.fail(
        new BadRequest({ reason: `${field} must be valid Unicode of at most ${lengthMax} characters, without U+0000` })
      )
