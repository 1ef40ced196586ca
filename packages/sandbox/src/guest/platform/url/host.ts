/** Parses the host of a URL: a domain, an address or, in schemes that the standard does not list, an opaque host. */
import { domainToAscii } from "./idna.ts"
import { endsInNumber, parseIpv4, parseIpv6 } from "./ip-address.ts"
import { controlSet, percentDecode, percentEncode } from "./percent.ts"

const forbiddenHost = /[\0\t\n\r #/:<>?@[\\\]^|]/
const forbiddenDomain = /[\0-\x20#%/:<>?@[\\\]^|\x7f]/

/** Returns the host in its serialized form; null if it is invalid. */
export const parseHost = (text: string, special: boolean): string | null => {
  if (text.startsWith("[")) {
    const address = text.endsWith("]") ? parseIpv6(text.slice(1, -1)) : null
    return address === null ? null : `[${address}]`
  }
  if (!special) {
    return forbiddenHost.test(text) ? null : percentEncode(text, controlSet)
  }
  const domain = domainToAscii(percentDecode(text))
  if (domain === null || domain === "" || forbiddenDomain.test(domain)) {
    return null
  }
  return endsInNumber(domain) ? parseIpv4(domain) : domain
}
