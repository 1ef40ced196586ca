/** Sends requests to random nodes, like a client behind a load balancer. */
import type { Draws } from "@weft/tooling/draws"
import type { Slot } from "./Cluster.ts"
import type { Ledger } from "./Ledger.ts"

export interface Sending {
  readonly path: string
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Statuses of errors that are no failures. */
  readonly accepts?: ReadonlyArray<number>
}

/** Body of a successful response; null for a failure, which is in the ledger. */
export type Answered = { readonly [field: string]: unknown } | null

/** A complete response. */
export interface Received {
  readonly status: number
  readonly body: Answered
}

/** A slot where a node may listen. */
export type Reachable = Pick<Slot, "name" | "node" | "isDraining">

/** The nodes of a cluster and the credential for them. */
export interface Target {
  readonly slots: ReadonlyArray<Reachable>
  /** Token of an API key with all permissions. */
  readonly key: string
}

export interface Client {
  readonly post: (sending: Sending) => Promise<Answered>
  /** As `post`, with the status. Null for a failure, which is in the ledger. */
  readonly send: (sending: Sending) => Promise<Received | null>
  /** Returns the slot of an available node, or null. */
  readonly pick: () => Reachable | null
}

const timeoutMs = 20_000

export const makeClient = ({ slots, key }: Target, ledger: Ledger, random: Draws): Client => {
  const pick = (): Reachable | null => {
    const available = slots.filter(({ node, isDraining }) => node !== null && !isDraining)
    return available.length === 0 ? null : random.one(available)
  }
  const send = async ({ path, body, headers = {}, accepts = [] }: Sending): Promise<Received | null> => {
    const slot = pick()
    if (slot === null || slot.node === null) return null
    const from = Date.now()
    const fail = (what: string, isExpected: boolean): null => {
      ledger.failures.push({ from, to: Date.now(), what: `${path}: ${what} (${slot.name})`, isExpected })
      return null
    }
    try {
      const response = await fetch(slot.node.url + path, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(timeoutMs)
      })
      const text = await response.text()
      if (response.ok || accepts.includes(response.status)) return { status: response.status, body: JSON.parse(text) }
      const isOutage = (response.status === 500 || response.status === 503) && response.headers.has("retry-after")
      // The relay function does not catch errors of its host call during an outage.
      const mayRepeat = isOutage || (path.endsWith("/relay") && text.includes("The function failed in run"))
      return fail(`${response.status}${mayRepeat ? " with Retry-After" : ` ${text.slice(0, 300)}`}`, mayRepeat)
    } catch (error) {
      return fail(
        error instanceof DOMException ? `no response within ${timeoutMs} ms` : "the connection was closed",
        true
      )
    }
  }
  return { send, post: async (sending) => (await send(sending))?.body ?? null, pick }
}

/** Returns a string field of the response's `data`, or null. */
export const readText = (answered: Answered, field: string): string | null => {
  const data = answered?.data ?? answered
  if (typeof data !== "object" || data === null || !(field in data)) return null
  const value: unknown = Reflect.get(data, field)
  return typeof value === "string" ? value : null
}
