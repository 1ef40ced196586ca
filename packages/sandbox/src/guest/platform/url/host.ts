/** The host of a URL: a domain, an address or, in schemes the standard does not know, anything harmless. */
import { domainToAscii } from "./idna.ts"
import { endsInNumber, parseIpv4, parseIpv6 } from "./ip-address.ts"
import { controlSet, percentDecode, percentEncode } from "./percent.ts"

const forbiddenHost = /[\0\t\n\r #/:<>?@[\\\]^|]/
const forbiddenDomain = /[\0-\x20#%/:<>?@[\\\]^|\x7f]/

/** The host in its serialised form; null when it is not one. */
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
