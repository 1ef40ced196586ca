/** The names of the world, as far as custom domains need to know. */
import { Context, Effect, Layer, Schema } from "effect"

/** No answer could be had: not the same as the answer that there is nothing. `cause` is for our logs. */
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
    /** What CNAME records at `name` point to, as the server wrote them; none when there is no such record or name. */
    readonly resolveCname: (name: string) => Effect.Effect<ReadonlyArray<string>, DnsUnavailable>
    /** The IPv4 and IPv6 addresses behind `name`, through CNAMEs; none when there is no such record or name. */
    readonly resolveAddresses: (name: string) => Effect.Effect<ReadonlyArray<string>, DnsUnavailable>
  }
>()("@weft/core/domains/Dns") {
  /** For hosts that supply none: no name is ever resolved, hence no domain validated. */
  static readonly none: Layer.Layer<Dns> = Layer.sync(Dns, () => {
    const refuse = (name: string) => Effect.fail(new DnsUnavailable({ name, cause: "this host has no DNS" }))
    return Dns.of({ resolveCname: refuse, resolveAddresses: refuse })
  })
}

/** Names as they are compared: DNS knows no case, and its servers differ in writing the dot at the end. */
export const sameName = (a: string, b: string): boolean => canonical(a) === canonical(b)

const canonical = (name: string): string => name.replace(/\.$/, "").toLowerCase()
