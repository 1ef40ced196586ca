/** Destinations of connections, and their checks against the policy. */
import {
  checkAddresses,
  type Destination,
  EgressFailed,
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

/** Returns the host as a URL has it, so that all forms of an address are one; null for other text. */
export const canonicalHost = (host: string): string | null => {
  if (!/^[^\s/?#@\\[\]%]+$/.test(host.replace(/^\[(.*)\]$/, "$1"))) return null
  const bare = host.includes(":") && !host.startsWith("[") ? `[${host}]` : host
  const url = URL.parse(`http://${bare}/`)
  return url === null || url.port !== "" || url.hostname === "" ? null : url.hostname
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

/** Resolves the host once, and checks all its addresses, of which there may be none. Its name must have been checked before. */
export const allowedAddresses = Effect.fnUntraced(function* (
  { rules, lookup }: Resolver,
  destination: Omit<Destination, "scheme">
): Effect.fn.Return<ReadonlyArray<string>, EgressRefused | EgressFailed> {
  const addresses = yield* lookup(destination.host, isAllowedName(rules, destination))
  const dangerous = addresses.length === 0 ? null : checkAddresses(rules, destination, addresses)
  if (dangerous !== null) return yield* dangerous
  return addresses
})

/** Resolves the host as `allowedAddresses` does, and fails if it has no address. Its name and port must have been checked before. */
export const checkedAddresses = (
  resolver: Resolver,
  destination: Omit<Destination, "scheme">
): Effect.Effect<ReadonlyArray<string>, EgressRefused | EgressFailed> =>
  Effect.filterOrFail(
    allowedAddresses(resolver, destination),
    (addresses) => addresses.length > 0,
    () => new EgressFailed({ reason: `${destination.host} has no address` })
  )
