/** A world of names and certificates that tests change as they like, and domains in it. */
import {
  Certificates,
  CertificateUnavailable,
  Dns,
  DnsUnavailable,
  type Domain,
  Domains,
  type DomainsConfig,
  domainsLayer,
  type Env,
  Resealing,
  Routing,
  RoutingUnavailable,
  Timestamp
} from "@weft/core"
import { Clock, Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { as, services } from "../Services.ts"

export const minute = 60_000
export const hour = 60 * minute
export const day = 24 * hour

/** Lets everything that is ready happen. */
export const settle = Effect.gen(function* () {
  for (let turn = 0; turn < 10; turn++) {
    yield* TestClock.adjust(1)
    yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
  }
})

/** Waits for what takes real time, too, such as sealing: until it is so. */
export const until = Effect.fnUntraced(function* <E, R>(isSo: Effect.Effect<boolean, E, R>) {
  for (let round = 0; round < 500; round++) {
    if (yield* isSo) return
    yield* settle
  }
  return yield* Effect.die(new Error("it never was so"))
})

/** Time goes by, in steps that let everything happen when it is due. */
export const after = Effect.fnUntraced(function* (millis: number, step = minute) {
  for (let left = millis; left > 0; left -= step) {
    yield* TestClock.adjust(Math.min(left, step))
    yield* settle
  }
})

/** The services of domains on stores in memory, with virtual time and nothing else going on. */
export const scene = (place: Place) =>
  domainsLayer(place.config).pipe(Layer.provideMerge(Resealing.layer), Layer.provideMerge(services()))

/** What the world says, and what was asked of it. */
export class Place {
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
          : Effect.fail(new CertificateUnavailable({ reason: "the authority is away", cause: "test" }))
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

  /** The usual routing by wildcard, that notes what is asked of it. */
  get routing() {
    const noted = (list: Array<string>, name: string) =>
      Effect.suspend(() => {
        list.push(name)
        return this.routingAnswers ? Effect.void : Effect.fail(new RoutingUnavailable({ cause: "test" }))
      })
    return Layer.effect(
      Routing,
      Effect.map(Routing, (wildcard) => ({
        ...wildcard,
        prepare: ({ routingDomain }: { readonly routingDomain: string }) => noted(this.prepared, routingDomain),
        remove: ({ routingDomain }: { readonly routingDomain: string }) => noted(this.removed, routingDomain)
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

  /** The owner adds the record that was asked for. */
  prove(domain: Domain): void {
    this.cnames.set(domain.validation_cname_name, [domain.validation_cname_value])
  }

  /** The owner points the domain to its target. */
  lead(domain: Domain): void {
    this.cnames.set(domain.domain, [domain.routing_domain ?? "nowhere"])
  }
}

export const add = (env: Env, domain: string) => as(env.env_id)(Domains.use((domains) => domains.add({ domain })))

export const get = ({ domain_id, env_id }: Domain) => as(env_id)(Domains.use((domains) => domains.get(domain_id)))

export const verify = ({ domain_id, env_id }: Domain) => as(env_id)(Domains.use((domains) => domains.verify(domain_id)))

export const remove = ({ domain_id, env_id }: Domain) => as(env_id)(Domains.use((domains) => domains.remove(domain_id)))

/** A domain that its owner proved and that was verified; what follows happened in the background. */
export const validated = Effect.fnUntraced(function* (place: Place, env: Env, name: string) {
  const domain = yield* add(env, name)
  place.prove(domain)
  yield* verify(domain)
  yield* settle
  return yield* get(domain)
})
