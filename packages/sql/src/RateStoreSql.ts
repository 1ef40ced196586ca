/**
 * `RateStore` of one node, for a database that nodes share.
 *
 * The node has permits of the organizations that it serves, handed out by the database a little ahead of their use:
 * about as many as it lately needed in `aheadMs`, and never more than twice what it needed since it last asked. So an
 * organization that is busy costs some statements in a second, however many requests it makes, and one that sends a
 * request now and then costs one for each. Nobody waits for a statement who could have been answered without it, and
 * what comes together asks together. Permits that a node does not use are gone a second after their birth, as in a
 * full bucket.
 *
 * While the database is away a node uses up what it has, a fifth of a second's worth at most, and then fails: to go on
 * would let through the whole rate once for each node, and whatever is let through needs the database anyway.
 */
import { type OrgId, RateStore, StoreUnavailable, type Timestamp } from "@weft/core"
import { Deferred, Effect, Exit, Latch, Layer } from "effect"
import { Database } from "./Database.ts"
import { Permits, usableNext } from "./Permits.ts"
import { type Ask, aheadMs, type Given, rateAsks, wantedMax } from "./RateAsks.ts"

/** How long a node that got fewer than it wanted leaves the others the next ones, in milliseconds; at least. */
const pauseMs = 40

/** How the share of a node shrinks when others took what it wanted, and grows when they did not. */
const shareCut = 0.8
const shareStep = 0.05

/** Rates beyond are not told apart: nothing comes near, and a birth must fit into 64 bits. */
const rateMax = 1_000_000

/** How long an answer may take that a request waits for. */
const patience = "2 seconds"

/** Organizations that a node has permits of; beyond, those of the one that asked first are lost. */
const capacity = 10_000

/** Organizations in one statement. */
const batchMax = 1000

export const layer: Layer.Layer<RateStore, never, Database> = Layer.effect(
  RateStore,
  Effect.gen(function* () {
    const ask = yield* makeAsking
    const orgs = new Map<OrgId, Org>()

    const orgOf = (orgId: OrgId, perSecond: number): Org => {
      const known = orgs.get(orgId)
      // Order matters only when something may have to go.
      if (known?.permits.perSecond === perSecond && orgs.size <= capacity / 2) return known
      const org = known?.permits.perSecond === perSecond ? known : newOrg(orgId, perSecond)
      orgs.delete(orgId)
      orgs.set(orgId, org)
      const [oldest] = orgs.keys()
      if (orgs.size > capacity && oldest !== undefined) orgs.delete(oldest)
      return org
    }

    const take = (org: Org, now: Timestamp): Effect.Effect<number, StoreUnavailable> => {
      const waitMs = org.permits.use(now) ? 0 : waitOf(org, now)
      if (waitMs === null) return Effect.flatMap(ask(org, now, true), () => take(org, now))
      return isShort(org, now)
        ? Effect.as(
            Effect.sync(() => void ask(org, now, false)),
            waitMs
          )
        : Effect.succeed(waitMs)
    }

    return RateStore.of({
      take: (orgId, perSecond, now) =>
        Effect.suspend(() => {
          const org = orgOf(orgId, Math.min(perSecond, rateMax))
          org.needed++
          return take(org, now)
        })
    })
  })
)

/** What a node knows of an organization. */
interface Org {
  readonly orgId: OrgId
  readonly permits: Permits
  /** Requests since it last asked, and when that was. */
  needed: number
  askedAt: number
  /** When the first permit can be used that nobody has, as far as this node knows. */
  nextAt: number
  /** Before this it asks only for a request that waits for it. */
  restsUntil: number
  /** How much of the rate it claims for itself. Less while others want some as well, so that nobody is left without. */
  share: number
  /** The ask that has not been sent yet, and the one that has. */
  gathering: Gathering | null
  isAsking: boolean
}

interface Gathering {
  readonly answered: Deferred.Deferred<void, StoreUnavailable>
  now: Timestamp
  /** Requests that wait for it. */
  waiting: number
}

const newOrg = (orgId: OrgId, perSecond: number): Org => ({
  orgId,
  permits: new Permits(perSecond),
  needed: 0,
  askedAt: Number.NEGATIVE_INFINITY,
  nextAt: Number.NEGATIVE_INFINITY,
  restsUntil: Number.NEGATIVE_INFINITY,
  share: 1,
  gathering: null,
  isAsking: false
})

/** How long until there is a permit, where that is known without asking; null: there may be one now. */
const waitOf = ({ permits, nextAt }: Org, now: number): number | null => {
  const at = permits.next(now) ?? nextAt
  return at > now ? at - now : null
}

/** How many the node will need in the next `aheadMs`, going by what it needed since it last asked, within its share. */
const expected = ({ needed, askedAt, share, permits }: Org, now: number): number =>
  Math.min(
    Math.floor((needed * aheadMs) / Math.max(1, now - askedAt)),
    2 * needed,
    Math.max(1, Math.floor((share * permits.perSecond * aheadMs) / 1000))
  )

/** Whether to ask before there are none left. */
const isShort = (org: Org, now: number): boolean =>
  org.gathering === null && !org.isAsking && now >= org.restsUntil && 2 * org.permits.count(now) < expected(org, now)

/** Sends the asks of all organizations, one statement at a time. */
const makeAsking = Effect.gen(function* () {
  const handOut = rateAsks(yield* Database)
  const wake = Latch.makeUnsafe(false)
  let asking = new Set<Org>()

  /** Asks for the organization with the next statement. */
  const ask = (org: Org, now: Timestamp, waits: boolean): Effect.Effect<void, StoreUnavailable> => {
    org.gathering ??= { answered: Deferred.makeUnsafe<void, StoreUnavailable>(), now, waiting: 0 }
    if (now > org.gathering.now) org.gathering.now = now
    if (waits) org.gathering.waiting++
    asking.add(org)
    wake.openUnsafe()
    return Deferred.await(org.gathering.answered)
  }

  const send = Effect.fnUntraced(function* (orgs: ReadonlyArray<Org>) {
    const sent = orgs.flatMap(beginAsk)
    const exit = yield* handOut(sent.map(({ ask }) => ask)).pipe(
      // Handing out twice gives less, never more. A connection that was lost is noticed by who uses it next.
      Effect.retry({ times: 1 }),
      Effect.timeoutOrElse({ duration: patience, orElse: () => Effect.fail(noAnswer) }),
      Effect.exit
    )
    for (const { org, ask, gathering } of sent) {
      org.isAsking = false
      if (Exit.isSuccess(exit)) receive(org, ask, exit.value.get(org.orgId))
      Deferred.doneUnsafe(gathering.answered, Exit.asVoid(exit))
    }
  })

  yield* wake.await.pipe(
    // What comes together asks together.
    Effect.andThen(Effect.yieldNow),
    Effect.andThen(
      Effect.suspend(() => {
        const [orgs, rest] = split(asking)
        asking = rest
        if (rest.size === 0) wake.closeUnsafe()
        return send(orgs)
      })
    ),
    Effect.forever,
    Effect.forkScoped
  )
  return ask
})

const noAnswer = new StoreUnavailable({ operation: "take", cause: new Error("No answer in time") })

/** At most `batchMax` that are different organizations, and the rest. */
const split = (asking: ReadonlySet<Org>): readonly [ReadonlyArray<Org>, Set<Org>] => {
  const orgs = new Map<OrgId, Org>()
  const rest = new Set<Org>()
  for (const org of asking) {
    if (orgs.size < batchMax && !orgs.has(org.orgId)) orgs.set(org.orgId, org)
    else rest.add(org)
  }
  return [[...orgs.values()], rest]
}

const beginAsk = (org: Org) => {
  const { gathering, orgId, permits } = org
  if (gathering === null) return []
  const { now, waiting } = gathering
  const wanted = Math.max(1, waiting + Math.max(0, expected(org, now) - permits.count(now)))
  const ask: Ask = {
    ...{ orgId, now, perSecond: permits.perSecond },
    wanted: Math.min(wanted, wantedMax(permits.perSecond))
  }
  org.gathering = null
  org.isAsking = true
  org.needed = 0
  org.askedAt = now
  return [{ org, ask, gathering }]
}

const receive = (org: Org, { now, wanted }: Ask, given: Given | undefined): void => {
  if (given === undefined) return
  const { last, count } = given
  const { permits } = org
  permits.add(last, count)
  const nextAt = usableNext(last, permits.perSecond)
  const lastsMs = (count * 1000) / permits.perSecond
  const isContended = count < wanted && nextAt - org.nextAt > lastsMs + 1
  org.nextAt = nextAt
  org.share = isContended ? org.share * shareCut : Math.min(1, org.share + shareStep)
  org.restsUntil = now
  if (count < wanted) {
    const rest = Math.max(pauseMs, isContended ? 2 * lastsMs : 0)
    org.restsUntil = Math.max(now + rest, nextAt - aheadMs)
  }
}
