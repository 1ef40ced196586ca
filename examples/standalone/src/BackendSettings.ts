/** Settings of the database, the blob store, and the cluster bus. */
import type { S3Options } from "@weft/s3"
import { parseUrl } from "@weft/s3/url"
import { Redacted, Result } from "effect"

export type DatabaseSettings =
  | {
      readonly kind: "sqlite"
      /** Null for the default file in the data dir. */
      readonly file: string | null
    }
  | {
      readonly kind: "postgres"
      readonly url: Redacted.Redacted<string>
      /** Maximum connections of this node; null for the adapter's default. */
      readonly connections: number | null
      /** Time limit of a statement, in milliseconds; null for the adapter's default. */
      readonly timeoutMs: number | null
    }

export type StorageSettings =
  | {
      readonly kind: "file"
      /** Null for the default folder in the data dir. */
      readonly dir: string | null
    }
  | { readonly kind: "s3"; readonly options: S3Options }

export type PubSubSettings =
  | {
      /** `postgres`: LISTEN and NOTIFY of the database. `none`: subscriptions to environments are disabled. */
      readonly kind: "memory" | "postgres" | "none"
    }
  | {
      readonly kind: "nats"
      /** Comma-separated URLs. */
      readonly servers: Redacted.Redacted<string>
      /** Prefix of subjects; null for the adapter's default. */
      readonly prefix: string | null
    }

export interface BackendSettings {
  readonly database: DatabaseSettings
  readonly storage: StorageSettings
  readonly pubSub: PubSubSettings
}

type Refuse = (name: string, reason: string) => never

export const backendSettings = (
  text: (name: string) => string | null,
  whole: (name: string, minimum: number, maximum?: number) => number | null,
  refuse: Refuse
): BackendSettings => {
  const limits = {
    connections: whole("WEFT_DATABASE_CONNECTIONS", 3, 1000),
    timeoutMs: whole("WEFT_DATABASE_TIMEOUT_MS", 100, 600_000)
  }
  const database = databaseSettings(text("WEFT_DATABASE_URL"), limits, refuse)
  return {
    database,
    storage: storageSettings(text("WEFT_STORAGE_URL"), refuse),
    pubSub: pubSubSettings(text("WEFT_PUBSUB"), database, refuse)
  }
}

interface PostgresLimits {
  readonly connections: number | null
  readonly timeoutMs: number | null
}

const databaseSettings = (value: string | null, limits: PostgresLimits, refuse: Refuse): DatabaseSettings => {
  const scheme = schemeOf(value)
  if (value !== null && (scheme === "postgres" || scheme === "postgresql")) {
    const isWhole = URL.canParse(value) && new URL(value).hostname !== ""
    return isWhole
      ? { kind: "postgres", url: Redacted.make(value), ...limits }
      : refuse("WEFT_DATABASE_URL", "must be postgres://USER:PASSWORD@HOST:PORT/DATABASE")
  }
  if (limits.connections !== null) refuse("WEFT_DATABASE_CONNECTIONS", "applies only to a postgres:// database")
  if (limits.timeoutMs !== null) refuse("WEFT_DATABASE_TIMEOUT_MS", "applies only to a postgres:// database")
  const file = value === null ? null : pathOf(value, "sqlite")
  return file === ""
    ? refuse("WEFT_DATABASE_URL", "must be sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE")
    : { kind: "sqlite", file }
}

const storageSettings = (value: string | null, refuse: Refuse): StorageSettings => {
  if (value !== null && schemeOf(value) === "s3") {
    const options = Result.getOrElse(parseUrl(Redacted.make(value)), (problem) => refuse("WEFT_STORAGE_URL", problem))
    return { kind: "s3", options }
  }
  const dir = value === null ? null : pathOf(value, "file")
  return dir === ""
    ? refuse("WEFT_STORAGE_URL", "must be file:PATH or s3://ACCESS:SECRET@HOST:PORT/BUCKET")
    : { kind: "file", dir }
}

const pubSubSettings = (value: string | null, { kind: database }: DatabaseSettings, refuse: Refuse): PubSubSettings => {
  const kind = value ?? (database === "postgres" ? "postgres" : "memory")
  if (kind === "postgres" && database !== "postgres") {
    refuse("WEFT_PUBSUB", "can be postgres only with a postgres:// database")
  }
  if (kind === "memory" || kind === "postgres" || kind === "none") return { kind }
  return natsSettings(kind) ?? refuse("WEFT_PUBSUB", "must be memory, postgres, none or nats://HOST:PORT/PREFIX")
}

/** Parses a list of NATS servers, the first with the prefix as its path. Returns null for other text. */
const natsSettings = (value: string): PubSubSettings | null => {
  const servers = value.split(",").map((server) => URL.parse(server.trim()))
  const isNats = (url: URL | null) => url !== null && /^(nats|tls):$/.test(url.protocol) && url.hostname !== ""
  const prefix = servers[0]?.pathname.replace(/^\//, "") ?? ""
  if (!servers.every(isNats) || !/^([A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*)?$/.test(prefix)) return null
  return { kind: "nats", servers: Redacted.make(value), prefix: prefix === "" ? null : prefix }
}

const schemeOf = (value: string | null): string => /^[a-z0-9+.-]*(?=:)/i.exec(value ?? "")?.[0].toLowerCase() ?? ""

/** Returns the path of `scheme:PATH`; empty without a path, or for another scheme. */
const pathOf = (value: string, scheme: string): string =>
  value.startsWith(`${scheme}:`) ? value.slice(scheme.length + 1).replace(/^\/\/(?=\/)/, "") : ""
