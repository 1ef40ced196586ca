/** An entry of a policy's lists: a name, the names below one, an address, or a block of addresses. */
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

/** Null for what is none of them. A name in other letters than ASCII is written in its `xn--` form. */
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
  // A last label of digits would be an address that went wrong.
  return names.test(name) && name.length <= 253 && !/(^|\.)\d+$/.test(name)
    ? { what: { kind: "name", name, below }, port }
    : null
}

/** A host name in lower case and without the dot that may end it. */
export const plainName = (host: string): string => host.toLowerCase().replace(/\.$/, "")

/** `name` as `plainName` gives it. */
export const matchesName = ({ what, port }: Target, name: string, onPort: number): boolean =>
  what.kind === "name" &&
  (port === null || port === onPort) &&
  (what.below ? name.endsWith(`.${what.name}`) : name === what.name)

export const matchesAddress = ({ what, port }: Target, address: IpAddress, onPort: number): boolean =>
  what.kind === "block" && (port === null || port === onPort) && isWithin(address, what.block)
