/** Converts each delivery into a uniform record: actor, repository and number of values. */
import { handler, type Retry } from "@weft/sdk"
import * as z from "zod"
import { Delivery } from "./delivery.ts"

const Actors = z.object({
  sender: z.object({ login: z.string(), type: z.enum(["User", "Organization", "Bot", "Mannequin"]) }).optional(),
  repository: z.object({ full_name: z.string(), private: z.boolean() }).optional()
})

const retry: Retry = { attempts: 3, delay: "100ms", backoff: 2, max_delay: "1s", jitter: true }

/** Throws if the payload has no sender, as for security advisories: an audit trail needs an actor. */
export const onAny = handler({ event: "github:*", data: Delivery, retry }, (event, svc) => {
  const { event: name, action, payload } = event.event_data
  const { sender, repository } = Actors.parse(payload)
  if (sender === undefined) throw new TypeError(`${event.event_type} has no sender`)
  svc.log.info(`${sender.login}: ${event.event_type}`, { repository: repository?.full_name ?? null })
  return {
    kind: "any",
    event: name,
    action,
    actor: { login: sender.login, bot: sender.type === "Bot" },
    repository: repository === undefined ? null : { name: repository.full_name, private: repository.private },
    values: countValues(payload)
  }
})

/** Counts the values that are neither objects nor arrays. */
export const countValues = (value: unknown): number =>
  typeof value !== "object" || value === null
    ? 1
    : Object.values(value).reduce((sum: number, inner) => sum + countValues(inner), 0)
