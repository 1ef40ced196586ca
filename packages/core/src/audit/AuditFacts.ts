/** Entries of the audit log, made from what is known where an action takes place. */
import { Effect, Option } from "effect"
import { Caller, type Identity } from "../access/Caller.ts"
import { AuditId, type EnvId, freshIds } from "../ids/Ids.ts"
import { JsonText } from "../ids/JsonText.ts"
import { now } from "../ids/Timestamp.ts"
import { type AuditAction, AuditEntry } from "./AuditEntry.ts"
import { CurrentOrigin, type Origin } from "./Origin.ts"

export type AuditDetail = string | number | boolean | null | Readonly<Record<string, ReadonlyArray<string>>>

/** What was done, to what. */
export interface AuditFacts {
  readonly action: AuditAction
  /** The caller's when left out. */
  readonly env_id?: EnvId | null
  readonly object_id?: string
  readonly object_name?: string
  /** What is undefined is left out. */
  readonly details?: Readonly<Record<string, AuditDetail | undefined>>
}

/** Room for a map of some dozens of permissions; a larger one is said to be there and no more. */
const detailLengthMax = 2048

/** Of IPv6 with a zone. */
const addressLengthMax = 64

/** JSON text of the details that are there, each within its bound. */
export const detailsText = (details: AuditFacts["details"] = {}): JsonText =>
  JsonText.make(
    JSON.stringify(
      Object.fromEntries(
        Object.entries(details).flatMap(([name, value]) => {
          if (value === undefined) return []
          return [[name, JSON.stringify(value).length <= detailLengthMax ? value : "too large for the log"]]
        })
      )
    )
  )

type Actor = Pick<AuditEntry, "actor_type" | "actor_id" | "actor_api_key_id">

export const actorOf = (caller: Identity | null, origin: Pick<Origin, "isAdmin">): Actor =>
  caller === null
    ? { actor_type: origin.isAdmin ? "admin" : "host", actor_id: null, actor_api_key_id: null }
    : { actor_type: caller.type, actor_id: caller.id, actor_api_key_id: caller.parent ?? null }

/** What of a request goes into an entry. */
export const originOf = (origin: Origin): Pick<AuditEntry, "request_id" | "address"> => ({
  request_id: origin.id === "" ? null : origin.id,
  address: origin.address()?.slice(0, addressLengthMax) ?? null
})

/** Makes entries of what is done here and now, by whoever does it. */
export const makeEntries = Effect.map(freshIds, (freshId) =>
  Effect.gen(function* () {
    const caller = Option.getOrNull(yield* Effect.serviceOption(Caller))
    const origin = yield* CurrentOrigin
    const base = {
      audit_id: yield* freshId(AuditId),
      outcome: "done" as const,
      count: 1,
      ...actorOf(caller, origin),
      ...originOf(origin),
      created_at: yield* now
    }
    return ({ action, env_id, object_id, object_name, details }: AuditFacts): AuditEntry =>
      new AuditEntry({
        ...base,
        action,
        env_id: env_id === undefined ? (caller?.env_id ?? null) : env_id,
        object_id: object_id ?? null,
        object_name: object_name ?? null,
        details: detailsText(details)
      })
  })
)
