/** The names in the DNS that are this service's own. */
import { Context, Effect, Layer, Schema } from "effect"
import { type HostName, isWithin, parseHostName } from "./HostName.ts"

export interface ZonesConfig {
  /** Below it are the values of validation records. Where certificates come by ACME, TXT records are put there. */
  readonly validationZone: string
  /** Below it are routing domains; a wildcard record there leads to this service. Another than `validationZone`. */
  readonly routingZone: string
  /** Host names of the service itself: neither they nor what lies below them can be a custom domain. */
  readonly ownNames?: ReadonlyArray<string>
}

/** For trying out: names below `localhost` mean nothing to anybody else. */
export const localZones: ZonesConfig = {
  validationZone: "validation.weft.localhost",
  routingZone: "routing.weft.localhost"
}

/** A zone or a name is no host name, or the two zones are one. For the person who configured it, at start. */
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
    /** Whether the name is one of the service's own, or below one. */
    readonly isOwn: (name: HostName) => boolean
  }
>()("@weft/core/domains/DomainZones") {
  static readonly layer = (config: ZonesConfig): Layer.Layer<DomainZones, ZonesInvalid> =>
    Layer.effect(
      DomainZones,
      Effect.gen(function* () {
        const validationZone = yield* zone("validationZone", config.validationZone)
        const routingZone = yield* zone("routingZone", config.routingZone)
        // A TXT record at a name takes it out of the wildcard that leads requests here.
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
