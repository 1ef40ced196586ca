/** Real cryptography in tests with virtual time. */
import { Effect } from "effect"

/** Waits until the operations that have begun are complete. Other threads compute them, in the order of their calls. */
export const cryptography = Effect.promise(() =>
  Promise.all(Array.from({ length: 16 }, () => crypto.subtle.digest("SHA-256", new Uint8Array(1))))
)
