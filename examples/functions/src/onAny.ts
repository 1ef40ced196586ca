/** Every delivery in one form: who did something, where, and how much came with it. */
import { handler, type Retry } from "@weft/sdk"
import * as z from "zod"
import { Delivery } from "./delivery.ts"

const Actors = z.object({
  sender: z.object({ login: z.string(), type: z.enum(["User", "Organization", "Bot", "Mannequin"]) }).optional(),
  repository: z.object({ full_name: z.string(), private: z.boolean() }).optional()
})

const retry: Retry = { attempts: 3, delay: "100ms", backoff: 2, max_delay: "1s", jitter: true }

/** Throws for what nobody sent, such as security advisories: an audit trail has no place for it. */
export const onAny = handler({ event: "github:*", data: Delivery, retry }, (event, svc) => {
  const { event: name, action, payload } = event.event_data
  const { sender, repository } = Actors.parse(payload)
  if (sender === undefined) throw new TypeError(`${event.event_type} names no sender`)
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

/** How many values that are neither objects nor arrays. */
export const countValues = (value: unknown): number =>
  typeof value !== "object" || value === null
    ? 1
    : Object.values(value).reduce((sum: number, inner) => sum + countValues(inner), 0)
