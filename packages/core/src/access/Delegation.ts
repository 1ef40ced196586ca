/** The rules that sessions and service keys have in common: an API key hands them out, with no more than it holds. */
import { Effect } from "effect"
import { BadRequest, PermissionEscalation } from "../errors/Errors.ts"
import { isStorable } from "../ids/StorableText.ts"
import { clip, firstExcess, type PermissionMap, parsePermissions } from "./Permission.ts"

/** The requested permissions, if they are valid and a subset of `granted`. */
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

/** The lifetime in milliseconds of a credential that is to expire in so many seconds. */
export const lifetime = (seconds: number, secondsMax: number): Effect.Effect<number, BadRequest> =>
  Number.isInteger(seconds) && seconds >= 1 && seconds <= secondsMax
    ? Effect.succeed(seconds * 1000)
    : Effect.fail(new BadRequest({ reason: `expires_in must be an integer from 1 to ${secondsMax}` }))

/** Text that people label a credential with. */
export const checkLabel = (field: string, text: string, lengthMax: number): Effect.Effect<string, BadRequest> =>
  text.length <= lengthMax && isStorable(text)
    ? Effect.succeed(text)
    : Effect.fail(
        new BadRequest({ reason: `${field} must be valid Unicode of at most ${lengthMax} characters, without U+0000` })
      )
