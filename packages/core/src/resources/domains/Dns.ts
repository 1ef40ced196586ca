/** DNS queries for custom domains. */
import { Context, Effect, Layer, Schema } from "effect"

/** The DNS did not answer, as opposed to an answer without records. `cause` is only for logs. */
export class DnsUnavailable extends Schema.TaggedError<DnsUnavailable>()("DnsUnavailable", {
  name: Schema.String,
  cause: Schema.Defect()
}) {
  override get message(): string {
    return `The DNS did not answer for ${this.name}`
  }
}

export class Dns extends Context.Service<
  Dns,
  {
    /** Returns the targets of the CNAME records at `name`, in the spelling of the server. Empty without a record. */
    readonly resolveCname: (name: string) => Effect.Effect<ReadonlyArray<string>, DnsUnavailable>
    /** Returns the IPv4 and IPv6 addresses of `name`, and follows CNAME records. Empty without a record. */
    readonly resolveAddresses: (name: string) => Effect.Effect<ReadonlyArray<string>, DnsUnavailable>
  }
>()("@weft/core/resources/domains/Dns") {
  /** Default without DNS: resolves no name, so that no domain is validated. */
  static readonly none: Layer.Layer<Dns> = Layer.sync(Dns, () => {
    const refuse = (name: string) => Effect.fail(new DnsUnavailable({ name, cause: "this host has no DNS" }))
    return Dns.of({ resolveCname: refuse, resolveAddresses: refuse })
  })
}

/** True if two DNS names are equal. Ignores case and a trailing dot, which servers may omit. */
export const sameName = (a: string, b: string): boolean => canonical(a) === canonical(b)

const canonical = (name: string): string => name.replace(/\.$/, "").toLowerCase()
