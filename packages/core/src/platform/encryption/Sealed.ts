/**
 * Text encrypted under a master key, as it is stored: `<key id>.<nonce>.<ciphertext and tag>`, the last two in
 * base64url. Safe to store anywhere, never shown to a client.
 */
import { Schema } from "effect"

export const Sealed = Schema.String.pipe(Schema.brand("Sealed"))
export type Sealed = typeof Sealed.Type

/** Returns the id of the master key that encrypted the value. */
export const keyIdOf = (sealed: Sealed): string => sealed.slice(0, sealed.indexOf("."))
