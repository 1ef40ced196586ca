/**
 * `RateStore` of one node, for a database that nodes share.
 *
 * The node prefetches permits of the organizations that it serves. It requests as many as it recently used in
 * `aheadMs`, and at most twice its demand since the last request. A busy organization costs a few statements a second,
 * whatever its number of requests. An organization with rare requests costs one statement for each. A request waits for
 * a statement only if the node has no permit, and concurrent requests share a statement. Unused permits expire after
 * 1 s, as in a full token bucket.
 *
 * During an outage of the database a node uses up its permits, at most those of 200 ms, and then fails. To continue
 * would allow the whole rate once per node, and every allowed request needs the database anyway.
 */
import { type OrgId, StoreUnavailable } from "@weft/core"
import { RateStore, type Timestamp } from "@weft/core/adapter"
import { Deferred, Effect, Exit, Latch, Layer } from "effect"
import { Database } from "./Database.ts"
import { aheadMs, makePermitAllocator, type PermitGrant, type PermitRequest, wantedMax } from "./PermitAllocation.ts"
import { nextUsableAt, Permits } from "./Permits.ts"

/** Minimum back-off after a request that received fewer permits, in milliseconds. Gives other nodes a chance. */
const pauseMs = 40

/** Change of a node's share: multiplied by `shareCut` if other nodes compete for permits, else increased by `shareStep`. */
const shareCut = 0.8
const shareStep = 0.05

/** Maximum rate per second; higher rates are treated as this one. A `PermitTime` must fit into 64 bits. */
const rateMax = 1_000_000

/** Maximum time that a request waits for permits. */
const timeout = "2 seconds"

/** Maximum organizations with cached permits. The least recently used one is evicted. */
const capacity = 10_000

/** Maximum organizations per statement. */
const batchMax = 1000

export const layer: Layer.Layer<RateStore, never, Database> = Layer.effect(
  RateStore,
  Effect.gen(function* () {
    const request = yield* makeRequester
    const orgs = new Map<OrgId, Org>()

    const getOrg = (orgId: OrgId, perSecond: number): Org => {
      const known = orgs.get(orgId)
      // The order matters only when an eviction is near.
      if (known?.permits.perSecond === perSecond && orgs.size <= capacity / 2) return known
      const org = known?.permits.perSecond === perSecond ? known : newOrg(orgId, perSecond)
      orgs.delete(orgId)
      orgs.set(orgId, org)
      const [oldest] = orgs.keys()
      if (orgs.size > capacity && oldest !== undefined) orgs.delete(oldest)
      return org
    }

    const take = (org: Org, now: Timestamp): Effect.Effect<number, StoreUnavailable> => {
      const waitMs = org.permits.use(now) ? 0 : knownWait(org, now)
      if (waitMs === null) return Effect.flatMap(request(org, now, true), () => take(org, now))
      return isRunningLow(org, now)
        ? Effect.as(
            Effect.sync(() => void request(org, now, false)),
            waitMs
          )
        : Effect.succeed(waitMs)
    }

    return RateStore.of({
      take: (orgId, perSecond, now) =>
        Effect.suspend(() => {
          const org = getOrg(orgId, Math.min(perSecond, rateMax))
          org.demand++
          return take(org, now)
        })
    })
  })
)

/** State of an organization on this node. */
interface Org {
  readonly orgId: OrgId
  readonly permits: Permits
  /** Rate-limited requests since the last request for permits, and the time of the latter. */
  demand: number
  requestedAt: number
  /** First time at which an unassigned permit can be used, as far as this node knows. */
  nextAt: number
  /** Until this time the node requests permits only if a caller waits for them. */
  backOffUntil: number
  /** Fraction of the rate that this node prefetches, 0 to 1. Less while other nodes compete, so that none starves. */
  share: number
  /** The request that is not sent yet. `isRequesting` is true while another one is in flight. */
  pending: PendingRequest | null
  isRequesting: boolean
}

interface PendingRequest {
  readonly completed: Deferred.Deferred<void, StoreUnavailable>
  now: Timestamp
  /** Number of callers that wait for it. */
  waiters: number
}

const newOrg = (orgId: OrgId, perSecond: number): Org => ({
  orgId,
  permits: new Permits(perSecond),
  demand: 0,
  requestedAt: Number.NEGATIVE_INFINITY,
  nextAt: Number.NEGATIVE_INFINITY,
  backOffUntil: Number.NEGATIVE_INFINITY,
  share: 1,
  pending: null,
  isRequesting: false
})

/** Returns the milliseconds until the next permit, or null if one may be available now. */
const knownWait = ({ permits, nextAt }: Org, now: number): number | null => {
  const at = permits.next(now) ?? nextAt
  return at > now ? at - now : null
}

/** Predicts the permits that the node needs in the next `aheadMs`, from its recent demand and within its share. */
const predictDemand = ({ demand, requestedAt, share, permits }: Org, now: number): number =>
  Math.min(
    Math.floor((demand * aheadMs) / Math.max(1, now - requestedAt)),
    2 * demand,
    Math.max(1, Math.floor((share * permits.perSecond * aheadMs) / 1000))
  )

/** True if the node should prefetch permits. */
const isRunningLow = (org: Org, now: number): boolean =>
  org.pending === null &&
  !org.isRequesting &&
  now >= org.backOffUntil &&
  2 * org.permits.count(now) < predictDemand(org, now)

/** Returns the function that requests permits. All organizations share one statement at a time. */
const makeRequester = Effect.gen(function* () {
  const allocate = makePermitAllocator(yield* Database)
  const wake = Latch.makeUnsafe(false)
  let pendingOrgs = new Set<Org>()

  /** Adds the organization to the next statement. */
  const request = (org: Org, now: Timestamp, waits: boolean): Effect.Effect<void, StoreUnavailable> => {
    org.pending ??= { completed: Deferred.makeUnsafe<void, StoreUnavailable>(), now, waiters: 0 }
    if (now > org.pending.now) org.pending.now = now
    if (waits) org.pending.waiters++
    pendingOrgs.add(org)
    wake.openUnsafe()
    return Deferred.await(org.pending.completed)
  }

  const send = Effect.fnUntraced(function* (orgs: ReadonlyArray<Org>) {
    const sent = orgs.flatMap(startRequest)
    const exit = yield* allocate(sent.map(({ request }) => request)).pipe(
      // A repeated statement loses permits, it never adds any. A lost connection is noticed only on its next use.
      Effect.retry({ times: 1 }),
      Effect.timeoutOrElse({ duration: timeout, orElse: () => Effect.fail(timedOut) }),
      Effect.exit
    )
    for (const { org, request, pending } of sent) {
      org.isRequesting = false
      if (Exit.isSuccess(exit)) applyGrant(org, request, exit.value.get(org.orgId))
      Deferred.doneUnsafe(pending.completed, Exit.asVoid(exit))
    }
  })

  yield* wake.await.pipe(
    // Concurrent requests share the statement.
    Effect.andThen(Effect.yieldNow),
    Effect.andThen(
      Effect.suspend(() => {
        const [orgs, rest] = split(pendingOrgs)
        pendingOrgs = rest
        if (rest.size === 0) wake.closeUnsafe()
        return send(orgs)
      })
    ),
    Effect.forever,
    Effect.forkScoped
  )
  return request
})

const timedOut = new StoreUnavailable({
  operation: "take",
  cause: new Error(`The database did not answer within ${timeout}`)
})

/** Returns at most `batchMax` different organizations, and the rest. */
const split = (pendingOrgs: ReadonlySet<Org>): readonly [ReadonlyArray<Org>, Set<Org>] => {
  const orgs = new Map<OrgId, Org>()
  const rest = new Set<Org>()
  for (const org of pendingOrgs) {
    if (orgs.size < batchMax && !orgs.has(org.orgId)) orgs.set(org.orgId, org)
    else rest.add(org)
  }
  return [[...orgs.values()], rest]
}

const startRequest = (org: Org) => {
  const { pending, orgId, permits } = org
  if (pending === null) return []
  const { now, waiters } = pending
  const wanted = Math.max(1, waiters + Math.max(0, predictDemand(org, now) - permits.count(now)))
  const request: PermitRequest = {
    ...{ orgId, now, perSecond: permits.perSecond },
    wanted: Math.min(wanted, wantedMax(permits.perSecond))
  }
  org.pending = null
  org.isRequesting = true
  org.demand = 0
  org.requestedAt = now
  return [{ org, request, pending }]
}

const applyGrant = (org: Org, { now, wanted }: PermitRequest, given: PermitGrant | undefined): void => {
  if (given === undefined) return
  const { last, count } = given
  const { permits } = org
  permits.add(last, count)
  const nextAt = nextUsableAt(last, permits.perSecond)
  const coveredMs = (count * 1000) / permits.perSecond
  const isContended = count < wanted && nextAt - org.nextAt > coveredMs + 1
  org.nextAt = nextAt
  org.share = isContended ? org.share * shareCut : Math.min(1, org.share + shareStep)
  org.backOffUntil = now
  if (count < wanted) {
    const backOffMs = Math.max(pauseMs, isContended ? 2 * coveredMs : 0)
    org.backOffUntil = Math.max(now + backOffMs, nextAt - aheadMs)
  }
}
