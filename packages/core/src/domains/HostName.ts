/** Host names as custom domains take them. Pure. */
import { Schema } from "effect"

// Every runtime has it, but TypeScript declares it only together with a platform, and core names none.
declare const URL: new (text: string) => { readonly hostname: string }

/** A host name in the one spelling that is stored: A-labels, lower case, no dot at the end. */
export const HostName = Schema.String.pipe(Schema.brand("HostName"))
export type HostName = typeof HostName.Type

/** What the name of the record that proves control of a domain begins with; certificate authorities look there. */
export const validationPrefix = "_acme-challenge."

/** A DNS name has 253 characters at most, and the validation record's needs some of them. */
const lengthMax = 253 - validationPrefix.length

const label = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

/**
 * The host name that a client means, or null when it is none that can be registered: at least two labels of
 * letters, digits and inner hyphens, at most 237 characters in all; no address, no wildcard, no port, no path.
 * Names in other scripts become A-labels (`bücher.example` → `xn--bcher-kva.example`), and a dot at the end goes.
 */
export const parseHostName = (text: string): HostName | null => {
  const ascii = toAscii(text.replace(/\.$/, ""))
  if (ascii === null || ascii.length > lengthMax) return null
  const labels = ascii.split(".")
  const last = labels.at(-1) ?? ""
  if (labels.length < 2 || !labels.every((one) => label.test(one))) return null
  // The last label of an address is a number; that of a name never is.
  return /^(?:[0-9]+|0x[0-9a-f]*)$/.test(last) ? null : HostName.make(ascii)
}

/** Whether `name` is `parent` or lies below it. Both as stored. */
export const isWithin = (name: string, parent: string): boolean => name === parent || name.endsWith(`.${parent}`)

/**
 * The name in a `Host` header, in the spelling of stored names: without port and dot at the end, in lower case.
 * What is no host name stays whatever it is and matches nothing.
 */
export const hostOfHeader = (header: string): string => {
  if (plain.test(header)) return header
  const colon = header.lastIndexOf(":")
  const name = colon === -1 || header.endsWith("]") ? header : header.slice(0, colon)
  return name.replace(/\.$/, "").toLowerCase()
}

/** Most headers are so already. */
const plain = /^[a-z0-9.-]*[a-z0-9-]$/

/** Only letters of whatever script, digits, marks, hyphens and dots get as far as the URL parser, which knows IDNA. */
const named = /^[\p{L}\p{N}\p{M}.\-\u3002\uff0e\uff61]+$/u

const toAscii = (text: string): string | null => {
  if (text.length > 253 || !named.test(text)) return null
  try {
    return new URL(`http://${text}`).hostname
  } catch {
    return null
  }
}
