/** Custom domains of the caller's environment. Methods check the permission first, then the input, then use the store. */
import { Context, Effect, Fiber, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { Hex } from "effect/encoding"
import {
  BadRequest,
  type DomainExists,
  type DomainLimitReached,
  type Forbidden,
  NotFound,
  PlanRequired,
  type StoreUnavailable
} from "../../foundation/Errors.ts"
import { toIdOrName } from "../../foundation/IdOrName.ts"
import { DomainId, freshIds } from "../../foundation/Ids.ts"
import { allItems, type Page, type PageRequest } from "../../foundation/Page.ts"
import { addMillis, now as currentTime } from "../../foundation/time/Timestamp.ts"
import { type Caller, requirePermission } from "../../tenants/access/Caller.ts"
import { Plans } from "../../tenants/orgs/Plans.ts"
import type { Domain } from "./Domain.ts"
import { DomainChecks } from "./DomainChecks.ts"
import { backOffMs, holdMs, toMessage } from "./DomainProgress.ts"
import { DomainRoutes } from "./DomainRoutes.ts"
import { DomainStore } from "./DomainStore.ts"
import { DomainWorker } from "./DomainWorker.ts"
import { DomainZones } from "./DomainZones.ts"
import { parseHostName, validationPrefix } from "./HostName.ts"

/** A domain with a message about its status and the next step of its owner. */
export interface Verification {
  readonly domain: Domain
  readonly message: string
}

/** Maximum time that `verify` waits for its check, in milliseconds. After that the check continues in the background. */
const verifyTimeoutMs = 15_000

type Denied = Forbidden | StoreUnavailable
type Needs = DomainStore | DomainRoutes | DomainChecks | DomainWorker | DomainZones | Plans | SecureRandom.SecureRandom

export class Domains extends Context.Service<
  Domains,
  {
    /** Lists domains, including those that are being deleted, newest first. */
    readonly list: (page: PageRequest) => Effect.Effect<Page<Domain>, Denied, Caller>
    /** Returns all domains, in the order of `list`. */
    readonly all: Effect.Effect<ReadonlyArray<Domain>, Denied, Caller>
    /**
     * Registers a host name of at least two labels, in any script. Checks for errors in this order: `BadRequest` for an
     * invalid name or a name of the service, `PlanRequired`, `DomainLimitReached`, `DomainExists`.
     */
    readonly add: (input: {
      readonly domain: string
    }) => Effect.Effect<Domain, Denied | BadRequest | PlanRequired | DomainLimitReached | DomainExists, Caller>
    readonly get: (id: string) => Effect.Effect<Domain, Denied | NotFound, Caller>
    /**
     * Checks a domain that is not yet validated, and waits at most 15 s for the result. Does not change a validated domain.
     * Needs `domain: update`.
     */
    readonly verify: (id: string) => Effect.Effect<Verification, Denied | NotFound, Caller>
    /**
     * Stops routing a domain at once, and removes its certificate and record in the background. `NotFound` also if the
     * domain is already being deleted.
     */
    readonly remove: (id: string) => Effect.Effect<void, Denied | NotFound, Caller>
  }
>()("@weft/core/resources/domains/Domains") {
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

      const checkName = Effect.fnUntraced(function* (text: string) {
        const name = parseHostName(text)
        if (name === null) return yield* badName
        return zones.isOwn(name) ? yield* ownName : name
      })

      const readLimit = Effect.fnUntraced(function* (envId: Domain["env_id"]) {
        // The environment of a credential always exists, unless the database was changed manually.
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
          const name = yield* checkName(input.domain)
          const { org_id, limit } = yield* readLimit(env_id)
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
          return yield* store.get(env_id, yield* parseId(id))
        }),

        verify: Effect.fnUntraced(function* (id) {
          const { env_id } = yield* requirePermission("domain", "*", "update")
          const domain = yield* store.get(env_id, yield* parseId(id))
          return domain.status === "pending_validation"
            ? yield* checkNow(domain)
            : { domain, message: toMessage(domain, null) }
        }),

        remove: Effect.fnUntraced(function* (id) {
          const { env_id } = yield* requirePermission("domain", "*", "delete")
          const domainId = yield* parseId(id)
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

/** Runs the check of `verify`, which continues after the client's timeout. */
const makeCheckNow = Effect.gen(function* () {
  const store = yield* DomainStore
  const { check } = yield* DomainChecks
  const worker = yield* DomainWorker
  const scope = yield* Effect.scope

  /** Resets the back-off, because the owner is probably changing the record. */
  const checkAgain = (held: Domain) =>
    check({ ...held, checks: 0 }).pipe(
      Effect.ensuring(Effect.sync(worker.wake)),
      Effect.map(({ domain, obstacle }): Verification => ({ domain, message: toMessage(domain, obstacle) }))
    )

  return Effect.fnUntraced(function* (domain: Domain) {
    const now = yield* currentTime
    const claim = { now, until: addMillis(now, holdMs) }
    // Uninterruptible, so that every claim is released.
    const fiber = yield* Effect.uninterruptible(
      Effect.flatMap(store.hold(domain.env_id, domain.domain_id, claim), (held) =>
        held === null ? Effect.succeed(null) : Effect.forkIn(checkAgain(held), scope)
      )
    )
    const result = fiber === null ? null : yield* Effect.timeoutOption(Fiber.join(fiber), verifyTimeoutMs)
    if (result?._tag === "Some") return result.value
    const current = yield* store.get(domain.env_id, domain.domain_id)
    return { domain: current, message: toMessage(current, null) }
  })
})

/** Bytes of a random label, 128 bits, which cannot be guessed. */
const labelBytes = 16

const isDomainId = Schema.is(DomainId)

const noSuchDomain = new NotFound({ resource: "domain" })

const parseId = (text: string): Effect.Effect<DomainId, NotFound> => {
  const id = toIdOrName(text)
  return isDomainId(id) ? Effect.succeed(id) : Effect.fail(noSuchDomain)
}

const badName = new BadRequest({
  reason: "domain must be a host name of at least two labels and at most 237 characters, without wildcard, port or path"
})
const ownName = new BadRequest({ reason: "domain must not be one of this service's own names" })
const planRequired = new PlanRequired({ reason: "Custom domains need the plan Pro or Scale" })
