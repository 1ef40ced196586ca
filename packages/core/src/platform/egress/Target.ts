/** An entry in a list of a policy: a name, all names below one, an address, or a block of addresses. */
import { type IpAddress, type IpBlock, isWithin, parseBlock } from "./IpAddress.ts"

export interface Target {
  readonly what:
    | { readonly kind: "block"; readonly block: IpBlock }
    | { readonly kind: "name"; readonly name: string; readonly below: boolean }
  /** Null: every port. */
  readonly port: number | null
}

const label = "[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
const names = new RegExp(`^${label}(?:\\.${label})*$`)

/** Parses an entry, or returns null. Internationalized names must be in their `xn--` form. */
export const parseTarget = (text: string): Target | null => {
  const entry = text.trim().toLowerCase()
  const whole = parseBlock(entry)
  if (whole !== null) return { what: { kind: "block", block: whole }, port: null }
  const [, host = entry, digits] = /^(.*?):(\d{1,5})$/.exec(entry) ?? []
  const port = digits === undefined ? null : Number(digits)
  if (port !== null && port > 65_535) return null
  const block = host.includes("/") ? null : parseBlock(host)
  if (block !== null) return { what: { kind: "block", block }, port }
  const below = host.startsWith("*.")
  const name = plainName(below ? host.slice(2) : host)
  // A name whose last label is numeric is a malformed address.
  return names.test(name) && name.length <= 253 && !/(^|\.)\d+$/.test(name)
    ? { what: { kind: "name", name, below }, port }
    : null
}

/** Returns a host name in lower case and without a trailing dot. */
export const plainName = (host: string): string => host.toLowerCase().replace(/\.$/, "")

/** True if the entry covers the name and port. `name` must come from `plainName`. */
export const matchesName = ({ what, port }: Target, name: string, onPort: number): boolean =>
  what.kind === "name" &&
  (port === null || port === onPort) &&
  (what.below ? name.endsWith(`.${what.name}`) : name === what.name)

export const matchesAddress = ({ what, port }: Target, address: IpAddress, onPort: number): boolean =>
  what.kind === "block" && (port === null || port === onPort) && isWithin(address, what.block)
