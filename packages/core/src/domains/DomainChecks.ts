/** One check of a custom domain: looks at the world and takes it a step further, or cleans up after it. */
import { Context, Effect, Layer } from "effect"
import type { Keyring } from "../encryption/Keyring.ts"
import type { StoreUnavailable } from "../errors/Errors.ts"
import { now as currentTime } from "../ids/Timestamp.ts"
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

/** What a check found. */
export interface Checked {
  /** As it stands now, by this check or because somebody else was faster. */
  readonly domain: Domain
  /** Why it is not validated, if it is not. */
  readonly obstacle: Obstacle | null
}

/** What is to be stored: the domain, and a new certificate if one was issued. */
interface Step extends Checked {
  readonly certificate: DomainCertificate | null
}

type Needs = DomainStore | DomainRoutes | DomainZones | Dns | Certificates | Routing | Keyring

export class DomainChecks extends Context.Service<
  DomainChecks,
  {
    /** Checks a domain that the caller holds, and gives it back. When interrupted, it is due again at once. */
    readonly check: (held: Domain) => Effect.Effect<Checked, StoreUnavailable>
  }
>()("@weft/core/domains/DomainChecks") {
  static readonly layer: Layer.Layer<DomainChecks, never, Needs> = Layer.effect(
    DomainChecks,
    Effect.gen(function* () {
      const store = yield* DomainStore
      const routes = yield* DomainRoutes
      const order = yield* makeOrder
      const validate = yield* makeValidate(order)
      const proceed = yield* makeProceed(order)
      const cleanUp = yield* makeCleanUp

      const save = Effect.fnUntraced(function* (held: Domain, { domain, certificate }: Step) {
        if (!(yield* store.settle(domain, certificate))) return false
        if (isRouted(held.status) !== isRouted(domain.status) || certificate !== null) {
          yield* routes.changed(domain.domain)
        }
        return true
      })

      const gone = (domain: Domain): Domain => ({ ...domain, status: "deleting" })

      const release = Effect.fnUntraced(function* (held: Domain) {
        yield* store.settle({ ...held, next_check_at: yield* currentTime, held_until: null }, null)
      })

      return DomainChecks.of({
        check: Effect.fnUntraced(function* (held) {
          const step = yield* steps(held).pipe(Effect.onInterrupt(() => Effect.ignore(release(held))))
          if (step === null) return { domain: gone(held), obstacle: null }
          if (yield* Effect.uninterruptible(save(held, step))) return step
          const domain = yield* Effect.catchTag(store.get(held.env_id, held.domain_id), "NotFound", () =>
            Effect.succeed(gone(held))
          )
          return { domain, obstacle: domain.status === "pending_validation" ? step.obstacle : null }
        })
      })

      function steps(held: Domain): Effect.Effect<Step | null, StoreUnavailable> {
        switch (held.status) {
          case "pending_validation":
            return validate(held)
          case "deleting":
            return cleanUp(held)
          default:
            return proceed(held)
        }
      }
    })
  )
}

/** From `pending_validation`: the record proves control of the name, then the certificate is had. */
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

/** From `validated` to `active`, and while it is: has the certificate renewed, and the traffic led here. */
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

/** From `deleting`: takes back what was made, then removes the record. Null when nothing is left of it. */
const makeCleanUp = Effect.gen(function* () {
  const store = yield* DomainStore
  const routing = yield* Routing
  const certificates = yield* Certificates

  const takeBack = Effect.fnUntraced(function* ({ domain, domain_id, routing_domain, checks }: Domain) {
    if (routing_domain !== null) yield* routing.remove({ domain, routingDomain: routing_domain })
    const certificate = yield* Effect.catchTag(store.certificate(domain_id), "NotFound", () => Effect.succeed(null))
    if (certificate !== null && checks < revocationsMax) yield* certificates.revoke(certificate)
  })

  return Effect.fnUntraced(function* (held: Domain) {
    const isClean = yield* takeBack(held).pipe(
      Effect.as(true),
      Effect.catchTag(["RoutingUnavailable", "CertificateUnavailable"], (error) =>
        Effect.as(Effect.logWarning(`${held.domain} could not be cleaned up`, error), false)
      )
    )
    if (!isClean) return { domain: waiting(held, yield* currentTime), certificate: null, obstacle: null }
    yield* store.remove(held)
    return null
  })
})
