/** What the conditions in a function's `meta` say of one event (decisions 5.1). */
import { Effect } from "effect"
import { Digest } from "effect/crypto"
import type { Match } from "../builds/Deployments.ts"
import type { Event } from "../events/Event.ts"
import { fieldAt, fieldText } from "../events/EventField.ts"
import { utf8Encode } from "../ids/Utf8.ts"
import type { Delivery } from "./Delivery.ts"

/** Characters of a key. It is stored with every delivery, and what tenants put into events may be megabytes. */
const keyLengthMax = 200

export interface Conditions {
  /** The runs that a function's concurrency limits together; null: there is no limit. */
  readonly group: (event: Event, match: Match) => Effect.Effect<Delivery["group"]>
  /** What the function's idempotency goes by: the same key for the same value; null: there is none. */
  readonly onceKey: (event: Event, match: Match) => Effect.Effect<string | null>
}

export const makeConditions: Effect.Effect<Conditions, never, Digest.Digest> = Effect.map(
  Digest.Digest,
  (digest): Conditions => {
    const bounded = (key: string) =>
      key.length <= keyLengthMax
        ? Effect.succeed(key)
        : Effect.map(digest.digestHex(Digest.sha256, utf8Encode(key)), (hash) => `sha256:${hash}`)

    return {
      group: (event, match) => {
        const { concurrency } = match.handler
        if (concurrency === null) return noGroup
        const { limit, key } = concurrency
        const name = nameOf(match)
        return key === null
          ? Effect.succeed({ key: name, limit })
          : Effect.map(bounded(`${name}#${fieldText(event.event_data, key)}`), (bound) => ({ key: bound, limit }))
      },

      onceKey: (event, match) => {
        const { idempotency } = match.handler
        if (idempotency === null) return noKey
        const value = fieldAt(event.event_data, idempotency) ?? null
        return value === null ? noKey : bounded(`handler:${nameOf(match)}#${JSON.stringify(value)}`)
      }
    }
  }
)

const noGroup = Effect.succeed(null)
const noKey = Effect.succeed(null)

const nameOf = ({ build, handler }: Match): string => `${build.project_id}/${handler.ns}/${handler.var}`
