/** Concurrency groups and idempotency keys of deliveries, from a function's `meta` (decisions 5.1). */
import { Effect } from "effect"
import { Digest } from "effect/crypto"
import { utf8Encode } from "../../foundation/Utf8.ts"
import type { Match } from "../../resources/builds/Deployments.ts"
import type { Event } from "../events/Event.ts"
import { fieldAt, fieldText } from "../events/EventField.ts"
import type { Delivery } from "./Delivery.ts"

/** Maximum characters of a key. Longer ones are hashed: keys are stored per delivery, and event data may be large. */
const keyLengthMax = 200

export interface DeliveryKeys {
  /** Returns the group whose runs share the function's concurrency limit; null without a limit. */
  readonly group: (event: Event, match: Match) => Effect.Effect<Delivery["group"]>
  /** Returns the function's idempotency key for the event, equal for equal values; null without idempotency. */
  readonly onceKey: (event: Event, match: Match) => Effect.Effect<string | null>
}

export const makeDeliveryKeys: Effect.Effect<DeliveryKeys, never, Digest.Digest> = Effect.map(
  Digest.Digest,
  (digest): DeliveryKeys => {
    const bounded = (key: string) =>
      key.length <= keyLengthMax
        ? Effect.succeed(key)
        : Effect.map(digest.digestHex(Digest.sha256, utf8Encode(key)), (hash) => `sha256:${hash}`)

    return {
      group: (event, match) => {
        const { concurrency } = match.handler
        if (concurrency === null) return noGroup
        const { limit, key } = concurrency
        const name = formatName(match)
        return key === null
          ? Effect.succeed({ key: name, limit })
          : Effect.map(bounded(`${name}#${fieldText(event.event_data, key)}`), (bound) => ({ key: bound, limit }))
      },

      onceKey: (event, match) => {
        const { idempotency } = match.handler
        if (idempotency === null) return noKey
        const value = fieldAt(event.event_data, idempotency) ?? null
        return value === null ? noKey : bounded(`handler:${formatName(match)}#${JSON.stringify(value)}`)
      }
    }
  }
)

const noGroup = Effect.succeed(null)
const noKey = Effect.succeed(null)

const formatName = ({ build, handler }: Match): string => `${build.project_id}/${handler.ns}/${handler.var}`
