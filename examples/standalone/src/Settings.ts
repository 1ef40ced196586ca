/** The settings of the reference server: environment variables, all optional. The table is docs/settings.md. */
import { isUuid, type Limits, pageBytesMax, parseTarget, Slug } from "@weft/core"
import { Redacted, Schema } from "effect"
import { type BackendSettings, backendSettings } from "./BackendSettings.ts"
import { type ConnectionSettings, connectionSettings } from "./ConnectionSettings.ts"
import { type DomainSettings, domainSettings } from "./DomainSettings.ts"
import { type TracingSettings, tracingSettings } from "./TracingSettings.ts"

/** A wrong setting: one line that names the variable and what it may be, never its value. */
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
  /** 32 bytes, or null for the one in the data dir. */
  readonly masterKey: Redacted.Redacted<Uint8Array> | null
  /** Former master keys, which still open what they sealed. */
  readonly previousMasterKeys: ReadonlyArray<Redacted.Redacted<Uint8Array>>
  readonly apiKey: Redacted.Redacted<string> | null
  /** Null for the one in the data dir. */
  readonly adminToken: Redacted.Redacted<string> | null
  /** Of `/metrics`, `/healthz` and `/readyz`; null leaves them open. */
  readonly metricsToken: Redacted.Redacted<string> | null
  readonly org: string
  readonly env: string
  readonly publicUrl: string | null
  /** What functions may reach besides public addresses: see `EgressPolicy.allow`. */
  readonly egressAllow: ReadonlyArray<string>
  /** Whom functions' requests tell which trace they belong to: see `EgressPolicy.traceparent`. */
  readonly egressTraceparent: ReadonlyArray<string>
  /** Null: nothing is traced. */
  readonly tracing: TracingSettings | null
  readonly domains: DomainSettings
  readonly connections: ConnectionSettings
  readonly audit: { readonly days: number; readonly entries: number }
  /** Whether `X-Forwarded-Host` says what host a request is for, and `X-Forwarded-For` who it is of. */
  readonly trustProxy: boolean
  readonly sandbox: {
    readonly limits: Partial<Limits>
    readonly runners: number | null
    readonly runnerBytes: number | null
  }
  /** Deliveries in flight at once, and for one environment. */
  readonly deliveries: { readonly total: number; readonly perEnv: number }
  /** How long other nodes wait before they take this one for dead; null for what Weft does by itself. */
  readonly leaseMs: number | null
  /** How long ended runs are kept at most; null for what their plan says. */
  readonly retentionMs: number | null
  /** Of the sources that it was built from, as `/v1/status` and `weft_build_info` tell; null for one that nobody told. */
  readonly gitSha: string | null
  /** How long new requests are still answered when the server ends. */
  readonly lingerMs: number
  readonly bodyBytes: number
  /** Of webhooks' bodies in memory, of all calls together. */
  readonly heldBodyBytes: number
  /** Messages that are kept for clients that come back, and whether there is pub/sub. */
  readonly streams: { readonly wholeEnv: boolean; readonly replayMessages: number }
}

export type Variables = Readonly<Record<string, string | undefined>>

const MiB = 1024 * 1024

/** A page of runs has room for one with any result. */
const resultBytesMax = pageBytesMax / 2

/** Leaves requests that come at its end some time to finish. */
const lingerMsMax = 20_000

export const readSettings = (variables: Variables): Settings => {
  const text = (name: string): string | null => variables[name]?.trim() || null
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
  const slug = (name: string, fallback: string): string => {
    const value = text(name) ?? fallback
    if (!Schema.is(Slug)(value)) {
      throw new SettingError(
        name,
        "must be 1 to 63 lowercase letters, digits and hyphens, and begin and end with no hyphen"
      )
    }
    return value
  }
  const flag = (name: string): boolean => {
    const value = text(name) ?? "false"
    return value === "true" || (value !== "false" && wrong(name, "must be true or false"))
  }
  const address = publicUrl(text("WEFT_PUBLIC_URL"))
  const total = whole("WEFT_LIMIT_DELIVERIES", 1, 100_000) ?? 4096
  const bodyBytes = whole("WEFT_LIMIT_BODY_BYTES", 1024) ?? 4 * MiB
  const backend = backendSettings(text, whole, wrong)
  const org = slug("WEFT_ORG", "default")
  if (isUuid(org)) wrong("WEFT_ORG", "must not be shaped like a UUID")

  return {
    host: text("WEFT_HOST") ?? "127.0.0.1",
    port: whole("WEFT_PORT", 0, 65_535) ?? 8787,
    dataDir: text("WEFT_DATA_DIR") ?? ".weft",
    ...backend,
    masterKey: masterKey(text("WEFT_MASTER_KEY")),
    previousMasterKeys: previousMasterKeys(text("WEFT_MASTER_KEY_PREVIOUS")),
    apiKey: secret(text("WEFT_API_KEY")),
    adminToken: secret(text("WEFT_ADMIN_TOKEN")),
    metricsToken: secret(text("WEFT_METRICS_TOKEN")),
    org,
    env: slug("WEFT_ENV", "production"),
    publicUrl: address,
    egressAllow: targets("WEFT_EGRESS_ALLOW", text("WEFT_EGRESS_ALLOW")),
    egressTraceparent: targets("WEFT_EGRESS_TRACEPARENT", text("WEFT_EGRESS_TRACEPARENT")),
    tracing: tracingSettings(text, whole, wrong),
    domains: domainSettings(text, address, wrong),
    connections: connectionSettings(whole),
    audit: {
      days: whole("WEFT_LIMIT_AUDIT_DAYS", 1, 36_500) ?? 365,
      entries: whole("WEFT_LIMIT_AUDIT_ENTRIES", 1, 10_000_000) ?? 10_000
    },
    trustProxy: flag("WEFT_TRUST_PROXY"),
    sandbox: {
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
    },
    deliveries: { total, perEnv: whole("WEFT_LIMIT_DELIVERIES_PER_ENV", 1, total) ?? Math.ceil(total / 4) },
    leaseMs: whole("WEFT_LIMIT_LEASE_MS", 1_000, 3_600_000),
    retentionMs: whole("WEFT_LIMIT_RETENTION_MS", 1_000),
    gitSha: text("WEFT_GIT_SHA"),
    lingerMs: whole("WEFT_LINGER_MS", 0, lingerMsMax) ?? 0,
    bodyBytes,
    heldBodyBytes: whole("WEFT_LIMIT_HELD_BODY_BYTES", bodyBytes) ?? Math.max(256 * MiB, bodyBytes),
    streams: {
      wholeEnv: backend.pubSub.kind !== "none",
      replayMessages: whole("WEFT_LIMIT_REPLAY", 0, 1_000_000) ?? 10_000
    }
  }
}

const secret = (value: string | null): Redacted.Redacted<string> | null =>
  value === null ? null : Redacted.make(value)

const masterKey = (value: string | null): Redacted.Redacted<Uint8Array> | null => {
  if (value === null) return null
  return keyOf(value) ?? wrong("WEFT_MASTER_KEY", "must be 32 bytes in base64")
}

const previousMasterKeys = (value: string | null): ReadonlyArray<Redacted.Redacted<Uint8Array>> =>
  (value ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .map(
      (part) =>
        keyOf(part) ?? wrong("WEFT_MASTER_KEY_PREVIOUS", "must be keys of 32 bytes in base64, with commas between")
    )

/** Base64 or Base64url, as in the file of the data dir. */
const keyOf = (text: string): Redacted.Redacted<Uint8Array> | null => {
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
    : wrong(name, "must be host names, addresses or blocks of them, such as db.internal:5432,10.1.0.0/16")
}

const withoutNull = <K extends string>(values: Record<K, number | null>): Partial<Record<K, number>> => {
  const kept: Partial<Record<K, number>> = {}
  for (const name in values) {
    const value = values[name]
    if (value !== null) kept[name] = value
  }
  return kept
}
