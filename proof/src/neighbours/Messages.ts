/** Messages between the harness and its processes. */
import { Schema } from "effect"

/** The target of an attack, and the credentials of the attacker. */
export const AttackPlan = Schema.Struct({
  shape: Schema.String,
  url: Schema.String,
  /** API keys of the attacker's environments `attacker-1`, `attacker-2` and so on. */
  keys: Schema.Array(Schema.String),
  /** Process of the server, for shapes of the system. */
  serverPid: Schema.Int,
  /** Port of the attacker's own HTTP server; null for shapes without it. */
  upstreamPort: Schema.NullOr(Schema.Int)
})
export type AttackPlan = typeof AttackPlan.Type

export const AttackCommand = Schema.Union([
  Schema.Struct({ do: Schema.Literal("prepare"), plan: AttackPlan }),
  Schema.Struct({ do: Schema.Literal("attack"), seconds: Schema.Finite })
])

export const AttackReply = Schema.Union([
  Schema.Struct({ did: Schema.Literal("prepare") }),
  Schema.Struct({ did: Schema.Literal("attack"), answers: Schema.Record(Schema.String, Schema.Int) }),
  Schema.Struct({ did: Schema.Literal("fail"), reason: Schema.String })
])
export type AttackReply = typeof AttackReply.Type

export const InnocentCommand = Schema.Union([
  Schema.Struct({ do: Schema.Literal("start"), url: Schema.String, key: Schema.String }),
  Schema.Struct({ do: Schema.Literal("stop") })
])

/** One webhook of the innocent tenant. */
export const Sample = Schema.Struct({
  /** Time of sending, in milliseconds since 1970. */
  at: Schema.Finite,
  ms: Schema.Finite,
  /** Null for the right answer. */
  fault: Schema.NullOr(Schema.String)
})
export type Sample = typeof Sample.Type

/** One event that the innocent tenant published. */
export const Published = Schema.Struct({
  n: Schema.Int,
  at: Schema.Finite,
  /** Null if the event was not acknowledged. */
  event_id: Schema.NullOr(Schema.String),
  fault: Schema.NullOr(Schema.String)
})
export type Published = typeof Published.Type

export const InnocentReport = Schema.Struct({
  samples: Schema.Array(Sample),
  events: Schema.Array(Published),
  /** Maximum delay of the client's own event loop, in milliseconds. */
  clientLagMs: Schema.Finite
})
export type InnocentReport = typeof InnocentReport.Type
