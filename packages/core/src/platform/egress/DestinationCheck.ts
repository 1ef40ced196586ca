/**
 * Checks of the destination of a request: its URL before the DNS lookup, then every address that its host resolves to.
 * Pure functions. The client must connect to a checked address and to no other.
 */
import { stackless } from "../../foundation/Stackless.ts"
import { classifyAddress, embeddedIpv4, unmapIpv4 } from "./AddressRange.ts"
import { EgressRefused } from "./Egress.ts"
import { badPorts, closedTcpPorts, type EgressRules } from "./EgressPolicy.ts"
import { type IpAddress, parseIp } from "./IpAddress.ts"
import { matchesAddress, matchesName, plainName } from "./Target.ts"

/** Destination of a URL, as a URL parser returns it. */
export interface Destination {
  /** Only `http` and `https` can be allowed. */
  readonly scheme: string
  /** In lower case; an IPv6 address in brackets. */
  readonly host: string
  readonly port: number
}

/** Returns null if the URL is allowed. The addresses of its host must be checked next, even a literal one. */
export const checkDestination = (rules: EgressRules, { scheme, ...place }: Destination): EgressRefused | null =>
  scheme === "http" || scheme === "https"
    ? checkPlace(rules, place, badPorts)
    : refused(`only http and https are allowed, not ${scheme}`)

/** Returns null if a TCP socket to the host and port is allowed. As in `checkDestination`, addresses are checked next. */
export const checkSocketDestination = (
  rules: EgressRules,
  destination: Omit<Destination, "scheme">
): EgressRefused | null => checkPlace(rules, destination, closedTcpPorts)

/**
 * Returns the rules of a lookup, which has no port. An entry of `allow` applies whatever its port is; an entry of `deny`
 * applies only if it has none.
 */
export const lookupRules = (rules: EgressRules): EgressRules => ({
  ...rules,
  allow: rules.allow.map(({ what }) => ({ what, port: null })),
  deny: rules.deny.filter(({ port }) => port === null),
  ports: null
})

/** Returns null if the name may be resolved. `rules` come from `lookupRules`. As in `checkDestination`, addresses are checked next. */
export const checkLookup = (rules: EgressRules, destination: Omit<Destination, "scheme">): EgressRefused | null =>
  checkPlace(rules, destination, noPorts)

const noPorts: ReadonlySet<number> = new Set()

const checkPlace = (
  rules: EgressRules,
  { host, port }: Omit<Destination, "scheme">,
  closedPorts: ReadonlySet<number>
): EgressRefused | null => {
  const name = plainName(host)
  if (name === "") return refused("the URL names no host")
  if (rules.deny.some((target) => matchesName(target, name, port))) return refused(`${name} is not allowed here`)
  const literal = parseIp(name)
  const opened = rules.allow.some(
    (target) =>
      target.port === port &&
      (matchesName(target, name, port) || (literal !== null && matchesAddress(target, unmapIpv4(literal), port)))
  )
  const isOpen = opened || (rules.ports === null ? !closedPorts.has(port) : rules.ports.includes(port))
  if (!isOpen) return refused(`port ${port} is not allowed here`)
  // Regardless of DNS: RFC 6761.
  if (/(^|\.)localhost$/.test(name) && !rules.ranges.includes("loopback") && !isAllowedName(rules, { host, port })) {
    return refused(`${name} has a loopback address, which is not allowed here`)
  }
  return null
}

/** True if the policy allows the host by name, so that it may be resolved like the embedding program's own names. */
export const isAllowedName = (rules: EgressRules, { host, port }: Omit<Destination, "scheme">): boolean =>
  rules.allow.some((target) => matchesName(target, plainName(host), port))

/** True if requests to this destination carry `traceparent`. */
export const sendsTraceparent = (rules: EgressRules, { host, port }: Omit<Destination, "scheme">): boolean => {
  const name = plainName(host)
  const literal = parseIp(name)
  return rules.traceparent.some(
    (target) =>
      matchesName(target, name, port) || (literal !== null && matchesAddress(target, unmapIpv4(literal), port))
  )
}

/** Returns null if there are addresses and all of them are allowed. */
export const checkAddresses = (
  rules: EgressRules,
  destination: Omit<Destination, "scheme">,
  addresses: ReadonlyArray<string>
): EgressRefused | null => {
  const name = plainName(destination.host)
  if (addresses.length === 0) return refused(`${name} has no address`)
  for (const text of addresses) {
    const address = parseIp(text)
    if (address === null) return refused(`${name} has an address that cannot be parsed`)
    const fault = findFault(rules, destination, address)
    if (fault !== null) return refused(`${name} ${parseIp(name) === null ? "has" : "is"} ${fault} here`)
  }
  return null
}

const findFault = (rules: EgressRules, destination: Omit<Destination, "scheme">, address: IpAddress): string | null => {
  const { port } = destination
  const direct = unmapIpv4(address)
  const reached = [direct, ...embeddedIpv4(address)]
  if (rules.deny.some((target) => reached.some((each) => matchesAddress(target, each, port)))) {
    return "an address that is not allowed"
  }
  if (rules.allow.some((target) => matchesAddress(target, direct, port))) return null
  const range = classifyAddress(address)
  if (rules.ranges.includes(range)) return null
  if (range !== "metadata" && isAllowedName(rules, destination)) return null
  return `${/^[aeiou]/.test(range) ? "an" : "a"} ${range} address, which is not allowed`
}

const refused = (reason: string): EgressRefused => stackless(() => new EgressRefused({ reason }))
