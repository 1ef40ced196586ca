/** Settings of custom domains. */
import { isIP } from "node:net"
import { localZones } from "@weft/core"
import { parseHostName } from "@weft/core/adapter"

export interface DomainSettings {
  readonly validationZone: string
  readonly routingZone: string
  /** Host names of the server. */
  readonly ownNames: ReadonlyArray<string>
  /** DNS servers, or null for those of the operating system. */
  readonly dnsServers: ReadonlyArray<string> | null
}

/**
 * Reads the settings. The default zone is `domains.` before the public host name. Without a public name the zone is local:
 * it is for trials, and public DNS does not resolve it.
 */
export const domainSettings = (
  text: (name: string) => string | null,
  publicUrl: string | null,
  refuse: (name: string, reason: string) => never
): DomainSettings => {
  const ownName = publicUrl === null ? null : parseHostName(new URL(publicUrl).hostname)
  const sent = text("WEFT_DOMAINS_ZONE")
  const zone = sent === null ? null : (parseHostName(sent) ?? refuse("WEFT_DOMAINS_ZONE", "must be a host name"))
  const parent = zone ?? (ownName === null ? null : `domains.${ownName}`)
  return {
    ...(parent === null ? localZones : { validationZone: `validation.${parent}`, routingZone: `routing.${parent}` }),
    ownNames: ownName === null ? [] : [ownName],
    dnsServers: dnsServers(text("WEFT_DOMAINS_DNS"), refuse)
  }
}

/** True for an IP address with an optional port. IPv6 needs brackets before a port. */
const isServer = (text: string): boolean => {
  const [, bracketed, plain, port = "53"] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(text) ?? []
  return isIP(text) === 6 || (isIP(bracketed ?? plain ?? "") > 0 && Number(port) <= 65_535)
}

const dnsServers = (
  value: string | null,
  refuse: (name: string, reason: string) => never
): ReadonlyArray<string> | null => {
  if (value === null) return null
  const servers = value.split(",").map((one) => one.trim())
  return servers.every(isServer)
    ? servers
    : refuse("WEFT_DOMAINS_DNS", "must be a comma-separated list of IP addresses, each with an optional port")
}
