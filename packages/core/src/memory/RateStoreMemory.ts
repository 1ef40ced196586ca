/** `RateStore` in memory: the executable specification, and the store of every process that owns its database alone. */
import { Effect, Layer } from "effect"
import type { OrgId } from "../ids/Ids.ts"
import { RateStore } from "../tenancy/RateStore.ts"

/** What is left, in thousandths of a request, so that a millisecond of a whole rate is a whole number. */
interface Bucket {
  left: number
  /** Epoch milliseconds of `left`. */
  at: number
  /** The rate that it was filled by. */
  perSecond: number
}

const request = 1000

/**
 * Organizations to remember; beyond, the one that asked first goes. It would have to have asked within the last
 * second to lose count of anything.
 */
const capacity = 10_000

export const layer: Layer.Layer<RateStore> = Layer.sync(RateStore, () => {
  const buckets = new Map<OrgId, Bucket>()

  const bucketOf = (orgId: OrgId, perSecond: number, now: number): Bucket => {
    const known = buckets.get(orgId)
    // What was used of another rate says nothing about what may be used of this one.
    if (known?.perSecond === perSecond) {
      // Order matters only when something may have to go.
      if (buckets.size > capacity / 2) {
        buckets.delete(orgId)
        buckets.set(orgId, known)
      }
      return known
    }
    const bucket = { left: perSecond * request, at: now, perSecond }
    buckets.set(orgId, bucket)
    const [oldest] = buckets.keys()
    if (buckets.size > capacity && oldest !== undefined) buckets.delete(oldest)
    return bucket
  }

  return RateStore.of({
    take: (orgId, perSecond, now) =>
      Effect.sync(() => {
        const full = perSecond * request
        const bucket = bucketOf(orgId, perSecond, now)
        const elapsed = Math.max(0, now - bucket.at)
        bucket.left = Math.min(full, bucket.left + elapsed * perSecond)
        bucket.at += elapsed
        if (bucket.left >= request) {
          bucket.left -= request
          return 0
        }
        return Math.ceil((request - bucket.left) / perSecond) + bucket.at - now
      })
  })
})
