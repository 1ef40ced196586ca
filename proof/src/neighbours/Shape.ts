/** An attack by a stranger, a tenant or the system, bounded in time and in size. */
import type { Attack } from "./Attack.ts"

export type Attacker = "stranger" | "tenant" | "system"

/** Parts of the system that shapes attack. */
export type Room =
  | "http front"
  | "webhooks"
  | "access"
  | "domains"
  | "MCP"
  | "sandbox"
  | "host calls"
  | "egress"
  | "events"
  | "schedules"
  | "streams"
  | "builds"
  | "files"
  | "storage"
  | "operations"
  | "durable functions"
  | "evaluation"

export interface Shape {
  /** Name for `--only`: lowercase words with hyphens. */
  readonly name: string
  readonly attacker: Attacker
  readonly room: Room
  /** Requests of the attack and their bound, as part of a sentence: "4 clients call …". */
  readonly sends: string
  /** Answers that the attacker may see: statuses, or one of `Ending`. */
  readonly sees: ReadonlyArray<number | Ending>
  /** Code of the attacker's build; `openSource` by default. */
  readonly source?: string
  /** Environments of the attacker; 1 by default. */
  readonly environments?: number
  /** True if the server may send requests of functions to the attacker's own HTTP server. */
  readonly needsUpstream?: true
  /** Makes what the attack needs, before the measurement. Its result is passed to `attack`. */
  readonly prepare?: (attack: Attack) => Promise<string>
  /** Attacks until `attack.isOver`. */
  readonly attack: (attack: Attack, prepared: string) => Promise<void>
}

/**
 * End of an exchange without a status. `closed`: the server closed the connection. `open`: the connection was open at the
 * end of the attack. `pending`: a request had no response by then.
 */
export type Ending = "closed" | "open" | "pending"

/** Build of attackers that need no code of their own. */
export const openSource = `
export const echo = (request) => ({ status: 200, body: { bytes: (request["body-raw"] ?? "").length } })
echo.meta = { webhook: { service: "open", path: "/echo" } }
export const onPlain = (event) => event.event_data.n ?? null
onPlain.meta = { event: "attack:plain" }
`

/** URL path of `echo` in the attacker's first environment. */
export const echoPath = "/webhook/default/attacker-1/open/echo"

/** Returns the URL path of a webhook of the attacker. */
export const hookPath = (path: string, environment = 1): string =>
  `/webhook/default/attacker-${environment}/attack/${path}`

/** Returns the `meta` of a webhook at `hookPath(path)`. */
export const hookMeta = (path: string, options = "timeout: 2000"): string =>
  `{ ${options}, webhook: { service: "attack", path: "/${path}" } }`
