/** A record of requests, responses and faults. */
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
  | "flow"
  | "signal"

/** A request to complete the token of a durable run. */
export interface Completion {
  readonly run_id: string
  /** Differs for each request. */
  readonly value: string
  /** Start and end of the request, in epoch milliseconds. */
  readonly from: number
  readonly to: number
  /** Null if its outcome is unknown. */
  readonly status: number | null
}

/** A request that failed or timed out. */
export interface RequestFailure {
  /** Start and end of the request, in epoch milliseconds. */
  readonly from: number
  readonly to: number
  readonly what: string
  /** True if a client may get this response during a fault. */
  readonly isExpected: boolean
}

/** A fault with its start and end, in epoch milliseconds. */
export interface Fault {
  readonly kind: string
  /** Names of the affected slots; all of them for a fault of the database. */
  readonly slots: ReadonlyArray<string>
  readonly from: number
  /** Null while the fault is active. */
  to: number | null
}

export class Ledger {
  /** Acknowledged events; `at` is the time of the response, in epoch milliseconds. */
  readonly acknowledged = new Map<string, { readonly kind: Kind; readonly n: number; readonly at: number }>()
  /** Numbers of webhooks with a response. */
  readonly hooks = new Set<number>()
  readonly sent = new Map<Kind, number>()
  readonly answered = new Map<Kind, number>()
  /** Number of requests that were repeated with their Idempotency-Key. */
  repeated = 0
  /** Number of requests with an unknown outcome. */
  unknown = 0
  /** Number of requests that were skipped because too many were in flight. */
  skipped = 0
  readonly failures: Array<RequestFailure> = []
  readonly faults: Array<Fault> = []
  readonly completions: Array<Completion> = []
  #n: number

  /** `after`: the number before the first one. */
  constructor(after = 0) {
    this.#n = after
  }

  /** The last assigned number. */
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
    else this.acknowledged.set(eventId, { kind, n, at: Date.now() })
  }

  beginFault(kind: string, slots: ReadonlyArray<string>): Fault {
    const fault: Fault = { kind, slots, from: Date.now(), to: null }
    this.faults.push(fault)
    return fault
  }
}
