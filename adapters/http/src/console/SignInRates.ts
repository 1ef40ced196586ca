/** Limits sign-ins on one node. Tokens cannot be guessed; the limit bounds the work that strangers cause. */
import { RateLimited } from "@weft/core"
import { Clock, Effect } from "effect"

/** Sign-ins in one window. */
const perAddress = 30
const overall = 300
const windowMs = 60_000

/** Maximum addresses in memory. Above it, new addresses wait for the next window. */
const addressesMax = 10_000

/** Counts a sign-in of an address, and fails if the address or all together exceed the limit of a minute. */
export type SignInRates = (address: string | null) => Effect.Effect<void, RateLimited>

export const makeSignInRates = (): SignInRates => {
  let endsAt = 0
  let total = 0
  const counts = new Map<string, number>()
  return (address) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      if (now >= endsAt) {
        endsAt = now + windowMs
        total = 0
        counts.clear()
      }
      const key = address ?? ""
      const count = counts.get(key) ?? 0
      if (total >= overall || count >= perAddress || (count === 0 && counts.size >= addressesMax)) {
        return Effect.fail(new RateLimited({ retryAfterSeconds: Math.ceil((endsAt - now) / 1000) }))
      }
      total++
      counts.set(key, count + 1)
      return Effect.void
    })
}
