/** The policy for outbound requests, as data, with the defaults of decisions 5.3. */
import { Result, Schema } from "effect"
import type { AddressRange } from "./AddressRange.ts"
import { parseTarget, type Target } from "./Target.ts"

export interface EgressPolicy {
  /**
   * Destinations that are allowed in addition to `ranges`: a host name (`db.internal`), all names below one
   * (`*.internal`), an address, or a block of addresses (`10.1.0.0/16`). All but blocks may end in a port
   * (`localhost:8081`). A name allows every address that it resolves to, except those of cloud metadata services. Only
   * an address or a block allows these.
   */
  readonly allow: ReadonlyArray<string>
  /** Destinations that are refused even if another rule allows them; written in the same way. */
  readonly deny: ReadonlyArray<string>
  readonly ranges: ReadonlyArray<AddressRange>
  /**
   * Null: all ports except those of other protocols (`badPorts`), which only `allow` opens. TCP sockets then reach all
   * ports except those of `closedTcpPorts`.
   */
  readonly ports: ReadonlyArray<number> | null
  /** Maximum size of a response body, both as received and as decompressed. */
  readonly responseBytes: number
  /** Maximum time from the request to the end of the response's body. */
  readonly totalMs: number
  readonly redirects: number
  /** Maximum concurrent requests of one environment. Further requests wait, within their time limit. */
  readonly concurrentPerEnv: number
  /** Maximum concurrent requests of all environments of this node. */
  readonly concurrent: number
  /** Maximum open TCP sockets and WebSockets of one environment. Further ones fail. */
  readonly socketsPerEnv: number
  /** Maximum open TCP sockets and WebSockets of all environments of this node. */
  readonly sockets: number
  /** Maximum time in which a socket neither sends nor receives, in milliseconds. */
  readonly socketIdleMs: number
  /** Maximum size of a message of a WebSocket, in bytes. */
  readonly messageBytes: number
  /** Sent if the guest sets no `user-agent`. */
  readonly userAgent: string
  /**
   * Destinations that receive the header `traceparent`, unless the guest sends one. Written as in `allow`, but addresses
   * match only literal addresses in URLs, not resolved names. Empty by default, because the header would let unknown
   * servers correlate requests.
   */
  readonly traceparent: ReadonlyArray<string>
}

export const defaultEgressPolicy: EgressPolicy = {
  allow: [],
  deny: [],
  ranges: ["public"],
  ports: null,
  responseBytes: 20 * 1024 * 1024,
  totalMs: 30_000,
  redirects: 20,
  concurrentPerEnv: 100,
  concurrent: 1000,
  socketsPerEnv: 100,
  sockets: 1000,
  socketIdleMs: 120_000,
  messageBytes: 1024 * 1024,
  userAgent: "weft",
  traceparent: []
}

/** An entry of `allow`, `deny` or `traceparent` cannot be parsed. Reported to the operator at start. */
export class EgressPolicyInvalid extends Schema.TaggedError<EgressPolicyInvalid>()("EgressPolicyInvalid", {
  entry: Schema.String
}) {
  override get message(): string {
    return `${JSON.stringify(this.entry)} is not a host name, an address or a block of addresses`
  }
}

/** A policy with parsed entries. */
export interface EgressRules extends Omit<EgressPolicy, "allow" | "deny" | "traceparent"> {
  readonly allow: ReadonlyArray<Target>
  readonly deny: ReadonlyArray<Target>
  readonly traceparent: ReadonlyArray<Target>
}

export const egressRules = (policy: Partial<EgressPolicy> = {}): Result.Result<EgressRules, EgressPolicyInvalid> => {
  const whole = { ...defaultEgressPolicy, ...policy }
  return Result.gen(function* () {
    return {
      ...whole,
      allow: yield* parseTargets(whole.allow),
      deny: yield* parseTargets(whole.deny),
      traceparent: yield* parseTargets(whole.traceparent)
    }
  })
}

const parseTargets = (entries: ReadonlyArray<string>): Result.Result<ReadonlyArray<Target>, EgressPolicyInvalid> => {
  const targets: Array<Target> = []
  for (const entry of entries) {
    const target = parseTarget(entry)
    if (target === null) return Result.fail(new EgressPolicyInvalid({ entry }))
    targets.push(target)
  }
  return Result.succeed(targets)
}

/** Ports of protocols that may misinterpret an HTTP request as their own: the list of the Fetch standard. */
export const badPorts: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
  540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
  6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080
])

/** Ports that TCP sockets do not reach: 0 is not a port, and 25 would make functions senders of spam. */
export const closedTcpPorts: ReadonlySet<number> = new Set([0, 25])
