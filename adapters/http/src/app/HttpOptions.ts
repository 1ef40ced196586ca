/** What a host may say about the HTTP surface. */
import type { Redacted } from "effect"

export interface HttpOptions {
  /** The bearer token of the routes under `/admin`. Without one there are no such routes. */
  readonly adminToken?: Redacted.Redacted
  /** The bearer token of `/metrics`, `/healthz` and `/readyz`. Without one they are there for everybody. */
  readonly metricsToken?: Redacted.Redacted
  /** What `GET /v1/status` reports; "0.0.0" and "unknown" if not given. */
  readonly version?: string
  readonly gitSha?: string
  /** The largest JSON body and the largest webhook body in bytes; default 4 MiB. */
  readonly bodyBytes?: number
  /**
   * How many bytes of webhooks' bodies are held in memory, of all calls together, besides 16 KiB of each; default 256 MiB.
   * A call whose body finds no room is refused with 503.
   */
  readonly heldBodyBytes?: number
  /** The largest zip of a build in bytes; default 50 MiB. */
  readonly archiveBytes?: number
  /** How many uploads are held in memory at once; more wait. Default 4. */
  readonly uploadsAtOnce?: number
  /**
   * Whether every request comes through a proxy that sets `X-Forwarded-Host` and adds to `X-Forwarded-For`: then custom
   * domains are told by the one instead of by `Host`, and clients' addresses in the audit log by the last of the other.
   * Default false: otherwise a client could say what it likes.
   */
  readonly trustProxy?: boolean
  /** How long a subscription lasts before its client has to come back, in milliseconds; default 300,000. */
  readonly streamMs?: number
  /** How often a subscription sends a comment, so that nobody takes it for dead, in milliseconds; default 15,000. */
  readonly heartbeatMs?: number
}

export interface HttpSettings {
  readonly adminToken: Redacted.Redacted | null
  readonly metricsToken: Redacted.Redacted | null
  readonly version: string
  readonly gitSha: string
  readonly bodyBytes: number
  readonly heldBodyBytes: number
  readonly archiveBytes: number
  readonly uploadsAtOnce: number
  readonly trustProxy: boolean
  readonly streamMs: number
  readonly heartbeatMs: number
}

const MiB = 1024 * 1024

export const settingsOf = ({ bodyBytes = 4 * MiB, ...options }: HttpOptions): HttpSettings => ({
  adminToken: options.adminToken ?? null,
  metricsToken: options.metricsToken ?? null,
  version: options.version ?? "0.0.0",
  gitSha: options.gitSha ?? "unknown",
  bodyBytes,
  // With less room, bodies that are not too large would never find any.
  heldBodyBytes: Math.max(options.heldBodyBytes ?? 256 * MiB, bodyBytes),
  archiveBytes: options.archiveBytes ?? 50 * MiB,
  uploadsAtOnce: options.uploadsAtOnce ?? 4,
  trustProxy: options.trustProxy ?? false,
  streamMs: options.streamMs ?? 300_000,
  heartbeatMs: options.heartbeatMs ?? 15_000
})
