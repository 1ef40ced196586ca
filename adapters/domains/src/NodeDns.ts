/** `Dns` on Node's resolver. */
import { Resolver } from "node:dns/promises"
import { Dns, DnsUnavailable } from "@weft/core/adapter"
import { Effect, Layer } from "effect"

export interface NodeDnsOptions {
  /** Recursive servers as `address` or `address:port`; those of the system by default. */
  readonly servers?: ReadonlyArray<string>
  /** Time limit per server and try, in milliseconds; 5,000 by default. There are two tries. */
  readonly timeoutMs?: number
}

/** Error codes for an empty answer, as opposed to no answer. */
const absences = new Set(["ENOTFOUND", "ENODATA"])

export const dns = ({ servers, timeoutMs = 5_000 }: NodeDnsOptions = {}): Layer.Layer<Dns> =>
  Layer.sync(Dns, () => {
    const resolver = new Resolver({ timeout: timeoutMs, tries: 2 })
    if (servers !== undefined) resolver.setServers(servers)

    const ask = (name: string, query: (name: string) => Promise<ReadonlyArray<string>>) =>
      Effect.tryPromise({ try: () => query(name), catch: (cause) => new DnsUnavailable({ name, cause }) }).pipe(
        Effect.catchIf(
          (error) => isAbsence(error.cause),
          () => Effect.succeed([])
        )
      )

    return Dns.of({
      resolveCname: (name) => ask(name, (asked) => resolver.resolveCname(asked)),
      resolveAddresses: (name) =>
        Effect.map(
          Effect.all([ask(name, (asked) => resolver.resolve4(asked)), ask(name, (asked) => resolver.resolve6(asked))], {
            concurrency: 2
          }),
          (families) => families.flat()
        )
    })
  })

const isAbsence = (cause: unknown): boolean =>
  cause instanceof Error && "code" in cause && absences.has(String(cause.code))
