/** Functions of `node:dns` that need records other than addresses, or settings of the host. */
import { refuse } from "../refuse.ts"

const records = "use a service for DNS over HTTPS with `fetch`"
const servers = "the host selects the name servers"

export const lookupService = refuse("dns.lookupService", records)
export const resolveAny = refuse("dns.resolveAny", records)
export const resolveCaa = refuse("dns.resolveCaa", records)
export const resolveCname = refuse("dns.resolveCname", records)
export const resolveMx = refuse("dns.resolveMx", records)
export const resolveNaptr = refuse("dns.resolveNaptr", records)
export const resolveNs = refuse("dns.resolveNs", records)
export const resolvePtr = refuse("dns.resolvePtr", records)
export const resolveSoa = refuse("dns.resolveSoa", records)
export const resolveSrv = refuse("dns.resolveSrv", records)
export const resolveTlsa = refuse("dns.resolveTlsa", records)
export const resolveTxt = refuse("dns.resolveTxt", records)
export const reverse = refuse("dns.reverse", records)
export const setServers = refuse("dns.setServers", servers)
export const getServers = (): ReadonlyArray<string> => []
