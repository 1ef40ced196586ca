/** Options for the database of a host. */
import { Redacted, Schema } from "effect"

export interface PostgresOptions {
  /** `postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=…`, as libpq reads it. */
  readonly url: string | Redacted.Redacted<string>
  /** The schema for Weft's tables, `weft` by default. Lower case letters, digits and `_`. Created if it does not exist. */
  readonly schema?: string
  /** Maximum connections of this node, 10 by default. One more listens for notifications of other nodes. */
  readonly connections?: number
  /** Maximum duration of a statement in milliseconds, 15,000 by default. */
  readonly statementTimeoutMs?: number
  /**
   * Length of a partition of runs and events in whole days, 7 by default. Old runs are removed by whole partitions.
   * Every partition adds a little cost to queries without a time range, so keep their number below some hundreds.
   */
  readonly partitionDays?: number
}

/** The options are invalid, or the database cannot be reached or migrated at start. */
export class PostgresUnusable extends Schema.TaggedError<PostgresUnusable>()("PostgresUnusable", {
  /** The cause, without the URL, which has a password. */
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
  /** Maximum statements of different fibers that share a connection. Each waits for those before it. */
  readonly statementsPerConnection: number
  readonly statementTimeoutMs: number
  readonly partitionDays: number
  /** True if statements process whole tables, so that the planner settings for small statements do not apply. */
  readonly wholeTables: boolean
}

const defaults = { schema: "weft", connections: 10, statementTimeoutMs: 15_000, partitionDays: 7 }

/** Minimum connections: one for commits, one for claims, one for reads. */
const connectionsMin = 3

const partitionDaysMax = 366

export const resolve = (options: PostgresOptions): Resolved | PostgresUnusable => {
  const { schema = defaults.schema, connections = defaults.connections } = options
  const { statementTimeoutMs = defaults.statementTimeoutMs, partitionDays = defaults.partitionDays } = options
  const url = Redacted.isRedacted(options.url) ? options.url : Redacted.make(options.url)
  if (!/^postgres(ql)?:\/\//.test(Redacted.value(url))) return invalid("url must begin with postgres://")
  if (!/^[a-z_][a-z0-9_]{0,47}$/.test(schema)) {
    return invalid(`schema must be 1 to 48 lower case letters, digits and _ (got "${schema}")`)
  }
  if (!(Number.isInteger(connections) && connections >= connectionsMin)) {
    return invalid(`connections must be a whole number of at least ${connectionsMin} (got ${connections})`)
  }
  if (!(Number.isInteger(statementTimeoutMs) && statementTimeoutMs >= 100)) {
    return invalid(`statementTimeoutMs must be a whole number of at least 100 (got ${statementTimeoutMs})`)
  }
  if (!(Number.isInteger(partitionDays) && partitionDays >= 1 && partitionDays <= partitionDaysMax)) {
    return invalid(`partitionDays must be a whole number from 1 to ${partitionDaysMax} (got ${partitionDays})`)
  }
  return { url, schema, connections, statementsPerConnection: 1, statementTimeoutMs, partitionDays, wholeTables: false }
}

/** Returns options for the readers: a third of the connections. Reads share connections, as none waits for the disk. */
export const readerOptions = (options: Resolved): Resolved => ({
  ...options,
  connections: Math.max(1, Math.floor(options.connections / 3)),
  statementsPerConnection: 4
})

/** Returns options for the writers: the other connections, unshared so that concurrent commits do not wait. */
export const writerOptions = (options: Resolved): Resolved => ({
  ...options,
  connections: options.connections - readerOptions(options).connections
})

const invalid = (reason: string) => new PostgresUnusable({ reason })
