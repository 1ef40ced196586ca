/**
 * IP addresses as numbers, and blocks of them.
 *
 * Only the canonical forms are read: dotted decimal without leading zeros, and IPv6 as RFC 4291 writes it. What a
 * URL parser turns into one of these (octal, hexadecimal and short forms) has become canonical before it gets here;
 * everything else is no address.
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

/** Null for what is no address. IPv6 may stand in brackets, as in a URL. A zone (`%eth0`) is not accepted. */
export const parseIp = (text: string): IpAddress | null => {
  const bare = text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text
  if (bare !== text || bare.includes(":")) {
    const value = ipv6Value(bare)
    return value === null ? null : { family: 6, value }
  }
  const value = ipv4Value(bare)
  return value === null ? null : { family: 4, value }
}

/** `10.0.0.0/8`, `fd00::/8`, or a single address. Null for what is neither, and for bits beyond the prefix. */
export const parseBlock = (text: string): IpBlock | null => {
  const [address = "", length, ...more] = text.split("/")
  const base = parseIp(address)
  if (base === null || more.length > 0) return null
  if (length === undefined) return { base, prefix: bitsOf(base) }
  const prefix = /^(0|[1-9]\d{0,2})$/.test(length) ? Number(length) : Number.NaN
  if (!(prefix <= bitsOf(base))) return null
  return base.value % (1n << BigInt(bitsOf(base) - prefix)) === 0n ? { base, prefix } : null
}

export const isWithin = (address: IpAddress, { base, prefix }: IpBlock): boolean =>
  address.family === base.family && (address.value ^ base.value) >> BigInt(bitsOf(base) - prefix) === 0n

export const ipv4 = (value: bigint): IpAddress => ({ family: 4, value: BigInt.asUintN(32, value) })

const bitsOf = (address: IpAddress): number => (address.family === 4 ? 32 : 128)

const ipv4Value = (text: string): bigint | null => {
  const parts = text.split(".")
  if (parts.length !== 4) return null
  let value = 0n
  for (const part of parts) {
    if (!/^(0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return null
    value = (value << 8n) | BigInt(part)
  }
  return value
}

const ipv6Value = (text: string): bigint | null => {
  const [head = "", tail, ...more] = text.split("::")
  if (more.length > 0) return null
  // Only the last group may be dotted.
  const first = groupsOf(head, tail === undefined)
  const last = tail === undefined ? [] : groupsOf(tail, true)
  if (first === null || last === null) return null
  const missing = 8 - first.length - last.length
  if (tail === undefined ? missing !== 0 : missing < 1) return null
  return [...first, ...new Array<bigint>(missing).fill(0n), ...last].reduce(
    (value, group) => (value << 16n) | group,
    0n
  )
}

const groupsOf = (text: string, mayEndDotted: boolean): ReadonlyArray<bigint> | null => {
  if (text === "") return []
  const groups: Array<bigint> = []
  const parts = text.split(":")
  for (const [index, part] of parts.entries()) {
    if (/^[0-9a-f]{1,4}$/i.test(part)) {
      groups.push(BigInt(`0x${part}`))
      continue
    }
    const dotted = mayEndDotted && index === parts.length - 1 ? ipv4Value(part) : null
    if (dotted === null) return null
    groups.push(dotted >> 16n, dotted & 0xffffn)
  }
  return groups
}
