/** DNS zones and host names of the service. */
import { Context, Effect, Layer, Schema } from "effect"
import { type HostName, isWithin, parseHostName } from "./HostName.ts"

export interface ZonesConfig {
  /** Parent zone of the targets of validation records. An ACME client creates TXT records in it. */
  readonly validationZone: string
  /** Parent zone of routing domains, with a wildcard record that points to this service. Must not be `validationZone`. */
  readonly routingZone: string
  /** Host names of the service. Neither they nor their subdomains can be custom domains. */
  readonly ownNames?: ReadonlyArray<string>
}

/** Zones for development: names below `localhost` do not resolve elsewhere. */
export const localZones: ZonesConfig = {
  validationZone: "validation.weft.localhost",
  routingZone: "routing.weft.localhost"
}

/** Fails the start: a configured zone or name is not a host name, or the zones are the same. */
export class ZonesInvalid extends Schema.TaggedError<ZonesInvalid>()("ZonesInvalid", { reason: Schema.String }) {
  override get message(): string {
    return `Custom domains: ${this.reason}`
  }
}

export class DomainZones extends Context.Service<
  DomainZones,
  {
    readonly validationZone: HostName
    readonly routingZone: HostName
    /** True if the name is a zone or host name of the service, or a subdomain of one. */
    readonly isOwn: (name: HostName) => boolean
  }
>()("@weft/core/resources/domains/DomainZones") {
  static readonly layer = (config: ZonesConfig): Layer.Layer<DomainZones, ZonesInvalid> =>
    Layer.effect(
      DomainZones,
      Effect.gen(function* () {
        const validationZone = yield* zone("validationZone", config.validationZone)
        const routingZone = yield* zone("routingZone", config.routingZone)
        // In a common zone, the TXT record of a name would hide the wildcard record for that name.
        if (validationZone === routingZone) {
          return yield* new ZonesInvalid({ reason: "validationZone and routingZone must not be the same" })
        }
        const own = yield* Effect.forEach(config.ownNames ?? [], (name) => zone("ownNames", name))
        const all = [validationZone, routingZone, ...own]
        return DomainZones.of({
          validationZone,
          routingZone,
          isOwn: (name) => all.some((parent) => isWithin(name, parent))
        })
      })
    )
}

const zone = (field: string, text: string): Effect.Effect<HostName, ZonesInvalid> => {
  const name = parseHostName(text)
  return name === null
    ? Effect.fail(new ZonesInvalid({ reason: `${field} must be a host name` }))
    : Effect.succeed(name)
}
