/** Ids of requests: UUIDv7, ascending. */
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"

const poolBytes = 4096

/**
 * A generator of its own, because asking the system for 16 bytes costs several microseconds on every request;
 * this one asks for many at a time. No byte is used twice.
 */
export const makeRequestIds = (): (() => string) => {
  let pool = new Uint8Array(0)
  let used = 0
  const randomBytes = (size: number): Uint8Array => {
    if (used + size > pool.length) {
      pool = crypto.getRandomValues(new Uint8Array(Math.max(poolBytes, size)))
      used = 0
    }
    used += size
    return pool.subarray(used - size, used)
  }
  const next = SecureRandom.make(randomBytes).uuidV7()
  return () => Effect.runSync(next)
}
