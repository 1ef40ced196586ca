/** What outbound requests may be: data, with the defaults of decisions 5.3. */
import { Result, Schema } from "effect"
import type { AddressRange } from "./AddressRange.ts"
import { parseTarget, type Target } from "./Target.ts"

export interface EgressPolicy {
  /**
   * What may be reached besides `ranges`: a host name (`db.internal`), all names below one (`*.internal`), an
   * address, or a block of them (`10.1.0.0/16`); all but blocks may end in a port (`localhost:8081`). A name opens
   * whatever addresses it has, but for those of cloud metadata; these only an address or a block opens.
   */
  readonly allow: ReadonlyArray<string>
  /** What may not be reached, whatever else is allowed; written in the same way. */
  readonly deny: ReadonlyArray<string>
  readonly ranges: ReadonlyArray<AddressRange>
  /** Null: all but those of other protocols (`badPorts`), which only `allow` opens. */
  readonly ports: ReadonlyArray<number> | null
  /** Of one response's body, as it is received and as it is decompressed. */
  readonly responseBytes: number
  /** From the request to the end of the response's body. */
  readonly totalMs: number
  readonly redirects: number
  /** Requests in progress of one environment; more wait, within their time. */
  readonly concurrentPerEnv: number
  /** The same, of all environments of this node. */
  readonly concurrent: number
  /** Sent where the guest names no `user-agent`. */
  readonly userAgent: string
  /**
   * Who is told which trace a request belongs to, in the header `traceparent`, unless the guest sends one; written as
   * in `allow`, but addresses are those in URLs, not those that names have. Nobody by default: strangers would learn
   * how requests hang together.
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
  userAgent: "weft",
  traceparent: []
}

/** An entry of `allow`, `deny` or `traceparent` is none. For the person who configured it, at start. */
export class EgressPolicyInvalid extends Schema.TaggedError<EgressPolicyInvalid>()("EgressPolicyInvalid", {
  entry: Schema.String
}) {
  override get message(): string {
    return `${JSON.stringify(this.entry)} is no host name, address or block of addresses`
  }
}

/** A policy whose entries have been read. */
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
      allow: yield* targetsOf(whole.allow),
      deny: yield* targetsOf(whole.deny),
      traceparent: yield* targetsOf(whole.traceparent)
    }
  })
}

const targetsOf = (entries: ReadonlyArray<string>): Result.Result<ReadonlyArray<Target>, EgressPolicyInvalid> => {
  const targets: Array<Target> = []
  for (const entry of entries) {
    const target = parseTarget(entry)
    if (target === null) return Result.fail(new EgressPolicyInvalid({ entry }))
    targets.push(target)
  }
  return Result.succeed(targets)
}

/** Ports of protocols that can be made to take an HTTP request for one of theirs: the list of the Fetch standard. */
export const badPorts: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
  540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
  6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080
])
