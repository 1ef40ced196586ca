/** Settings of the reference server: environment variables, all optional. docs/settings.md has the table. */
import { isUuid, type Limits, parseTarget, Slug } from "@weft/core/adapter"
import { isHostToken } from "@weft/http"
import { Redacted, Schema } from "effect"
import { type BackendSettings, backendSettings } from "./BackendSettings.ts"
import { type ConnectionSettings, connectionSettings } from "./ConnectionSettings.ts"
import { type DomainSettings, domainSettings } from "./DomainSettings.ts"
import { readOrigins } from "./Lists.ts"
import { type McpSettings, mcpSettings } from "./McpSettings.ts"
import { type TracingSettings, tracingSettings } from "./TracingSettings.ts"
import { findNearest, findUnknown } from "./UnknownSettings.ts"

/** An invalid setting. The message is one line: the variable and its valid values, never the given value. */
export class SettingError extends Error {
  constructor(variable: string, reason: string) {
    super(`${variable} ${reason}`)
    this.name = "SettingError"
  }
}

export interface Settings extends BackendSettings {
  readonly host: string
  readonly port: number
  readonly dataDir: string
  /** 32 bytes, or null for the generated key in the data dir. */
  readonly masterKey: Redacted.Redacted<Uint8Array> | null
  /** Former master keys. The server still decrypts with them. */
  readonly previousMasterKeys: ReadonlyArray<Redacted.Redacted<Uint8Array>>
  /** Ids of master keys that are lost. The server starts although stored secrets need them. */
  readonly lostMasterKeys: ReadonlyArray<string>
  /** True allows an empty database next to existing blobs. */
  readonly newInstallation: boolean
  readonly apiKey: Redacted.Redacted<string> | null
  /** Null for the generated token in the data dir. */
  readonly adminToken: Redacted.Redacted<string> | null
  /** Bearer token of `/metrics`, `/healthz` and `/readyz`; null for access without a credential. */
  readonly metricsToken: Redacted.Redacted<string> | null
  readonly org: string
  readonly env: string
  readonly publicUrl: string | null
  /** Targets that functions may reach in addition to public addresses: `EgressPolicy.allow`. */
  readonly egressAllow: ReadonlyArray<string>
  /** Maximum open TCP sockets of a run of the plan Self-Host. */
  readonly tcpSocketsPerRun: number
  /** Targets that receive the trace context of functions' requests: `EgressPolicy.traceparent`. */
  readonly egressTraceparent: ReadonlyArray<string>
  /** Null disables tracing. */
  readonly tracing: TracingSettings | null
  readonly domains: DomainSettings
  readonly connections: ConnectionSettings
  readonly audit: { readonly days: number; readonly entries: number }
  /** True if a proxy sets `X-Forwarded-Host`, the host of the request, and `X-Forwarded-For`, the client's address. */
  readonly trustProxy: boolean
  readonly mcp: McpSettings
  /** True serves the console at `/console`. */
  readonly console: boolean
  /** Origins whose pages may show the console in a frame. */
  readonly consoleEmbeddedIn: ReadonlyArray<string>
  readonly sandbox: {
    readonly limits: Partial<Limits>
    readonly runners: number | null
    readonly runnerBytes: number | null
  }
  /** Maximum deliveries in flight: in total, and for one environment. */
  readonly deliveries: { readonly total: number; readonly perEnv: number }
  /** Time after which other nodes consider this one dead, in milliseconds; null for Weft's default. */
  readonly leaseMs: number | null
  /** Maximum retention of ended runs, in milliseconds; null for the limit of the plan. */
  readonly retentionMs: number | null
  /** Maximum bytes per second that are read to verify stored files and builds; null for Weft's default. */
  readonly scrubBytesPerSecond: number | null
  /** Commit of the sources, for `/v1/status` and `weft_build_info`; null if unknown. */
  readonly gitSha: string | null
  /** Time for which the server still accepts new requests during shutdown, in milliseconds. */
  readonly lingerMs: number
  readonly bodyBytes: number
  /** Maximum bytes of webhook bodies in memory, for all calls together. */
  readonly bufferedBodyBytes: number
  /** Subscriptions to environments, and the number of messages buffered for reconnects. */
  readonly streams: { readonly wholeEnv: boolean; readonly replayMessages: number }
}

export type Variables = Readonly<Record<string, string | undefined>>

const MiB = 1024 * 1024

/** Maximum of a result: its run is on a page of its own, which is sent in one response. */
const resultBytesMax = 16 * MiB

/** Maximum of `WEFT_LINGER_MS`. Requests that arrive at its end still have time to finish. */
const lingerMsMax = 20_000

export const readSettings = (variables: Variables): Settings => {
  const known = new Set<string>()
  const text = (name: string): string | null => {
    known.add(name)
    return variables[name]?.trim() || null
  }
  const whole = (name: string, minimum: number, maximum = Number.MAX_SAFE_INTEGER): number | null => {
    const value = text(name)
    if (value === null) return null
    const number = /^\d+$/.test(value) ? Number(value) : Number.NaN
    if (!(number >= minimum && number <= maximum)) {
      throw new SettingError(name, `must be a whole number from ${minimum} to ${maximum}`)
    }
    return number
  }
  const mebibytes = (name: string, maximum: number): number | null => {
    const value = whole(name, 1, maximum)
    return value === null ? null : value * MiB
  }
  const flag = (name: string): boolean => isTrue(name, text(name) ?? "false")
  const token = (name: string) => optionalToken(name, text(name))
  const address = publicUrl(text("WEFT_PUBLIC_URL"))
  const total = whole("WEFT_LIMIT_DELIVERIES", 1, 100_000) ?? 4096
  const bodyBytes = whole("WEFT_LIMIT_BODY_BYTES", 1024) ?? 4 * MiB
  const backend = backendSettings(text, whole, wrong)
  const org = slug("WEFT_ORG", text("WEFT_ORG") ?? "default")
  if (isUuid(org)) wrong("WEFT_ORG", "must not have the form of a UUID")

  const settings: Settings = {
    host: text("WEFT_HOST") ?? "127.0.0.1",
    port: whole("WEFT_PORT", 0, 65_535) ?? 8787,
    dataDir: text("WEFT_DATA_DIR") ?? ".weft",
    ...backend,
    masterKey: masterKey(text("WEFT_MASTER_KEY")),
    previousMasterKeys: previousMasterKeys(text("WEFT_MASTER_KEY_PREVIOUS")),
    lostMasterKeys: lostMasterKeys(text("WEFT_MASTER_KEY_LOST")),
    newInstallation: flag("WEFT_NEW_INSTALLATION"),
    apiKey: secret(text("WEFT_API_KEY")),
    adminToken: token("WEFT_ADMIN_TOKEN"),
    metricsToken: token("WEFT_METRICS_TOKEN"),
    org,
    env: slug("WEFT_ENV", text("WEFT_ENV") ?? "production"),
    publicUrl: address,
    egressAllow: targets("WEFT_EGRESS_ALLOW", text("WEFT_EGRESS_ALLOW")),
    tcpSocketsPerRun: whole("WEFT_TCP_SOCKETS_PER_RUN", 0, 1000) ?? 0,
    egressTraceparent: targets("WEFT_EGRESS_TRACEPARENT", text("WEFT_EGRESS_TRACEPARENT")),
    tracing: tracingSettings(text, whole, wrong),
    domains: domainSettings(text, address, wrong),
    connections: connectionSettings(whole),
    audit: {
      days: whole("WEFT_LIMIT_AUDIT_DAYS", 1, 36_500) ?? 365,
      entries: whole("WEFT_LIMIT_AUDIT_ENTRIES", 1, 10_000_000) ?? 10_000
    },
    trustProxy: flag("WEFT_TRUST_PROXY"),
    mcp: mcpSettings(text, flag, wrong),
    console: isTrue("WEFT_CONSOLE", text("WEFT_CONSOLE") ?? "true"),
    consoleEmbeddedIn: readOrigins(text("WEFT_CONSOLE_EMBEDDED_IN"), (reason) =>
      wrong("WEFT_CONSOLE_EMBEDDED_IN", reason)
    ),
    sandbox: sandboxSettings(whole, mebibytes),
    deliveries: { total, perEnv: whole("WEFT_LIMIT_DELIVERIES_PER_ENV", 1, total) ?? Math.ceil(total / 4) },
    leaseMs: whole("WEFT_LIMIT_LEASE_MS", 1_000, 3_600_000),
    retentionMs: whole("WEFT_LIMIT_RETENTION_MS", 1_000),
    scrubBytesPerSecond: whole("WEFT_LIMIT_SCRUB_BYTES_PER_SECOND", 0),
    gitSha: text("WEFT_GIT_SHA"),
    lingerMs: whole("WEFT_LINGER_MS", 0, lingerMsMax) ?? 0,
    bodyBytes,
    bufferedBodyBytes: whole("WEFT_LIMIT_BUFFERED_BODY_BYTES", bodyBytes) ?? Math.max(256 * MiB, bodyBytes),
    streams: {
      wholeEnv: backend.pubSub.kind !== "none",
      replayMessages: whole("WEFT_LIMIT_REPLAY", 0, 1_000_000) ?? 10_000
    }
  }
  // All settings have been read: every other name is misspelt.
  const unknown = findUnknown(variables, known)
  if (unknown !== null) refuseUnknown(unknown, findNearest(unknown, known))
  return settings
}

const sandboxSettings = (
  whole: (name: string, minimum: number, maximum?: number) => number | null,
  mebibytes: (name: string, maximum: number) => number | null
): Settings["sandbox"] => ({
  limits: withoutNull({
    heapBytes: mebibytes("WEFT_SANDBOX_HEAP_MB", 4096),
    bufferBytes: mebibytes("WEFT_SANDBOX_BUFFER_MB", 4096),
    cpuSliceMs: whole("WEFT_SANDBOX_CPU_SLICE_MS", 10, 60_000),
    loadMs: whole("WEFT_SANDBOX_LOAD_MS", 100, 60_000),
    resultBytes: whole("WEFT_LIMIT_RESULT_BYTES", 1024, resultBytesMax),
    logBytes: whole("WEFT_LIMIT_LOG_BYTES", 1024),
    hostCallBytes: whole("WEFT_LIMIT_HOST_CALL_BYTES", 1024),
    archiveBytes: mebibytes("WEFT_LIMIT_BUILD_MB", 1024),
    unpackedBytes: mebibytes("WEFT_LIMIT_UNPACKED_MB", 4096)
  }),
  runners: whole("WEFT_SANDBOX_RUNNERS", 1, 256),
  runnerBytes: mebibytes("WEFT_SANDBOX_RUNNER_MB", 65_536)
})

const refuseUnknown = (name: string, nearest: string | null): never =>
  nearest === null
    ? wrong(name, "is not a setting; docs/settings.md lists all of them")
    : wrong(name, `is not a setting; did you mean ${nearest}?`)

const isTrue = (name: string, value: string): boolean =>
  value === "true" || (value !== "false" && wrong(name, "must be true or false"))

const optionalToken = (name: string, value: string | null): Redacted.Redacted<string> | null =>
  value === null ? null : hostToken(name, value)

const slug = (name: string, value: string): string =>
  Schema.is(Slug)(value)
    ? value
    : wrong(name, "must be 1 to 63 lowercase letters, digits and hyphens, without a hyphen at either end")

const secret = (value: string | null): Redacted.Redacted<string> | null =>
  value === null ? null : Redacted.make(value)

/** Checks the bearer token of a host's routes. */
export const hostToken = (name: string, value: string): Redacted.Redacted<string> =>
  isHostToken(value) ? Redacted.make(value) : wrong(name, "must be 16 to 512 visible ASCII characters without spaces")

const masterKey = (value: string | null): Redacted.Redacted<Uint8Array> | null => {
  if (value === null) return null
  return parseKey(value) ?? wrong("WEFT_MASTER_KEY", "must be 32 bytes in base64")
}

const previousMasterKeys = (value: string | null): ReadonlyArray<Redacted.Redacted<Uint8Array>> =>
  (value ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .map(
      (part) =>
        parseKey(part) ?? wrong("WEFT_MASTER_KEY_PREVIOUS", "must be a comma-separated list of 32-byte keys in base64")
    )

const lostMasterKeys = (value: string | null): ReadonlyArray<string> => {
  const ids = (value ?? "").split(",").map((id) => id.trim())
  const given = ids.filter((id) => id !== "")
  return given.every((id) => /^[0-9a-f]{16}$/.test(id))
    ? given
    : wrong("WEFT_MASTER_KEY_LOST", "must be a comma-separated list of key ids: 16 hexadecimal digits each")
}

/** Parses 32 bytes in Base64 or Base64url, the format of the file in the data dir. Returns null for other text. */
const parseKey = (text: string): Redacted.Redacted<Uint8Array> | null => {
  const bytes = Buffer.from(text, "base64")
  return bytes.length === 32 ? Redacted.make(new Uint8Array(bytes)) : null
}

const wrong = (name: string, reason: string): never => {
  throw new SettingError(name, reason)
}

const publicUrl = (value: string | null): string | null => {
  if (value === null) return null
  if (!URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol)) {
    throw new SettingError("WEFT_PUBLIC_URL", "must be an http or https URL")
  }
  return value.replace(/\/+$/, "")
}

const targets = (name: string, value: string | null): ReadonlyArray<string> => {
  const entries = (value ?? "").split(",").map((entry) => entry.trim())
  const given = entries.filter((entry) => entry !== "")
  return given.every((entry) => parseTarget(entry) !== null)
    ? given
    : wrong(
        name,
        "must be a comma-separated list of host names, addresses or CIDR blocks, such as db.internal:5432,10.1.0.0/16"
      )
}

const withoutNull = <K extends string>(values: Record<K, number | null>): Partial<Record<K, number>> => {
  const kept: Partial<Record<K, number>> = {}
  for (const name in values) {
    const value = values[name]
    if (value !== null) kept[name] = value
  }
  return kept
}
