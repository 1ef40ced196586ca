/** Messages between a crash test and its server. */
import type { Trigger } from "./Points.ts"

export interface ServerOptions {
  readonly dataDir: string
  /** URL of PostgreSQL; null for SQLite in the data directory. */
  readonly databaseUrl: string | null
  readonly apiKey: string
  readonly adminToken: string
  /** Master keys in base64; the first one encrypts. */
  readonly masterKeys: readonly [string, ...ReadonlyArray<string>]
  /** A trigger at a point of the start, or null. */
  readonly trigger: Trigger | null
  /** Retention of runs in days; -1 for no limit. */
  readonly retentionDays: number
}

/** Messages to the server. */
export type Command =
  | { readonly kind: "setTrigger"; readonly trigger: Trigger | null }
  | { readonly kind: "takePassed" }
  | { readonly kind: "resume" }
  | { readonly kind: "close" }

/** Messages from the server. */
export type Message =
  | { readonly kind: "listening"; readonly url: string }
  | { readonly kind: "triggerSet" }
  | { readonly kind: "points"; readonly points: ReadonlyArray<ReadonlyArray<string>> }
  /** The trigger has fired, and the process continues or is paused. */
  | { readonly kind: "reached" }
