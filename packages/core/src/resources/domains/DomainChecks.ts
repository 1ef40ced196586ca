/** Checks a custom domain against DNS and authorities, and advances its status or releases its resources. */
import { Context, Effect, Layer } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import { now as currentTime } from "../../foundation/time/Timestamp.ts"
import type { Keyring } from "../../platform/encryption/Keyring.ts"
import { makeOrder, type Order } from "./CertificateOrders.ts"
import { Certificates } from "./Certificates.ts"
import { Dns, sameName } from "./Dns.ts"
import { type Domain, isRouted } from "./Domain.ts"
import type { DomainCertificate } from "./DomainCertificate.ts"
import { advanced, type Obstacle, restingActive, revocationsMax, waiting } from "./DomainProgress.ts"
import { DomainRoutes } from "./DomainRoutes.ts"
import { DomainStore } from "./DomainStore.ts"
import { DomainZones } from "./DomainZones.ts"
import { Routing } from "./Routing.ts"

/** Result of a check. */
export interface Checked {
  /** The domain after this check, or after a concurrent one. */
  readonly domain: Domain
  /** Reason why the domain is not validated, or null. */
  readonly obstacle: Obstacle | null
}

/** Changes to store: the domain, and a new certificate or null. */
interface Step extends Checked {
  readonly certificate: DomainCertificate | null
}

type Needs = DomainStore | DomainRoutes | DomainZones | Dns | Certificates | Routing | Keyring

export class DomainChecks extends Context.Service<
  DomainChecks,
  {
    /** Checks a domain that the caller has claimed, and releases the claim. After an interruption, it is due at once. */
    readonly check: (held: Domain) => Effect.Effect<Checked, StoreUnavailable>
  }
>()("@weft/core/resources/domains/DomainChecks") {
  static readonly layer: Layer.Layer<DomainChecks, never, Needs> = Layer.effect(
    DomainChecks,
    Effect.gen(function* () {
      const store = yield* DomainStore
      const routes = yield* DomainRoutes
      const order = yield* makeOrder
      const validate = yield* makeValidate(order)
      const proceed = yield* makeProceed(order)
      const dispose = yield* makeDispose

      const save = Effect.fnUntraced(function* (held: Domain, { domain, certificate }: Step) {
        if (!(yield* store.settle(domain, certificate))) return false
        if (isRouted(held.status) !== isRouted(domain.status) || certificate !== null) {
          yield* routes.changed(domain.domain)
        }
        return true
      })

      const asDeleting = (domain: Domain): Domain => ({ ...domain, status: "deleting" })

      const release = Effect.fnUntraced(function* (held: Domain) {
        yield* store.settle({ ...held, next_check_at: yield* currentTime, held_until: null }, null)
      })

      return DomainChecks.of({
        check: Effect.fnUntraced(function* (held) {
          const step = yield* steps(held).pipe(Effect.onInterrupt(() => Effect.ignore(release(held))))
          if (step === null) return { domain: asDeleting(held), obstacle: null }
          if (yield* Effect.uninterruptible(save(held, step))) return step
          const domain = yield* Effect.catchTag(store.get(held.env_id, held.domain_id), "NotFound", () =>
            Effect.succeed(asDeleting(held))
          )
          return { domain, obstacle: domain.status === "pending_validation" ? step.obstacle : null }
        })
      })

      function steps(held: Domain): Effect.Effect<Step | null, StoreUnavailable> {
        switch (held.status) {
          case "pending_validation":
            return validate(held)
          case "deleting":
            return dispose(held)
          default:
            return proceed(held)
        }
      }
    })
  )
}

/** Handles `pending_validation`: checks the record that proves control of the name, then orders the certificate. */
const makeValidate = Effect.fnUntraced(function* (order: Order) {
  const dns = yield* Dns
  const zones = yield* DomainZones

  const findRecord = Effect.fnUntraced(
    function* (domain: Domain) {
      const names = yield* dns.resolveCname(domain.validation_cname_name)
      if (names.some((name) => sameName(name, domain.validation_cname_value))) return null
      return { _tag: names.length === 0 ? "NoRecord" : "OtherRecord" } as const
    },
    Effect.catchTag("DnsUnavailable", (error) =>
      Effect.as(Effect.logWarning(error.message, error), { _tag: "NoDns" } as const)
    )
  )

  return Effect.fnUntraced(function* (held: Domain) {
    const missing = yield* findRecord(held)
    if (missing !== null) return { domain: waiting(held, yield* currentTime), certificate: null, obstacle: missing }
    const { domain, certificate, refusal } = yield* order(held)
    const now = yield* currentTime
    if (refusal !== null) {
      const obstacle: Obstacle = { _tag: "NoCertificate", reason: refusal }
      return { domain: waiting(domain, now), certificate: null, obstacle }
    }
    const [label] = domain.validation_cname_value.split(".")
    const routing_domain = `${label}.${zones.routingZone}`
    return { domain: { ...advanced(domain, "validated", now), routing_domain }, certificate, obstacle: null }
  })
})

/** Handles `validated`, `provisioning` and `active`: renews the certificate, and prepares and checks the routing. */
const makeProceed = Effect.fnUntraced(function* (order: Order) {
  const store = yield* DomainStore
  const routing = yield* Routing

  const renew = Effect.fnUntraced(function* (held: Domain) {
    const stored = yield* Effect.catchTag(store.certificate(held.domain_id), "NotFound", () => Effect.succeed(null))
    if (stored !== null && (yield* currentTime) < stored.renew_at) {
      return { domain: held, certificate: null, current: stored }
    }
    const { domain, certificate } = yield* order(held)
    return { domain, certificate, current: certificate ?? stored }
  })

  const reach = Effect.fnUntraced(
    function* (domain: Domain) {
      const target = { domain: domain.domain, routingDomain: domain.routing_domain ?? "" }
      if (domain.status === "active") return domain.status
      if (domain.status === "provisioning") return (yield* routing.reaches(target)) ? "active" : domain.status
      yield* routing.prepare(target)
      return "provisioning"
    },
    Effect.catchTag(["DnsUnavailable", "RoutingUnavailable"], (error) =>
      Effect.as(Effect.logWarning(error.message, error), null)
    )
  )

  return Effect.fnUntraced(function* (held: Domain) {
    const { domain, certificate, current } = yield* renew(held)
    const status = (yield* reach(domain)) ?? domain.status
    const now = yield* currentTime
    if (status === "active") return { domain: restingActive(domain, current, now), certificate, obstacle: null }
    const next = status === domain.status ? waiting(domain, now) : advanced(domain, status, now)
    return { domain: next, certificate, obstacle: null }
  })
})

/** Handles `deleting`: releases the resources, then removes the record. Returns null if the record was removed. */
const makeDispose = Effect.gen(function* () {
  const store = yield* DomainStore
  const routing = yield* Routing
  const certificates = yield* Certificates

  const releaseResources = Effect.fnUntraced(function* ({ domain, domain_id, routing_domain, checks }: Domain) {
    if (routing_domain !== null) yield* routing.remove({ domain, routingDomain: routing_domain })
    const certificate = yield* Effect.catchTag(store.certificate(domain_id), "NotFound", () => Effect.succeed(null))
    if (certificate !== null && checks < revocationsMax) yield* certificates.revoke(certificate)
  })

  return Effect.fnUntraced(function* (held: Domain) {
    const isReleased = yield* releaseResources(held).pipe(
      Effect.as(true),
      Effect.catchTag(["RoutingUnavailable", "CertificateUnavailable"], (error) =>
        Effect.as(Effect.logWarning(`the resources of ${held.domain} could not be released`, error), false)
      )
    )
    if (!isReleased) return { domain: waiting(held, yield* currentTime), certificate: null, obstacle: null }
    yield* store.remove(held)
    return null
  })
})
