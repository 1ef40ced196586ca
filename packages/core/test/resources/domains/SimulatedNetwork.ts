/** Simulated DNS, authority and routing that tests control, and domains on them. */
import type { DomainsConfig, Env } from "@weft/core"
import { Domains, KeyRotation } from "@weft/core"
import {
  Certificates,
  CertificateUnavailable,
  Dns,
  DnsUnavailable,
  type Domain,
  Routing,
  RoutingUnavailable,
  Timestamp
} from "@weft/core/adapter"
import { domainsLayer } from "@weft/core/internal"
import { Clock, Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { cryptography } from "../../Cryptography.ts"
import { as, services } from "../../Services.ts"

export const minute = 60_000
export const hour = 60 * minute
export const day = 24 * hour

/** Lets all fibers that are ready run, and real cryptography that they wait for. */
export const settle = Effect.gen(function* () {
  for (let turn = 0; turn < 10; turn++) {
    yield* TestClock.adjust(1)
    yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
    yield* cryptography
  }
})

/** Waits until a condition holds, also for real time, such as that of encryption. */
export const until = Effect.fnUntraced(function* <E, R>(isSo: Effect.Effect<boolean, E, R>) {
  for (let round = 0; round < 500; round++) {
    if (yield* isSo) return
    yield* settle
  }
  return yield* Effect.die(new Error("the condition never held"))
})

/** Advances the clock in steps, and lets due fibers run after each. */
export const after = Effect.fnUntraced(function* (millis: number, step = minute) {
  for (let left = millis; left > 0; left -= step) {
    yield* TestClock.adjust(Math.min(left, step))
    yield* settle
  }
})

/** The services of domains on stores in memory, with virtual time. */
export const servicesOn = (network: SimulatedNetwork) =>
  domainsLayer(network.config).pipe(Layer.provideMerge(KeyRotation.layer), Layer.provideMerge(services()))

/** Simulated DNS, authority and routing. Records all requests. */
export class SimulatedNetwork {
  readonly cnames = new Map<string, ReadonlyArray<string>>()
  readonly addresses = new Map<string, ReadonlyArray<string>>()
  readonly lookUps: Array<string> = []
  readonly issued: Array<string> = []
  readonly revoked: Array<string> = []
  readonly prepared: Array<string> = []
  readonly removed: Array<string> = []
  dnsAnswers = true
  routingAnswers = true
  authority: "external" | "issues" | "refuses" | "never answers" = "external"
  revokes = true
  lifeMs = 90 * day

  readonly dns = Layer.succeed(Dns, {
    resolveCname: (name) => this.lookUp(name, this.cnames),
    resolveAddresses: (name) => this.lookUp(name, this.addresses)
  })

  readonly certificates = Layer.succeed(Certificates, {
    issue: ({ domain, challengeName }) =>
      Effect.gen({ self: this }, function* () {
        this.issued.push(`${domain} ${challengeName}`)
        if (this.authority === "external") return null
        if (this.authority === "never answers") return yield* Effect.never
        if (this.authority === "refuses") {
          return yield* new CertificateUnavailable({ reason: "the authority refused", cause: "secret of ours" })
        }
        const number = this.issued.length
        const notAfter = Timestamp.make((yield* Clock.currentTimeMillis) + this.lifeMs)
        return { chain: `chain ${number} of ${domain}`, privateKey: Redacted.make(`key ${number}`), notAfter }
      }),
    revoke: ({ chain }) =>
      Effect.suspend(() => {
        this.revoked.push(chain)
        return this.revokes
          ? Effect.void
          : Effect.fail(new CertificateUnavailable({ reason: "the authority is unavailable", cause: "test" }))
      })
  })

  private lookUp(name: string, records: ReadonlyMap<string, ReadonlyArray<string>>) {
    return Effect.suspend(() => {
      this.lookUps.push(name)
      return this.dnsAnswers
        ? Effect.succeed(records.get(name) ?? [])
        : Effect.fail(new DnsUnavailable({ name, cause: "test" }))
    })
  }

  /** Wildcard routing that records its calls. */
  get routing() {
    const record = (list: Array<string>, name: string) =>
      Effect.suspend(() => {
        list.push(name)
        return this.routingAnswers ? Effect.void : Effect.fail(new RoutingUnavailable({ cause: "test" }))
      })
    return Layer.effect(
      Routing,
      Effect.map(Routing, (wildcard) => ({
        ...wildcard,
        prepare: ({ routingDomain }: { readonly routingDomain: string }) => record(this.prepared, routingDomain),
        remove: ({ routingDomain }: { readonly routingDomain: string }) => record(this.removed, routingDomain)
      }))
    ).pipe(Layer.provide(Routing.wildcard))
  }

  get config(): DomainsConfig {
    return {
      validationZone: "validation.weft.example",
      routingZone: "routing.weft.example",
      ownNames: ["weft.example"],
      dns: this.dns,
      certificates: this.certificates,
      routing: this.routing
    }
  }

  /** Adds the requested validation record, as the owner would. */
  prove(domain: Domain): void {
    this.cnames.set(domain.validation_cname_name, [domain.validation_cname_value])
  }

  /** Points the domain to its target, as the owner would. */
  route(domain: Domain): void {
    this.cnames.set(domain.domain, [domain.routing_domain ?? "nowhere"])
  }
}

export const add = (env: Env, domain: string) => as(env.env_id)(Domains.use((domains) => domains.add({ domain })))

export const get = ({ domain_id, env_id }: Domain) => as(env_id)(Domains.use((domains) => domains.get(domain_id)))

export const verify = ({ domain_id, env_id }: Domain) => as(env_id)(Domains.use((domains) => domains.verify(domain_id)))

export const remove = ({ domain_id, env_id }: Domain) => as(env_id)(Domains.use((domains) => domains.remove(domain_id)))

/** Returns a domain whose record was added and verified, after the background work. */
export const validated = Effect.fnUntraced(function* (network: SimulatedNetwork, env: Env, name: string) {
  const domain = yield* add(env, name)
  network.prove(domain)
  yield* verify(domain)
  yield* settle
  return yield* get(domain)
})
