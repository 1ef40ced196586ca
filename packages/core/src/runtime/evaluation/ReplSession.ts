/** A session in memory, and the pure rules about its end. */
import { Deferred, Schema } from "effect"
import type { EnvId, ReplId } from "../../foundation/Ids.ts"
import { addMillis, type Timestamp } from "../../foundation/time/Timestamp.ts"
import type { Outcome } from "../../platform/sandbox/Outcome.ts"
import type { BundleRef } from "../../platform/sandbox/Sandbox.ts"
import type { Build } from "../../resources/builds/Build.ts"
import type { Identity } from "../../tenants/access/Caller.ts"

/** Idle time after which a session ends, in milliseconds. */
const idleMs = 10 * 60 * 1000
/** Maximum age of a session, in milliseconds. */
const lifetimeMs = 4 * 60 * 60 * 1000

/** A session as its caller sees it. */
export interface ReplRecord {
  readonly repl_id: ReplId
  readonly env_id: EnvId
  /** Project of the build of its context; null without one. */
  readonly project_name: string | null
  readonly build_id: string | null
  readonly created_at: Timestamp
  /** Time at which it ends, unless an input comes first. */
  readonly expires_at: Timestamp
  /** Number of inputs so far. */
  readonly inputs: number
  readonly busy: boolean
}

export class ReplSession {
  readonly id: ReplId
  readonly envId: EnvId
  /** Key of the credential that opened it. */
  readonly owner: string
  readonly build: Build | null
  readonly bundle: BundleRef
  readonly createdAt: Timestamp
  /** Completed when the session ends, with the reason. */
  readonly ended = Deferred.makeUnsafe<string>()
  usedAt: Timestamp
  inputs = 0
  isBusy = false

  constructor(id: ReplId, caller: Identity, build: Build | null, bundle: BundleRef, now: Timestamp) {
    this.id = id
    this.envId = caller.env_id
    this.owner = ownerOf(caller)
    this.build = build
    this.bundle = bundle
    this.createdAt = now
    this.usedAt = now
  }

  get expiresAt(): Timestamp {
    const idle = addMillis(this.usedAt, idleMs)
    const oldest = addMillis(this.createdAt, lifetimeMs)
    return idle < oldest ? idle : oldest
  }

  /** True if the caller opened it. */
  isOf(caller: Identity): boolean {
    return this.envId === caller.env_id && this.owner === ownerOf(caller)
  }

  toRecord(): ReplRecord {
    return {
      repl_id: this.id,
      env_id: this.envId,
      project_name: this.build?.project_name ?? null,
      build_id: this.build?.build_id ?? null,
      created_at: this.createdAt,
      expires_at: this.expiresAt,
      inputs: this.inputs,
      busy: this.isBusy
    }
  }
}

/** Returns the key of a credential in its environment. */
const ownerOf = ({ type, id }: Identity): string => `${type}:${id ?? ""}`

/** Returns why a session ends at the time; null if it continues. */
export const findExpiry = (session: ReplSession, now: Timestamp): string | null => {
  if (session.isBusy) return null
  if (now >= session.createdAt + lifetimeMs) return `it was open for ${lifetimeMs / 3_600_000} hours`
  return now >= session.usedAt + idleMs ? `it was idle for ${idleMs / 60_000} minutes` : null
}

const Lost = Schema.Struct({ lost: Schema.Literal(true) })
const Evaluated = Schema.Struct({ text: Schema.String, json: Schema.NullOr(Schema.String) })

const decodeInput = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Union([Lost, Evaluated])))

const Completion = Schema.Struct({ from: Schema.Int, candidates: Schema.Array(Schema.String) })
export type Completion = typeof Completion.Type

const decodeCompletion = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Union([Lost, Completion])))

/** An input at its end. */
export interface InputEnd {
  readonly outcome: Outcome
  /** Formatted result; empty without one. */
  readonly text: string
  /** Reason for the end of the session; null if it continues. */
  readonly ended: string | null
}

/** Reason for the loss of an isolate between two inputs. */
export const lostReason = "its memory was needed or its process ended"

/** Converts the outcome of the session's program to that of the input. The code of inputs may have changed the program. */
export const toInputEnd = (outcome: Outcome): InputEnd => {
  switch (outcome._tag) {
    case "Returned": {
      const decoded = decodeInput(outcome.output)
      if (decoded._tag === "None" || "lost" in decoded.value)
        return lostEnd(decoded._tag === "None" ? "its code changed the program of the session" : lostReason)
      const { text, json } = decoded.value
      if (json !== null && !isJson(json)) return lostEnd("its code changed the program of the session")
      return { outcome: { _tag: "Returned", output: json ?? "null" }, text, ended: null }
    }
    case "CpuExhausted":
      return { outcome, text: "", ended: `an input computed for more than ${outcome.limitMs} ms without a pause` }
    case "OutOfMemory":
      return { outcome, text: "", ended: "an input exceeded the memory of the session" }
    case "RunnerLost":
      return { outcome, text: "", ended: lostReason }
    default:
      return { outcome, text: "", ended: null }
  }
}

const lostEnd = (ended: string): InputEnd => ({
  outcome: { _tag: "RunnerLost", message: `The session ended with its variables: ${ended}` },
  text: "",
  ended
})

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Returns the completion of an outcome; null if the session is lost or has no answer. */
export const toCompletion = (outcome: Outcome): Completion | null => {
  if (outcome._tag !== "Returned") return null
  const decoded = decodeCompletion(outcome.output)
  return decoded._tag === "None" || "lost" in decoded.value ? null : decoded.value
}
