/** Requests to whichever node, as clients behind a balancer make them. */

import type { Draws } from "@weft/tooling/draws"
import type { Slot } from "./Cluster.ts"
import type { Ledger } from "./Ledger.ts"

export interface Sending {
  readonly path: string
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** What a node answered with success; null for anything else, which is in the ledger. */
export type Answered = { readonly [field: string]: unknown } | null

/** A place where a node may listen. */
export type Reachable = Pick<Slot, "name" | "node" | "isLeaving">

/** Whom to ask, and as who. */
export interface Reach {
  readonly slots: ReadonlyArray<Reachable>
  /** The token of a key that may do everything. */
  readonly key: string
}

export interface Client {
  readonly post: (sending: Sending) => Promise<Answered>
  /** A node that listens, or null. */
  readonly pick: () => Reachable | null
}

const patienceMs = 20_000

export const makeClient = ({ slots, key }: Reach, ledger: Ledger, random: Draws): Client => {
  const pick = (): Reachable | null => {
    const there = slots.filter(({ node, isLeaving }) => node !== null && !isLeaving)
    return there.length === 0 ? null : random.one(there)
  }
  const post = async ({ path, body, headers = {} }: Sending): Promise<Answered> => {
    const slot = pick()
    if (slot === null || slot.node === null) return null
    const from = Date.now()
    const trouble = (what: string, isExpected: boolean): null => {
      ledger.troubles.push({ from, to: Date.now(), what: `${path}: ${what} (${slot.name})`, isExpected })
      return null
    }
    try {
      const response = await fetch(slot.node.url + path, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(patienceMs)
      })
      const text = await response.text()
      if (response.ok) return JSON.parse(text)
      const isOutage = (response.status === 500 || response.status === 503) && response.headers.has("retry-after")
      // A function that asks for something during an outage fails with it, as it did not catch that.
      const mayRepeat = isOutage || (path.endsWith("/relay") && text.includes("The function failed in run"))
      return trouble(`${response.status}${mayRepeat ? " with Retry-After" : ` ${text.slice(0, 300)}`}`, mayRepeat)
    } catch (error) {
      return trouble(error instanceof DOMException ? "no answer in time" : "the connection broke", true)
    }
  }
  return { post, pick }
}

/** A field of the answer's `data`, where there is such a text. */
export const textIn = (answered: Answered, field: string): string | null => {
  const data = answered?.data ?? answered
  if (typeof data !== "object" || data === null || !(field in data)) return null
  const value: unknown = Reflect.get(data, field)
  return typeof value === "string" ? value : null
}
