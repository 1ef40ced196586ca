/** Lookups of names for guests, within the policy. */
import type { EnvId } from "@weft/core"
import { checkLookup, type Egress, EgressFailed, EgressRefused, lookupRules } from "@weft/core/adapter"
import { Effect, type Scope } from "effect"
import { allowedAddresses, canonicalHost, type Resolver, refuseUnresolved } from "./Destination.ts"

/** Maximum addresses of a result. A message of DNS can hold thousands. */
const addressesMax = 32

/** A lookup has no port; the rules of lookups ignore ports. */
const port = 0

/**
 * Creates the function that resolves names. `slot` succeeds when the number of requests in flight allows another one,
 * until its scope closes; the policy's time limit includes that wait.
 */
export const makeNames = (
  { rules: given, lookup }: Resolver,
  slot: (envId: EnvId) => Effect.Effect<void, never, Scope.Scope>
): Egress["Service"]["lookup"] => {
  const rules = lookupRules(given)
  const late = Effect.fail(new EgressFailed({ reason: `the lookup took longer than ${rules.totalMs} ms` }))

  return Effect.fnUntraced(function* (envId, host) {
    const name = canonicalHost(host)
    if (name === null) return yield* new EgressRefused({ reason: "the host is not a name or an address" })
    const destination = { host: name, port }
    const refused = refuseUnresolved(rules, destination, checkLookup(rules, destination))
    if (refused !== null) return yield* refused
    const resolved = Effect.andThen(slot(envId), allowedAddresses({ rules, lookup }, destination))
    const addresses = yield* Effect.timeoutOrElse(Effect.scoped(resolved), {
      duration: rules.totalMs,
      orElse: () => late
    })
    return addresses.slice(0, addressesMax)
  })
}
