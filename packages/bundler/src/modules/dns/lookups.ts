/** Lookups of names by the host, with the results and errors of Node. */
import { isIP } from "../net/addresses.ts"
import { NotInFunctions, notInFunctions } from "../refuse.ts"

interface Binding {
  readonly lookup: (name: string) => Promise<ReadonlyArray<string>>
}

/** Returns the binding. Servers before this release have none. */
const binding = (): Binding => {
  const found: Binding | undefined = Reflect.get(globalThis, "weft:dns")
  if (found === undefined) throw notInFunctions("dns.lookup", "the server must have a release with DNS lookups")
  return found
}

export interface LookupAddress {
  readonly address: string
  readonly family: number
}

export interface LookupOptions {
  readonly family?: number | "IPv4" | "IPv6"
  readonly all?: boolean
  readonly order?: "verbatim" | "ipv4first" | "ipv6first"
  readonly verbatim?: boolean
}

class LookupError extends Error {
  readonly code: string
  readonly syscall: string
  readonly hostname: string

  constructor(code: string, syscall: string, hostname: string, reason = "") {
    super(`${syscall} ${code} ${hostname}${reason === "" ? "" : `: ${reason}`}`)
    this.code = code
    this.syscall = syscall
    this.hostname = hostname
  }
}

/** Codes of a name without addresses, a temporary failure, and a refusal by the policy or a limit. */
interface Codes {
  readonly missing: string
  readonly failed: string
  readonly refused: string
}

const lookupCodes: Codes = { missing: "ENOTFOUND", failed: "EAI_AGAIN", refused: "EAI_FAIL" }
const queryCodes: Codes = { missing: "ENODATA", failed: "ESERVFAIL", refused: "EREFUSED" }

const ask = async (name: string, syscall: string, codes: Codes): Promise<ReadonlyArray<LookupAddress>> => {
  try {
    return (await binding().lookup(name)).map((address) => ({ address, family: isIP(address) }))
  } catch (error) {
    if (error instanceof NotInFunctions || !(error instanceof Error)) throw error
    const code = error.name === "EgressFailed" ? codes.failed : codes.refused
    throw new LookupError(code, syscall, name, error.message)
  }
}

const requireName = (name: unknown): string => {
  if (typeof name === "string") return name
  throw Object.assign(new TypeError(`The "hostname" argument must be of type string. Received ${typeof name}`), {
    code: "ERR_INVALID_ARG_TYPE"
  })
}

const invalidValue = (message: string): TypeError =>
  Object.assign(new TypeError(message), { code: "ERR_INVALID_ARG_VALUE" })

const readFamily = (family: unknown): 0 | 4 | 6 => {
  if (family === undefined || family === 0) return 0
  if (family === 4 || family === "IPv4") return 4
  if (family === 6 || family === "IPv6") return 6
  throw invalidValue(`The property 'options.family' must be one of: 0, 4, 6. Received ${String(family)}`)
}

/** Reads the second argument of `lookup`: options, or a family. */
export const readLookupOptions = (given: unknown): LookupOptions =>
  typeof given === "object" && given !== null ? given : { family: readFamily(given) }

type Order = NonNullable<LookupOptions["order"]>

let defaultOrder: Order = "verbatim"

export const getDefaultResultOrder = (): Order => defaultOrder

export const setDefaultResultOrder = (order: Order): void => {
  if (!["verbatim", "ipv4first", "ipv6first"].includes(order)) {
    throw invalidValue(
      `The argument 'order' must be one of: 'verbatim', 'ipv4first', 'ipv6first'. Received ${String(order)}`
    )
  }
  defaultOrder = order
}

const readOrder = ({ order, verbatim }: LookupOptions): Order => {
  if (order !== undefined) return order
  if (verbatim === undefined) return defaultOrder
  return verbatim ? "verbatim" : "ipv4first"
}

const sort = (found: ReadonlyArray<LookupAddress>, order: Order): ReadonlyArray<LookupAddress> => {
  if (order === "verbatim") return found
  const first = order === "ipv4first" ? 4 : 6
  return [...found.filter(({ family }) => family === first), ...found.filter(({ family }) => family !== first)]
}

/** Family that Node returns for an empty name, whose address is null. */
export const familyOfNothing = ({ family }: LookupOptions): 4 | 6 => (readFamily(family) === 6 ? 6 : 4)

/** Returns all addresses of a name that the options select, at least one; none for an empty name. */
export const lookupAll = async (given: unknown, options: LookupOptions): Promise<ReadonlyArray<LookupAddress>> => {
  const family = readFamily(options.family)
  const name = requireName(given)
  const literal = isIP(name)
  if (literal !== 0) return [{ address: name, family: literal }]
  if (name === "") return []
  const found = (await ask(name, "getaddrinfo", lookupCodes)).filter((one) => family === 0 || one.family === family)
  if (found.length === 0) throw new LookupError(lookupCodes.missing, "getaddrinfo", name)
  return sort(found, readOrder(options))
}

/** Returns the addresses of a name in one family, at least one. The host reports no TTL. */
export const resolveFamily = async (
  family: 4 | 6,
  given: unknown,
  options: { readonly ttl?: boolean } = {}
): Promise<ReadonlyArray<string>> => {
  if (options?.ttl === true) throw notInFunctions(`dns.resolve${family} with the option ttl`, "leave out `ttl`")
  const name = requireName(given)
  const syscall = family === 4 ? "queryA" : "queryAaaa"
  const found = (await ask(name, syscall, queryCodes)).filter((one) => one.family === family)
  if (found.length === 0) throw new LookupError(queryCodes.missing, syscall, name)
  return found.map(({ address }) => address)
}

/** Resolves records of a type. The host looks up addresses only. */
export const resolveType = async (name: unknown, type: unknown = "A"): Promise<ReadonlyArray<string>> => {
  if (type === "A" || type === "AAAA") return resolveFamily(type === "A" ? 4 : 6, name)
  throw notInFunctions(`dns.resolve of ${String(type)} records`, "use a service for DNS over HTTPS with `fetch`")
}
