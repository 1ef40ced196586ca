/** Custom domains of the caller's environment. Permission first, then the rules, then the store. */
import { Context, Effect, Fiber, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { Hex } from "effect/encoding"
import { type Caller, requirePermission } from "../access/Caller.ts"
import {
  BadRequest,
  type DomainExists,
  type DomainLimitReached,
  type Forbidden,
  NotFound,
  PlanRequired,
  type StoreUnavailable
} from "../errors/Errors.ts"
import { toIdOrName } from "../ids/IdOrName.ts"
import { DomainId, freshIds } from "../ids/Ids.ts"
import { allItems, type Page, type PageRequest } from "../ids/Page.ts"
import { addMillis, now as currentTime } from "../ids/Timestamp.ts"
import { Plans } from "../tenancy/Plans.ts"
import type { Domain } from "./Domain.ts"
import { DomainChecks } from "./DomainChecks.ts"
import { backOffMs, holdMs, messageOf } from "./DomainProgress.ts"
import { DomainRoutes } from "./DomainRoutes.ts"
import { DomainStore } from "./DomainStore.ts"
import { DomainWorker } from "./DomainWorker.ts"
import { DomainZones } from "./DomainZones.ts"
import { parseHostName, validationPrefix } from "./HostName.ts"

/** Where a domain stands, and what its owner is to do. */
export interface Verification {
  readonly domain: Domain
  readonly message: string
}

/** How long `verify` waits for its check. A certificate can take longer; the check goes on. */
const patienceMs = 15_000

type Denied = Forbidden | StoreUnavailable
type Needs = DomainStore | DomainRoutes | DomainChecks | DomainWorker | DomainZones | Plans | SecureRandom.SecureRandom

export class Domains extends Context.Service<
  Domains,
  {
    /** Newest first, those that are being deleted included. */
    readonly list: (page: PageRequest) => Effect.Effect<Page<Domain>, Denied, Caller>
    /** The same, however many there are. */
    readonly all: Effect.Effect<ReadonlyArray<Domain>, Denied, Caller>
    /**
     * Registers a host name, in whatever script, of at least two labels. `BadRequest` for what is none or is the
     * service's own; then `PlanRequired` and `DomainLimitReached`; then `DomainExists`.
     */
    readonly add: (input: {
      readonly domain: string
    }) => Effect.Effect<Domain, Denied | BadRequest | PlanRequired | DomainLimitReached | DomainExists, Caller>
    readonly get: (id: string) => Effect.Effect<Domain, Denied | NotFound, Caller>
    /**
     * Looks whether a domain can be validated now, and waits for it for up to 15 s. A domain that is validated is
     * left as it is. Needs `domain: update`.
     */
    readonly verify: (id: string) => Effect.Effect<Verification, Denied | NotFound, Caller>
    /**
     * Ends the routing of a domain at once; its certificate and record go in the background. `NotFound` also for one
     * that is being deleted already.
     */
    readonly remove: (id: string) => Effect.Effect<void, Denied | NotFound, Caller>
  }
>()("@weft/core/domains/Domains") {
  static readonly layer: Layer.Layer<Domains, never, Needs> = Layer.effect(
    Domains,
    Effect.gen(function* () {
      const store = yield* DomainStore
      const routes = yield* DomainRoutes
      const worker = yield* DomainWorker
      const plans = yield* Plans
      const zones = yield* DomainZones
      const random = yield* SecureRandom.SecureRandom
      const freshId = yield* freshIds
      const checkNow = yield* makeCheckNow

      const nameOf = Effect.fnUntraced(function* (text: string) {
        const name = parseHostName(text)
        if (name === null) return yield* badName
        return zones.isOwn(name) ? yield* ownName : name
      })

      const limitOf = Effect.fnUntraced(function* (envId: Domain["env_id"]) {
        // An environment that a credential names is there: it is gone only when the store was changed by hand.
        const { org, plan } = yield* Effect.catchTag(plans.of(envId), "NotFound", Effect.die)
        if (plan.domains === 0) return yield* planRequired
        return { org_id: org.org_id, limit: plan.domains }
      })

      return Domains.of({
        list: Effect.fnUntraced(function* (page) {
          const caller = yield* requirePermission("domain", "*", "read")
          return yield* store.list(caller.env_id, page)
        }),

        all: Effect.gen(function* () {
          const caller = yield* requirePermission("domain", "*", "read")
          return yield* allItems((page) => store.list(caller.env_id, page))
        }),

        add: Effect.fnUntraced(function* (input) {
          const { env_id } = yield* requirePermission("domain", "*", "create")
          const name = yield* nameOf(input.domain)
          const { org_id, limit } = yield* limitOf(env_id)
          const label = Hex.encode(yield* Effect.orDie(random.randomBytes(labelBytes)))
          const instant = yield* currentTime
          const domain: Domain = {
            domain_id: yield* freshId(DomainId),
            env_id,
            org_id,
            domain: name,
            status: "pending_validation",
            validation_cname_name: `${validationPrefix}${name}`,
            validation_cname_value: `${label}.${zones.validationZone}`,
            routing_domain: null,
            created_at: instant,
            checks: 0,
            next_check_at: addMillis(instant, backOffMs(0)),
            held_until: null,
            failed_orders: 0,
            next_order_at: instant,
            version: 0
          }
          yield* store.insert(domain, limit)
          worker.wake()
          return domain
        }),

        get: Effect.fnUntraced(function* (id) {
          const { env_id } = yield* requirePermission("domain", "*", "read")
          return yield* store.get(env_id, yield* idOf(id))
        }),

        verify: Effect.fnUntraced(function* (id) {
          const { env_id } = yield* requirePermission("domain", "*", "update")
          const domain = yield* store.get(env_id, yield* idOf(id))
          return domain.status === "pending_validation"
            ? yield* checkNow(domain)
            : { domain, message: messageOf(domain, null) }
        }),

        remove: Effect.fnUntraced(function* (id) {
          const { env_id } = yield* requirePermission("domain", "*", "delete")
          const domainId = yield* idOf(id)
          yield* Effect.uninterruptible(
            Effect.gen(function* () {
              const domain = yield* store.beginRemoval(env_id, domainId, yield* currentTime)
              yield* routes.changed(domain.domain)
              worker.wake()
            })
          )
        })
      })
    })
  )
}

/** The check that a client asks for. It goes on when the client has waited long enough. */
const makeCheckNow = Effect.gen(function* () {
  const store = yield* DomainStore
  const { check } = yield* DomainChecks
  const worker = yield* DomainWorker
  const scope = yield* Effect.scope

  /** Somebody is at work on the record, so the next checks may come soon again. */
  const checked = (held: Domain) =>
    check({ ...held, checks: 0 }).pipe(
      Effect.ensuring(Effect.sync(worker.wake)),
      Effect.map(({ domain, obstacle }): Verification => ({ domain, message: messageOf(domain, obstacle) }))
    )

  return Effect.fnUntraced(function* (domain: Domain) {
    const now = yield* currentTime
    const claim = { now, until: addMillis(now, holdMs) }
    // Interrupted in between, nobody would let go of it.
    const fiber = yield* Effect.uninterruptible(
      Effect.flatMap(store.hold(domain.env_id, domain.domain_id, claim), (held) =>
        held === null ? Effect.succeed(null) : Effect.forkIn(checked(held), scope)
      )
    )
    const result = fiber === null ? null : yield* Effect.timeoutOption(Fiber.join(fiber), patienceMs)
    if (result?._tag === "Some") return result.value
    const current = yield* store.get(domain.env_id, domain.domain_id)
    return { domain: current, message: messageOf(current, null) }
  })
})

/** 128 bits: a label that nobody guesses. */
const labelBytes = 16

const isDomainId = Schema.is(DomainId)

const noSuchDomain = new NotFound({ resource: "domain" })

const idOf = (text: string): Effect.Effect<DomainId, NotFound> => {
  const id = toIdOrName(text)
  return isDomainId(id) ? Effect.succeed(id) : Effect.fail(noSuchDomain)
}

const badName = new BadRequest({
  reason: "domain must be a host name of at least two labels and at most 237 characters, without wildcard, port or path"
})
const ownName = new BadRequest({ reason: "domain must not be one of this service's own names" })
const planRequired = new PlanRequired({ reason: "Custom domains need the plan Pro or Scale" })
