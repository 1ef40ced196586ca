/**
 * Text that only a holder of the master key can read, as it is stored: `<key id>.<nonce>.<ciphertext and tag>`,
 * the last two Base64url. Safe to keep anywhere, never shown to anybody.
 */
import { Schema } from "effect"

export const Sealed = Schema.String.pipe(Schema.brand("Sealed"))
export type Sealed = typeof Sealed.Type

/** The id of the master key that sealed it. */
export const keyIdOf = (sealed: Sealed): string => sealed.slice(0, sealed.indexOf("."))
