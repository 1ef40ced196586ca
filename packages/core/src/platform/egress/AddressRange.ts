/**
 * Classes of IP addresses, from the IANA special-purpose registries (RFC 6890 and its successors).
 *
 * An IPv6 address may embed an IPv4 address. A gateway or the kernel then routes it to the IPv4 address, so both are
 * checked. An address is public only if a registry calls it global.
 */
import { type IpAddress, type IpBlock, ipv4, isWithin, parseBlock } from "./IpAddress.ts"

export type AddressRange =
  | "public"
  | "unspecified"
  | "loopback"
  | "private"
  | "link-local"
  | "shared"
  | "metadata"
  | "multicast"
  | "broadcast"
  | "benchmarking"
  | "documentation"
  | "transition"
  | "reserved"

const block = (text: string): IpBlock => {
  const parsed = parseBlock(text)
  if (parsed === null) throw new Error(`${text} is not a block of addresses`)
  return parsed
}

const rows = (range: AddressRange, ...blocks: ReadonlyArray<string>): ReadonlyArray<readonly [IpBlock, AddressRange]> =>
  blocks.map((text) => [block(text), range])

/** The first match applies. */
const ranges4: ReadonlyArray<readonly [IpBlock, AddressRange]> = [
  // Metadata services of clouds: EC2 and most others, ECS, EKS, Alibaba, Oracle, Azure.
  ...rows("metadata", "169.254.169.254", "169.254.170.2", "169.254.170.23", "100.100.100.200", "192.0.0.192"),
  ...rows("metadata", "168.63.129.16"),
  ...rows("unspecified", "0.0.0.0/8"),
  ...rows("loopback", "127.0.0.0/8"),
  ...rows("private", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"),
  ...rows("link-local", "169.254.0.0/16"),
  ...rows("shared", "100.64.0.0/10"),
  ...rows("benchmarking", "198.18.0.0/15"),
  ...rows("documentation", "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24"),
  ...rows("broadcast", "255.255.255.255"),
  ...rows("multicast", "224.0.0.0/4"),
  // Protocol assignments, the former 6to4 relays, and unassigned addresses.
  ...rows("reserved", "192.0.0.0/24", "192.88.99.0/24", "240.0.0.0/4")
]

const ranges6: ReadonlyArray<readonly [IpBlock, AddressRange]> = [
  ...rows("metadata", "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254"),
  ...rows("unspecified", "::"),
  ...rows("loopback", "::1"),
  ...rows("private", "fc00::/7", "fec0::/10"),
  ...rows("link-local", "fe80::/10"),
  ...rows("multicast", "ff00::/8"),
  // The NAT64 prefix for local use: only its network knows the position of the IPv4 address.
  ...rows("private", "64:ff9b:1::/48"),
  ...rows("benchmarking", "2001:2::/48"),
  ...rows("documentation", "2001:db8::/32", "3fff::/20"),
  // IPv4-compatible, Teredo and 6to4: deprecated, and able to bypass filters that do not decode them.
  ...rows("transition", "::/96", "2001::/32", "2002::/16"),
  // Protocol assignments: ORCHID, AMT, AS112, PCP and similar.
  ...rows("reserved", "2001::/23"),
  ...rows("public", "2000::/3")
]

const mapped = block("::ffff:0:0/96")
const nat64 = block("64:ff9b::/96")
const compatible = block("::/96")
const teredo = block("2001::/32")
const sixToFour = block("2002::/16")

/** Converts an IPv4-mapped IPv6 address to its IPv4 address; returns other addresses unchanged. */
export const unmapIpv4 = (address: IpAddress): IpAddress => (isWithin(address, mapped) ? ipv4(address.value) : address)

/** Returns the IPv4 addresses embedded in an IPv6 address. Teredo embeds its server's and, inverted, its client's. */
export const embeddedIpv4 = (address: IpAddress): ReadonlyArray<IpAddress> => {
  const { value } = address
  if (isWithin(address, mapped) || isWithin(address, nat64)) return [ipv4(value)]
  if (isWithin(address, teredo)) return [ipv4(value >> 64n), ipv4(~value)]
  if (isWithin(address, sixToFour)) return [ipv4(value >> 80n)]
  // `::` and `::1` do not embed an IPv4 address.
  if (isWithin(address, compatible) && value > 0xffffn) return [ipv4(value)]
  return []
}

/** Returns the class of an address; if it embeds others, the class of the first embedded address that is not public. */
export const classifyAddress = (address: IpAddress): AddressRange => {
  const inner = embeddedIpv4(address)
    .map(classifyAddress)
    .find((range) => range !== "public")
  if (inner !== undefined) return inner
  if (isWithin(address, mapped) || isWithin(address, nat64)) return "public"
  const [, range] = (address.family === 4 ? ranges4 : ranges6).find(([each]) => isWithin(address, each)) ?? []
  return range ?? (address.family === 4 ? "public" : "reserved")
}
