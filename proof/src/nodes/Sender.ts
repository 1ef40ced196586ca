/** Requests of the load that are repeated until they are acknowledged. */
import { setTimeout as sleep } from "node:timers/promises"
import type { Draws } from "@weft/tooling/draws"
import { type Answered, type Client, readText } from "./Client.ts"
import type { Kind, Ledger } from "./Ledger.ts"

export interface Sender {
  readonly client: Client
  readonly ledger: Ledger
  readonly random: Draws
}

/** Maximum time in which a request with a key is retried, in milliseconds. */
const retryForMs = 90_000

export interface SendOptions {
  /** True for a request with an Idempotency-Key. Half of the requests have one by default. */
  readonly isKeyed?: boolean
}

/** Publishes an event. Returns its id; null if its outcome is unknown. */
export const publish = (
  sender: Sender,
  kind: Kind,
  body: (n: number) => unknown,
  options: SendOptions = {}
): Promise<string | null> => {
  const n = sender.ledger.next(kind)
  return sendUntilAcknowledged(sender, kind, n, "/v1/events", body(n), options)
}

/** Sends a request. Those with a key are retried until they are acknowledged. Returns the id of the event. */
export const sendUntilAcknowledged = async (
  { client, ledger, random }: Sender,
  kind: Kind,
  n: number,
  path: string,
  body: unknown,
  { isKeyed = random.chance(0.5) }: SendOptions = {}
): Promise<string | null> => {
  const headers: Record<string, string> = isKeyed ? { "idempotency-key": `key-${n}` } : {}
  const began = performance.now()
  while (true) {
    const answered: Answered = await client.post({ path, body, headers })
    const eventId = readText(answered, "event_id")
    if (eventId !== null) {
      ledger.acknowledge(kind, n, eventId)
      return eventId
    }
    if (!isKeyed || performance.now() - began > retryForMs) {
      ledger.unknown++
      return null
    }
    ledger.repeated++
    await sleep(random.whole(100, 900))
  }
}
