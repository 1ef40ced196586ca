/**
 * Whether a request may go where it wants to: judged by its URL before anything is looked up, and by every address
 * that its host turns out to have. Pure: whoever connects must connect to an address that was judged, and no other.
 */
import { carried, rangeOf, unmapped } from "./AddressRange.ts"
import { EgressRefused } from "./Egress.ts"
import { badPorts, type EgressRules } from "./EgressPolicy.ts"
import { type IpAddress, parseIp } from "./IpAddress.ts"
import { matchesAddress, matchesName, plainName } from "./Target.ts"

/** Where a URL leads, as a URL parser gives it. */
export interface Destination {
  /** `http` or `https`, if it may be anything. */
  readonly scheme: string
  /** In lower case; an IPv6 address in brackets. */
  readonly host: string
  readonly port: number
}

/** Null when the URL may be followed to its addresses, which are to be judged next: a literal one as well. */
export const judgeDestination = (rules: EgressRules, { scheme, host, port }: Destination): EgressRefused | null => {
  if (scheme !== "http" && scheme !== "https") return refused(`only http and https are allowed, not ${scheme}`)
  const name = plainName(host)
  if (name === "") return refused("the URL names no host")
  if (rules.deny.some((target) => matchesName(target, name, port))) return refused(`${name} is not allowed here`)
  const literal = parseIp(name)
  const opened = rules.allow.some(
    (target) =>
      target.port === port &&
      (matchesName(target, name, port) || (literal !== null && matchesAddress(target, unmapped(literal), port)))
  )
  const isOpen = opened || (rules.ports === null ? !badPorts.has(port) : rules.ports.includes(port))
  if (!isOpen) return refused(`port ${port} is not allowed here`)
  // Whatever a name server says of it: RFC 6761.
  if (/(^|\.)localhost$/.test(name) && !rules.ranges.includes("loopback") && !isAllowedName(rules, { host, port })) {
    return refused(`${name} has a loopback address, which is not allowed here`)
  }
  return null
}

/** Whether the policy names the host itself, so that it may be looked up as the host's own programs do. */
export const isAllowedName = (rules: EgressRules, { host, port }: Omit<Destination, "scheme">): boolean =>
  rules.allow.some((target) => matchesName(target, plainName(host), port))

/** Whether who is there may know which trace a request belongs to. */
export const isToldTrace = (rules: EgressRules, { host, port }: Omit<Destination, "scheme">): boolean => {
  const name = plainName(host)
  const literal = parseIp(name)
  return rules.traceparent.some(
    (target) => matchesName(target, name, port) || (literal !== null && matchesAddress(target, unmapped(literal), port))
  )
}

/** Null when all of the addresses may be connected to, and there are any. */
export const judgeAddresses = (
  rules: EgressRules,
  destination: Omit<Destination, "scheme">,
  addresses: ReadonlyArray<string>
): EgressRefused | null => {
  const name = plainName(destination.host)
  if (addresses.length === 0) return refused(`${name} has no address`)
  for (const text of addresses) {
    const address = parseIp(text)
    if (address === null) return refused(`${name} has an address that cannot be judged`)
    const fault = faultOf(rules, destination, address)
    if (fault !== null) return refused(`${name} ${parseIp(name) === null ? "has" : "is"} ${fault} here`)
  }
  return null
}

const faultOf = (rules: EgressRules, destination: Omit<Destination, "scheme">, address: IpAddress): string | null => {
  const { port } = destination
  const direct = unmapped(address)
  const led = [direct, ...carried(address)]
  if (rules.deny.some((target) => led.some((each) => matchesAddress(target, each, port)))) {
    return "an address that is not allowed"
  }
  if (rules.allow.some((target) => matchesAddress(target, direct, port))) return null
  const range = rangeOf(address)
  if (rules.ranges.includes(range)) return null
  if (range !== "metadata" && isAllowedName(rules, destination)) return null
  return `${/^[aeiou]/.test(range) ? "an" : "a"} ${range} address, which is not allowed`
}

const refused = (reason: string): EgressRefused => new EgressRefused({ reason })
