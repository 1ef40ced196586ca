/**
 * IP addresses as numbers, and blocks of them.
 *
 * Only canonical forms are accepted: dotted decimal without leading zeros, and IPv6 as in RFC 4291.
 *
 * URL parsers convert octal, hexadecimal and short forms to these before they arrive here.
 */

export interface IpAddress {
  readonly family: 4 | 6
  /** 32 or 128 bits. */
  readonly value: bigint
}

/** All addresses that share their first `prefix` bits with `base`. */
export interface IpBlock {
  readonly base: IpAddress
  readonly prefix: number
}

/** Parses an address, or returns null. IPv6 may be in brackets, as in a URL. A zone (`%eth0`) is not accepted. */
export const parseIp = (text: string): IpAddress | null => {
  const bare = text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text
  if (bare !== text || bare.includes(":")) {
    const value = parseIpv6(bare)
    return value === null ? null : { family: 6, value }
  }
  const value = parseIpv4(bare)
  return value === null ? null : { family: 4, value }
}

/** Parses `10.0.0.0/8`, `fd00::/8`, or a single address. Returns null for other text, and for bits beyond the prefix. */
export const parseBlock = (text: string): IpBlock | null => {
  const [address = "", length, ...more] = text.split("/")
  const base = parseIp(address)
  if (base === null || more.length > 0) return null
  if (length === undefined) return { base, prefix: bitLength(base) }
  const prefix = /^(0|[1-9]\d{0,2})$/.test(length) ? Number(length) : Number.NaN
  if (!(prefix <= bitLength(base))) return null
  return base.value % (1n << BigInt(bitLength(base) - prefix)) === 0n ? { base, prefix } : null
}

export const isWithin = (address: IpAddress, { base, prefix }: IpBlock): boolean =>
  address.family === base.family && (address.value ^ base.value) >> BigInt(bitLength(base) - prefix) === 0n

export const ipv4 = (value: bigint): IpAddress => ({ family: 4, value: BigInt.asUintN(32, value) })

const bitLength = (address: IpAddress): number => (address.family === 4 ? 32 : 128)

const parseIpv4 = (text: string): bigint | null => {
  const parts = text.split(".")
  if (parts.length !== 4) return null
  let value = 0n
  for (const part of parts) {
    if (!/^(0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return null
    value = (value << 8n) | BigInt(part)
  }
  return value
}

const parseIpv6 = (text: string): bigint | null => {
  const [head = "", tail, ...more] = text.split("::")
  if (more.length > 0) return null
  // Only the last group may be in dotted decimal.
  const first = parseGroups(head, tail === undefined)
  const last = tail === undefined ? [] : parseGroups(tail, true)
  if (first === null || last === null) return null
  const missing = 8 - first.length - last.length
  if (tail === undefined ? missing !== 0 : missing < 1) return null
  return [...first, ...new Array<bigint>(missing).fill(0n), ...last].reduce(
    (value, group) => (value << 16n) | group,
    0n
  )
}

const parseGroups = (text: string, mayEndDotted: boolean): ReadonlyArray<bigint> | null => {
  if (text === "") return []
  const groups: Array<bigint> = []
  const parts = text.split(":")
  for (const [index, part] of parts.entries()) {
    if (/^[0-9a-f]{1,4}$/i.test(part)) {
      groups.push(BigInt(`0x${part}`))
      continue
    }
    const dotted = mayEndDotted && index === parts.length - 1 ? parseIpv4(part) : null
    if (dotted === null) return null
    groups.push(dotted >> 16n, dotted & 0xffffn)
  }
  return groups
}
