/** The settings of custom domains. */
import { isIP } from "node:net"
import { localZones, parseHostName } from "@weft/core"

export interface DomainSettings {
  readonly validationZone: string
  readonly routingZone: string
  /** The names of this server itself. */
  readonly ownNames: ReadonlyArray<string>
  /** DNS servers, or null for those of the system. */
  readonly dnsServers: ReadonlyArray<string> | null
}

/**
 * The zone is, if nobody says otherwise, `domains.` before the public host name. A server that has none can be tried
 * out, but nobody else's DNS leads to it.
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

/** An address, or an address and a port; IPv6 in brackets where there is a port. */
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
    : refuse("WEFT_DOMAINS_DNS", "must be IP addresses with commas between, each with a port or without")
}
