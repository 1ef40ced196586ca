/**
 * Resolves names to addresses.
 *
 * Names from guests are resolved by DNS queries, which use no threads that the process needs for its files, and ignore
 * the machine's hosts file. Names from the policy are resolved by the system, as for every other program of the
 * machine.
 */
import { promises as dns } from "node:dns"
import { EgressFailed, parseIp } from "@weft/core/adapter"
import { Effect } from "effect"

/** Returns no addresses for a name that has none. `trusted` is true for names from the policy. */
export type Lookup = (host: string, trusted: boolean) => Effect.Effect<ReadonlyArray<string>, EgressFailed>

const queryMs = 3000
const tries = 2

/** Creates a lookup. `servers` are name servers, each an address with an optional port; by default the system's. */
export const makeLookup = (servers: ReadonlyArray<string> | undefined): Lookup => {
  const resolver = new dns.Resolver({ timeout: queryMs, tries })
  if (servers !== undefined) resolver.setServers([...servers])

  const query = async (name: string): Promise<ReadonlyArray<string>> => {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    const addresses = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []))
    const failed = answers.find((answer) => answer.status === "rejected")
    if (addresses.length === 0 && failed !== undefined) throw failed.reason
    return addresses
  }
  const systemLookup = async (name: string): Promise<ReadonlyArray<string>> =>
    (await dns.lookup(name, { all: true, verbatim: true })).map(({ address }) => address)

  return (host, trusted) => {
    if (parseIp(host) !== null) return Effect.succeed([host.replace(/^\[|\]$/g, "")])
    return Effect.tryPromise({
      try: () => (trusted && servers === undefined ? systemLookup(host) : query(host)).catch(noneIfMissing),
      catch: () => new EgressFailed({ reason: `the address of ${host} could not be looked up` })
    })
  }
}

const notFoundCodes = new Set(["ENOTFOUND", "ENODATA", "EBADNAME"])

const noneIfMissing = (error: unknown): ReadonlyArray<string> => {
  if (error instanceof Error && "code" in error && notFoundCodes.has(String(error.code))) return []
  throw error
}
