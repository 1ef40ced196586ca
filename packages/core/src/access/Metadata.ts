/** What an API key attaches to a credential that it hands out: any JSON, sealed at rest. */
import { Effect, type Schema } from "effect"
import type { CannotOpen, Keyring, Place } from "../encryption/Keyring.ts"
import type { Sealed } from "../encryption/Sealed.ts"
import { BadRequest } from "../errors/Errors.ts"
import { JsonText, toJsonText } from "../ids/JsonText.ts"
import { utf8Encode } from "../ids/Utf8.ts"

/** As JSON text in UTF-8. */
const metadataBytesMax = 64 * 1024

/** The JSON text to be sealed; null for none. */
export const checkMetadata = (metadata: Schema.Json | undefined): Effect.Effect<JsonText | null, BadRequest> => {
  if (metadata === undefined || metadata === null) return Effect.succeed(null)
  const text = toJsonText(metadata)
  return utf8Encode(text).length <= metadataBytesMax
    ? Effect.succeed(text)
    : Effect.fail(new BadRequest({ reason: `metadata must have at most ${metadataBytesMax} bytes` }))
}

export const sealMetadata = (
  keyring: Keyring["Service"],
  metadata: JsonText | null,
  place: Place
): Effect.Effect<Sealed | null> => (metadata === null ? Effect.succeed(null) : keyring.seal(metadata, place))

/** The JSON text of stored metadata; `null` for none. */
export const openMetadata = (
  keyring: Keyring["Service"],
  metadata: Sealed | null,
  place: Place
): Effect.Effect<JsonText, CannotOpen> =>
  metadata === null
    ? Effect.succeed(none)
    : Effect.map(keyring.open(metadata, place), (text) => JsonText.make(text, { disableChecks: true }))

/**
 * As `openMetadata`, for showing. Metadata that does not open is shown as `null`, and the log says so: its credential
 * is refused anyway, and its owner must be able to find and revoke it.
 */
export const showMetadata = (
  keyring: Keyring["Service"],
  metadata: Sealed | null,
  place: Place
): Effect.Effect<JsonText> =>
  Effect.catchTag(openMetadata(keyring, metadata, place), "CannotOpen", (error) =>
    Effect.as(Effect.logError(error.message), none)
  )

const none = JsonText.make("null")
