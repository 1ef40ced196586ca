/** Parsers of host names for custom domains. Pure. */
import { Schema } from "effect"

// Every runtime provides URL, but TypeScript declares it only in the types of a platform, which core does not use.
declare const URL: new (text: string) => { readonly hostname: string }

/** A host name in canonical form: A-labels, lower case, no trailing dot. */
export const HostName = Schema.String.pipe(Schema.brand("HostName"))
export type HostName = typeof HostName.Type

/** Prefix of the record that proves control of a domain, defined by ACME (RFC 8555). */
export const validationPrefix = "_acme-challenge."

/** Maximum length of a domain: that of a DNS name, 253, minus the prefix of the validation record. */
const lengthMax = 253 - validationPrefix.length

const label = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

/**
 * Parses a host name, or returns null if it cannot be registered. A valid name has at least two labels of letters, digits
 * and inner hyphens, and at most 237 characters. It is not an address and has no wildcard, port or path. Converts names
 * in other scripts to A-labels (`bücher.example` → `xn--bcher-kva.example`), and removes a trailing dot.
 */
export const parseHostName = (text: string): HostName | null => {
  const ascii = toAscii(text.replace(/\.$/, ""))
  if (ascii === null || ascii.length > lengthMax) return null
  const labels = ascii.split(".")
  const last = labels.at(-1) ?? ""
  if (labels.length < 2 || !labels.every((one) => label.test(one))) return null
  // A numeric last label means an IP address.
  return /^(?:[0-9]+|0x[0-9a-f]*)$/.test(last) ? null : HostName.make(ascii)
}

/** True if `name` is `parent` or a subdomain of it. Both in canonical form. */
export const isWithin = (name: string, parent: string): boolean => name === parent || name.endsWith(`.${parent}`)

/**
 * Returns the name in a `Host` header in lower case, without port and trailing dot. An invalid header results in text that
 * matches no stored name.
 */
export const hostOfHeader = (header: string): string => {
  if (plain.test(header)) return header
  const colon = header.lastIndexOf(":")
  const name = colon === -1 || header.endsWith("]") ? header : header.slice(0, colon)
  return name.replace(/\.$/, "").toLowerCase()
}

/** Matches headers that are already in canonical form, as most are. */
const plain = /^[a-z0-9.-]*[a-z0-9-]$/

/** Letters of any script, digits, marks, hyphens and dots: the only characters passed to the URL parser for IDNA. */
const permitted = /^[\p{L}\p{N}\p{M}.\-\u3002\uff0e\uff61]+$/u

const toAscii = (text: string): string | null => {
  if (text.length > 253 || !permitted.test(text)) return null
  try {
    return new URL(`http://${text}`).hostname
  } catch {
    return null
  }
}
