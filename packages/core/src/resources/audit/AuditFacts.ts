/** Creates entries of the audit log from an action, the current caller and the current request. */
import { Effect, Option } from "effect"
import { AuditId, type EnvId, freshIds } from "../../foundation/Ids.ts"
import { JsonText } from "../../foundation/JsonText.ts"
import { now } from "../../foundation/time/Timestamp.ts"
import { Caller, type Identity } from "../../tenants/access/Caller.ts"
import { type AuditAction, AuditEntry } from "./AuditEntry.ts"
import { CurrentOrigin, type Origin } from "./Origin.ts"

export type AuditDetail = string | number | boolean | null | Readonly<Record<string, ReadonlyArray<string>>>

/** An action and its object. */
export interface AuditFacts {
  readonly action: AuditAction
  /** Environment of the action; that of the caller by default. */
  readonly env_id?: EnvId | null
  readonly object_id?: string
  readonly object_name?: string
  /** Undefined values are omitted. */
  readonly details?: Readonly<Record<string, AuditDetail | undefined>>
}

/** Maximum characters of a detail as JSON, enough for some dozens of permissions. A larger value is replaced by a note. */
const detailLengthMax = 2048

/** Maximum characters of an address, enough for IPv6 with a zone. */
const addressLengthMax = 64

/** Returns the JSON text of the defined details. */
export const formatDetails = (details: AuditFacts["details"] = {}): JsonText =>
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

export const toActor = (caller: Identity | null, origin: Pick<Origin, "isAdmin">): Actor =>
  caller === null
    ? { actor_type: origin.isAdmin ? "admin" : "host", actor_id: null, actor_api_key_id: null }
    : { actor_type: caller.type, actor_id: caller.id, actor_api_key_id: caller.parent ?? null }

/** Returns the fields of an entry that describe the request. */
export const toOriginFields = (origin: Origin): Pick<AuditEntry, "request_id" | "address"> => ({
  request_id: origin.id === "" ? null : origin.id,
  address: origin.address()?.slice(0, addressLengthMax) ?? null
})

/** Returns a function that creates entries for the current caller, request and time. */
export const makeEntries = Effect.map(freshIds, (freshId) =>
  Effect.gen(function* () {
    const caller = Option.getOrNull(yield* Effect.serviceOption(Caller))
    const origin = yield* CurrentOrigin
    const base = {
      audit_id: yield* freshId(AuditId),
      outcome: "done" as const,
      count: 1,
      ...toActor(caller, origin),
      ...toOriginFields(origin),
      created_at: yield* now
    }
    return ({ action, env_id, object_id, object_name, details }: AuditFacts): AuditEntry =>
      new AuditEntry({
        ...base,
        action,
        env_id: env_id === undefined ? (caller?.env_id ?? null) : env_id,
        object_id: object_id ?? null,
        object_name: object_name ?? null,
        details: formatDetails(details)
      })
  })
)
