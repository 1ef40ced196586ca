/** `RateStore` in memory: the executable specification, and the store of every process that is the only user of its database. */
import { Effect, Layer } from "effect"
import type { OrgId } from "../foundation/Ids.ts"
import { RateStore } from "../tenants/orgs/RateStore.ts"

/** A token bucket. */
interface Bucket {
  /** Remaining tokens in thousandths of a request, so that the refill per millisecond is an integer. */
  tokens: number
  /** Time of the last refill, in epoch milliseconds. */
  at: number
  /** Rate of the refill. */
  perSecond: number
}

const request = 1000

/**
 * Maximum organizations; beyond it the least recently used bucket is removed. Its count is lost only if it was used
 * within the last second, since older buckets are full.
 */
const capacity = 10_000

export const layer: Layer.Layer<RateStore> = Layer.sync(RateStore, () => {
  const buckets = new Map<OrgId, Bucket>()

  const findBucket = (orgId: OrgId, perSecond: number, now: number): Bucket => {
    const known = buckets.get(orgId)
    // A changed rate starts with a full bucket.
    if (known?.perSecond === perSecond) {
      // The order matters only when buckets may be removed soon.
      if (buckets.size > capacity / 2) {
        buckets.delete(orgId)
        buckets.set(orgId, known)
      }
      return known
    }
    const bucket = { tokens: perSecond * request, at: now, perSecond }
    buckets.set(orgId, bucket)
    const [oldest] = buckets.keys()
    if (buckets.size > capacity && oldest !== undefined) buckets.delete(oldest)
    return bucket
  }

  return RateStore.of({
    take: (orgId, perSecond, now) =>
      Effect.sync(() => {
        const full = perSecond * request
        const bucket = findBucket(orgId, perSecond, now)
        const elapsed = Math.max(0, now - bucket.at)
        bucket.tokens = Math.min(full, bucket.tokens + elapsed * perSecond)
        bucket.at += elapsed
        if (bucket.tokens >= request) {
          bucket.tokens -= request
          return 0
        }
        return Math.ceil((request - bucket.tokens) / perSecond) + bucket.at - now
      })
  })
})
