/** What a host says of its database. */
import { Redacted, Schema } from "effect"

export interface PostgresOptions {
  /** `postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=…`, as libpq reads it. */
  readonly url: string | Redacted.Redacted<string>
  /** The schema that has Weft's tables, made where it is missing; default `weft`. Lower case letters, digits, `_`. */
  readonly schema?: string
  /** Connections of this node at most; default 10. One more listens to the other nodes. */
  readonly connections?: number
  /** How long a statement may take before it is given up, in milliseconds; default 15 s. */
  readonly statementTimeoutMs?: number
  /**
   * How much time one partition of the runs and events spans, in whole days; default 7. Old runs are removed by whole
   * partitions. Each costs every question about runs of any time a little: at most some hundred should exist.
   */
  readonly partitionDays?: number
}

/** The options cannot be used, or the database cannot be reached or brought up to date at start. */
export class PostgresUnusable extends Schema.TaggedError<PostgresUnusable>()("PostgresUnusable", {
  /** What was tried; never the URL, which has a password. */
  reason: Schema.String
}) {
  override get message(): string {
    return `The PostgreSQL database cannot be used: ${this.reason}`
  }
}

export interface Resolved {
  readonly url: Redacted.Redacted<string>
  readonly schema: string
  readonly connections: number
  /** Statements of different fibers that share a connection at most: each waits for those before it. */
  readonly sharing: number
  readonly statementTimeoutMs: number
  readonly partitionDays: number
  /** Whether statements are about whole tables. */
  readonly wholeTables: boolean
}

const defaults = { schema: "weft", connections: 10, statementTimeoutMs: 15_000, partitionDays: 7 }

/** At least one for what commits, one for a claim, one for what is read. */
const connectionsMin = 3

const partitionDaysMax = 366

export const resolve = (options: PostgresOptions): Resolved | PostgresUnusable => {
  const { schema = defaults.schema, connections = defaults.connections } = options
  const { statementTimeoutMs = defaults.statementTimeoutMs, partitionDays = defaults.partitionDays } = options
  const url = Redacted.isRedacted(options.url) ? options.url : Redacted.make(options.url)
  if (!/^postgres(ql)?:\/\//.test(Redacted.value(url))) return refuse("url must begin with postgres://")
  if (!/^[a-z_][a-z0-9_]{0,47}$/.test(schema)) return refuse("schema must be 1 to 48 lower case letters, digits and _")
  if (!(Number.isInteger(connections) && connections >= connectionsMin)) {
    return refuse(`connections must be a whole number of at least ${connectionsMin}`)
  }
  if (!(Number.isInteger(statementTimeoutMs) && statementTimeoutMs >= 100)) {
    return refuse("statementTimeoutMs must be a whole number of at least 100")
  }
  if (!(Number.isInteger(partitionDays) && partitionDays >= 1 && partitionDays <= partitionDaysMax)) {
    return refuse(`partitionDays must be a whole number from 1 to ${partitionDaysMax}`)
  }
  return { url, schema, connections, sharing: 1, statementTimeoutMs, partitionDays, wholeTables: false }
}

/** A third of the connections, for what is only read. Many such statements share one: none waits for the disk. */
export const ofReaders = (options: Resolved): Resolved => ({
  ...options,
  connections: Math.max(1, Math.floor(options.connections / 3)),
  sharing: 4
})

/** The other connections. Commits that are under way at once must not wait for each other. */
export const ofWriters = (options: Resolved): Resolved => ({
  ...options,
  connections: options.connections - ofReaders(options).connections
})

const refuse = (reason: string) => new PostgresUnusable({ reason })
