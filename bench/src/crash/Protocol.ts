/** What is said between a server that may be told to die and whoever tells it. */
import type { Order } from "./Points.ts"

export interface ServerOptions {
  readonly dataDir: string
  /** Of a PostgreSQL; null for SQLite in the data dir. */
  readonly databaseUrl: string | null
  readonly apiKey: string
  readonly adminToken: string
  /** In base64; the first one seals. */
  readonly masterKeys: readonly [string, ...ReadonlyArray<string>]
  /** For a point that is passed at start; else null. */
  readonly order: Order | null
  /** How long runs are kept; -1 for ever. */
  readonly retentionDays: number
}

/** To the server. */
export type Command =
  | { readonly kind: "order"; readonly order: Order | null }
  | { readonly kind: "passed" }
  | { readonly kind: "goOn" }
  | { readonly kind: "close" }

/** From the server. */
export type Message =
  | { readonly kind: "listening"; readonly url: string }
  /** The order is taken; whether there was one before it that is not carried out. */
  | { readonly kind: "ordered"; readonly wasLeft: boolean }
  | { readonly kind: "points"; readonly points: ReadonlyArray<string> }
  | { readonly kind: "paused" }
