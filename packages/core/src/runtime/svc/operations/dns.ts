/** DNS lookups of guests, on the host's `Egress`. Without one, lookups are refused. */
import { Effect, Option, Schema } from "effect"
import { Egress, noEgress } from "../../../platform/egress/Egress.ts"
import { ofRun, operation } from "../Operation.ts"

const guest = { handWritten: "`node:dns`, with the errors of Node" }

/** Maximum length of a host name, in characters: RFC 1035. */
const nameLengthMax = 253

/** Returns addresses of both families; none if the name has no address. Failures keep the names `EgressRefused` and `EgressFailed`. */
export const dnsLookup = operation({
  name: "dns.lookup",
  input: Schema.Struct({ host: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(nameLengthMax)) }),
  output: Schema.Array(Schema.String),
  permission: ofRun,
  span: "client",
  guest,
  needs: Effect.serviceOption(Egress),
  handler: (supplied) => {
    const egress = Option.getOrElse(supplied, () => noEgress)
    return (run, { host }) => egress.lookup(run.env_id, host)
  }
})
