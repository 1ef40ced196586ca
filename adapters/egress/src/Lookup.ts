/**
 * Names into addresses.
 *
 * Names that a guest chooses are asked for over the network, without the threads that the process needs for its
 * files, and never meet the machine's own tables of hosts. Names that the policy gives are looked up as every
 * program of the machine does.
 */
import { promises as dns } from "node:dns"
import { EgressFailed, parseIp } from "@weft/core"
import { Effect } from "effect"

export type Lookup = (host: string, trusted: boolean) => Effect.Effect<ReadonlyArray<string>, EgressFailed>

const queryMs = 3000
const tries = 2

/** `servers` are name servers, each an address with or without a port; those of the system by default. */
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
  const asSystem = async (name: string): Promise<ReadonlyArray<string>> =>
    (await dns.lookup(name, { all: true, verbatim: true })).map(({ address }) => address)

  return (host, trusted) => {
    if (parseIp(host) !== null) return Effect.succeed([host.replace(/^\[|\]$/g, "")])
    return Effect.tryPromise({
      try: () => (trusted && servers === undefined ? asSystem(host) : query(host)),
      catch: (error) => new EgressFailed({ reason: reasonOf(host, error) })
    })
  }
}

const absences = new Set(["ENOTFOUND", "ENODATA", "EBADNAME"])

const reasonOf = (host: string, error: unknown): string => {
  const code = error instanceof Error && "code" in error ? String(error.code) : ""
  return absences.has(code) ? `${host} has no address` : `the address of ${host} could not be looked up`
}
