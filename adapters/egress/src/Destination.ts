/** Destinations of connections, and their checks against the policy. */
import {
  checkAddresses,
  type Destination,
  type EgressFailed,
  type EgressRefused,
  type EgressRules,
  isAllowedName,
  parseIp
} from "@weft/core/adapter"
import { Effect } from "effect"
import type { Lookup } from "./Lookup.ts"

/** Parts that checks need. */
export interface Resolver {
  readonly rules: EgressRules
  readonly lookup: Lookup
}

export const destinationOf = (url: URL): Destination => {
  const scheme = url.protocol.slice(0, -1)
  const port = url.port === "" ? (scheme === "https" ? 443 : 80) : Number(url.port)
  return { scheme, host: url.hostname, port }
}

/**
 * Returns the error of a destination that is refused without a DNS lookup, else null. `refused` is the result for its name
 * and port.
 */
export const refuseUnresolved = (
  rules: EgressRules,
  destination: Omit<Destination, "scheme">,
  refused: EgressRefused | null
): EgressRefused | null => {
  if (refused !== null) return refused
  return parseIp(destination.host) === null ? null : checkAddresses(rules, destination, [destination.host])
}

/** Resolves the host once, and checks all its addresses. Its name and port must have been checked before. */
export const checkedAddresses = Effect.fnUntraced(function* (
  { rules, lookup }: Resolver,
  destination: Omit<Destination, "scheme">
): Effect.fn.Return<ReadonlyArray<string>, EgressRefused | EgressFailed> {
  const addresses = yield* lookup(destination.host, isAllowedName(rules, destination))
  const dangerous = checkAddresses(rules, destination, addresses)
  if (dangerous !== null) return yield* dangerous
  return addresses
})
