/** Options of the HTTP surface. */
import type { Check } from "@weft/core"
import { Redacted } from "effect"
import { isHostToken } from "../access/HostToken.ts"
import { type McpOptions, type McpSettings, resolveMcp } from "../mcp/McpOptions.ts"

export interface HttpOptions {
  /**
   * The bearer token of the routes under `/admin`: 16 to 512 visible ASCII characters without spaces. Without a token,
   * these routes do not exist.
   */
  readonly adminToken?: Redacted.Redacted
  /** The bearer token of `/metrics`, `/healthz` and `/readyz`, in the same format. Without a token, they are public. */
  readonly metricsToken?: Redacted.Redacted
  /** Time for which all readers of `/metrics` get the same text, in milliseconds; default 1,000. */
  readonly metricsMs?: number
  /** Version and commit in `GET /v1/status`; "0.0.0" and "unknown" by default. */
  readonly version?: string
  readonly gitSha?: string
  /** Maximum size of a JSON body and of a webhook body, in bytes; default 4 MiB. */
  readonly bodyBytes?: number
  /**
   * Memory budget for all buffered bodies together, in bytes; default 256 MiB: JSON, webhooks, MCP messages and build
   * uploads. The first 16 KiB of each body do not count. A request whose body exceeds the budget gets 503.
   */
  readonly bufferedBodyBytes?: number
  /** Maximum size of a build's zip, in bytes; default 50 MiB. */
  readonly archiveBytes?: number
  /** Maximum build uploads in memory at the same time; default 4. Further uploads wait. */
  readonly concurrentUploads?: number
  /**
   * True if every request comes through a proxy that sets `X-Forwarded-Host` and appends to `X-Forwarded-For`; default
   * false. Weft then reads custom domains from `X-Forwarded-Host` instead of `Host`, and the client addresses of the
   * audit log from the last entry of `X-Forwarded-For`. Without such a proxy, clients could forge both headers.
   */
  readonly trustProxy?: boolean
  /** Maximum duration of a subscription before its client must reconnect, in milliseconds; default 300,000. */
  readonly streamLifetimeMs?: number
  /**
   * True serves the console at `/console`: a page for people, who sign in with an API key or the admin token; default
   * false. Pages of webhooks on the same host then run in a sandbox, so that they cannot act as a person who is signed in.
   */
  readonly console?: boolean
  /**
   * Origins whose pages may show the console in a frame, such as `https://app.example.com`; none by default. In a frame the
   * console uses no cookie: the page around it passes a session.
   */
  readonly consoleEmbeddedIn?: ReadonlyArray<string>
  /** Interval of the comments that keep a subscription's connection alive, in milliseconds; default 15,000. */
  readonly heartbeatMs?: number
  /** Further checks of `GET /admin/diagnosis`, such as free disk space. A rejection counts as a failed check. */
  readonly checks?: () => Promise<ReadonlyArray<Check>>
  /** Options of the MCP routes. */
  readonly mcp?: McpOptions
}

export interface HttpSettings {
  readonly adminToken: Redacted.Redacted | null
  readonly metricsToken: Redacted.Redacted | null
  readonly metricsMs: number
  readonly version: string
  readonly gitSha: string
  readonly bodyBytes: number
  readonly bufferedBodyBytes: number
  readonly archiveBytes: number
  readonly concurrentUploads: number
  readonly trustProxy: boolean
  readonly streamLifetimeMs: number
  readonly heartbeatMs: number
  readonly checks: () => Promise<ReadonlyArray<Check>>
  readonly mcp: McpSettings
  readonly console: boolean
  readonly consoleEmbeddedIn: ReadonlyArray<string>
}

const MiB = 1024 * 1024

/** Throws a `TypeError` for an invalid token or origin. */
export const resolveSettings = ({
  bodyBytes = 4 * MiB,
  archiveBytes = 50 * MiB,
  ...options
}: HttpOptions): HttpSettings => ({
  adminToken: checkToken("adminToken", options.adminToken),
  metricsToken: checkToken("metricsToken", options.metricsToken),
  metricsMs: options.metricsMs ?? 1000,
  version: options.version ?? "0.0.0",
  gitSha: options.gitSha ?? "unknown",
  bodyBytes,
  // A smaller budget could never admit a body of the maximum size.
  bufferedBodyBytes: Math.max(options.bufferedBodyBytes ?? 256 * MiB, bodyBytes, archiveBytes),
  archiveBytes,
  concurrentUploads: options.concurrentUploads ?? 4,
  trustProxy: options.trustProxy ?? false,
  streamLifetimeMs: options.streamLifetimeMs ?? 300_000,
  heartbeatMs: options.heartbeatMs ?? 15_000,
  checks: options.checks ?? (async () => []),
  mcp: resolveMcp(options.mcp ?? {}),
  console: options.console ?? false,
  consoleEmbeddedIn: (options.consoleEmbeddedIn ?? []).map(checkOrigin)
})

/** Returns an origin that has no characters with a meaning in a content security policy. */
const checkOrigin = (origin: string): string => {
  if (URL.canParse(origin) && /^https?:/.test(origin) && new URL(origin).origin === origin) return origin
  throw new TypeError(`\`consoleEmbeddedIn\` must contain origins such as https://app.example.com (got ${origin})`)
}

const checkToken = (option: string, token: Redacted.Redacted | undefined): Redacted.Redacted | null => {
  if (token === undefined) return null
  if (isHostToken(Redacted.value(token))) return token
  throw new TypeError(`\`${option}\` must be 16 to 512 visible ASCII characters without spaces`)
}
