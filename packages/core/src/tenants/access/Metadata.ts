/** Metadata of sessions and service keys: any JSON, encrypted at rest. */
import { Effect, type Schema } from "effect"
import { BadRequest } from "../../foundation/Errors.ts"
import { JsonText, toJsonText } from "../../foundation/JsonText.ts"
import { utf8Encode } from "../../foundation/Utf8.ts"
import type { CannotOpen, Keyring, SealContext } from "../../platform/encryption/Keyring.ts"
import type { Sealed } from "../../platform/encryption/Sealed.ts"

/** Maximum size as JSON text, in UTF-8 bytes. */
const metadataBytesMax = 64 * 1024

/** Returns the JSON text to encrypt, or null if there is no metadata. */
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
  place: SealContext
): Effect.Effect<Sealed | null> => (metadata === null ? Effect.succeed(null) : keyring.seal(metadata, place))

/** Decrypts stored metadata to JSON text, which is `null` if there is no metadata. */
export const openMetadata = (
  keyring: Keyring["Service"],
  metadata: Sealed | null,
  place: SealContext
): Effect.Effect<JsonText, CannotOpen> =>
  metadata === null
    ? Effect.succeed(none)
    : Effect.map(keyring.open(metadata, place), (text) => JsonText.make(text, { disableChecks: true }))

/**
 * Decrypts stored metadata for a response. If that fails, logs the error and returns `null`. Authentication rejects
 * such a credential, and its owner must be able to list and revoke it.
 */
export const showMetadata = (
  keyring: Keyring["Service"],
  metadata: Sealed | null,
  place: SealContext
): Effect.Effect<JsonText> =>
  Effect.catchTag(openMetadata(keyring, metadata, place), "CannotOpen", (error) =>
    Effect.as(Effect.logError(error.message), none)
  )

const none = JsonText.make("null")
