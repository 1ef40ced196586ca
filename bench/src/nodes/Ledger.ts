/** What was sent to the nodes, what they said to it, and when something was wrong with them. */

export type Kind =
  | "plain"
  | "slow"
  | "delayed"
  | "grouped"
  | "flaky"
  | "doomed"
  | "once"
  | "call"
  | "hook"
  | "relay"
  | "later"
  | "shown"

/** An answer that was no success, or none. */
export interface Trouble {
  /** When the request began and when it ended, in epoch milliseconds. */
  readonly from: number
  readonly to: number
  readonly what: string
  /** Whether a client may be told so while something is wrong with a node. */
  readonly isExpected: boolean
}

/** A time during which something was wrong, in epoch milliseconds. */
export interface Fault {
  readonly kind: string
  /** Places of the nodes that it concerned; all of them where it was the database. */
  readonly slots: ReadonlyArray<string>
  readonly from: number
  /** Null while it lasts. */
  to: number | null
}

export class Ledger {
  /** Events that were acknowledged, with what they were. */
  readonly acknowledged = new Map<string, { readonly kind: Kind; readonly n: number }>()
  /** Webhooks that were answered, by their numbers. */
  readonly hooks = new Set<number>()
  readonly sent = new Map<Kind, number>()
  readonly answered = new Map<Kind, number>()
  /** Requests repeated with their Idempotency-Key. */
  repeated = 0
  /** Requests of which nobody knows what became. */
  unknown = 0
  /** Requests that were not made because too many waited for an answer. */
  skipped = 0
  readonly troubles: Array<Trouble> = []
  readonly faults: Array<Fault> = []
  #n: number

  /** Numbers go on after this one. */
  constructor(after = 0) {
    this.#n = after
  }

  /** The number that was given last. */
  get last(): number {
    return this.#n
  }

  next(kind: Kind): number {
    this.sent.set(kind, (this.sent.get(kind) ?? 0) + 1)
    return ++this.#n
  }

  acknowledge(kind: Kind, n: number, eventId: string | null): void {
    this.answered.set(kind, (this.answered.get(kind) ?? 0) + 1)
    if (eventId === null) this.hooks.add(n)
    else this.acknowledged.set(eventId, { kind, n })
  }

  begin(kind: string, slots: ReadonlyArray<string>): Fault {
    const fault: Fault = { kind, slots, from: Date.now(), to: null }
    this.faults.push(fault)
    return fault
  }
}
