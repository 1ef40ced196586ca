/**
 * What the store was told and did, statement by statement, held against the rules of running.
 *
 * It sits between the nodes and the store, so it sees also what nodes never hear of. What breaks a rule is noted at once,
 * with the statement that did it.
 */
import type {
  Admission,
  Admitted,
  Claim,
  Delivery,
  DeliveryId,
  EnvId,
  Event,
  EventId,
  JournalEntry,
  Lease,
  NodeId,
  Own,
  Run,
  RunId,
  Tick,
  Timestamp
} from "@weft/core"

export interface Stored {
  readonly node: string
  readonly at: number
  /** Whether it had been given up by then. */
  readonly isLate: boolean
}

/** A delivery, and how far it has got. */
export interface Held {
  readonly delivery: Delivery
  readonly runs: Array<RunId>
  holder: RunId | null
  attempt: number
  due: number
  first: RunId | null
  isOver: boolean
}

export class Truth {
  readonly events = new Map<EventId, Event>()
  readonly deliveries = new Map<DeliveryId, Held>()
  readonly runs = new Map<RunId, Run>()
  readonly ticks = new Map<string, Array<string>>()
  readonly violations: Array<string> = []
  /** Who stored it that a run is as it is, or that an event is there, and when, in milliseconds since the beginning. */
  readonly storedBy = new Map<RunId | EventId, Stored>()
  readonly #slackMs: number
  #storing: Stored = { node: "", at: 0, isLate: false }
  readonly #deliveryOf = new Map<RunId, Held>()
  readonly #leases = new Map<NodeId, Timestamp>()
  readonly #requests = new Set<string>()
  readonly #onceKeys = new Set<string>()

  /** `slackMs`: by how much the clocks of nodes differ at most. */
  constructor(slackMs: number) {
    this.#slackMs = slackMs
  }

  /** Whether nothing runs and nothing waits. */
  get isIdle(): boolean {
    for (const held of this.deliveries.values()) if (!held.isOver) return false
    for (const run of this.runs.values()) if (run.status === "running") return false
    return true
  }

  /** What is still to be done. */
  get left(): string {
    const waiting = [...this.deliveries.values()].filter(({ isOver, holder }) => !isOver && holder === null)
    const running = [...this.runs.values()].filter((run) => run.status === "running")
    return `${waiting.length} deliveries wait, and ${running.map(nameOf).join(", ") || "nothing"} goes on`
  }

  must(isSo: boolean, rule: string): void {
    if (!isSo) this.violations.push(rule)
  }

  /** What follows is the work of this node. */
  by(storing: Stored): void {
    this.#storing = storing
  }

  #setRun(run: Run): void {
    this.runs.set(run.run_id, run)
    this.storedBy.set(run.run_id, this.#storing)
  }

  #setEvent(event: Event): void {
    this.events.set(event.event_id, event)
    this.storedBy.set(event.event_id, this.#storing)
  }

  committed(entries: ReadonlyArray<JournalEntry>, lease: Lease | null, counted: ReadonlyArray<boolean>): void {
    if (lease !== null) this.#leases.set(lease.node_id, lease.until)
    for (const [index, entry] of entries.entries()) this.#applied(entry, counted[index] === true)
  }

  #applied(entry: JournalEntry, isCounted: boolean): void {
    switch (entry._tag) {
      case "Appended":
        if (this.events.has(entry.event.event_id)) return
        this.#setEvent(entry.event)
        for (const { delivery, run } of entry.deliveries) {
          const held = this.#wait(delivery)
          if (run !== null) this.#begin(held, run)
        }
        return
      case "Started":
        if (!this.runs.has(entry.run.run_id)) this.#setRun(entry.run)
        return
      case "Ended": {
        const before = this.runs.get(entry.run.run_id)
        this.must(isCounted === (before === undefined || before.status === "running"), `${nameOf(entry.run)} ends once`)
        if (isCounted) this.#setRun(entry.run)
        return
      }
      case "Settled":
        if (isCounted) this.#settled(entry)
        else this.#refused(entry)
    }
  }

  #wait(delivery: Delivery): Held {
    const { delivery_id, attempt, due_at, first_run_id } = delivery
    const held = { delivery, runs: [], holder: null, attempt, due: due_at, first: first_run_id, isOver: false }
    this.must(!this.deliveries.has(delivery_id), `delivery ${delivery_id} is stored once`)
    this.deliveries.set(delivery_id, held)
    return held
  }

  #begin(held: Held, run: Run): void {
    const what = `${nameOf(run)} of delivery ${held.delivery.delivery_id}`
    this.must(!held.isOver, `${what} begins before its delivery is over`)
    this.must(held.holder === null, `${what} begins when no other holds its delivery (${held.holder} does)`)
    this.must(run.attempt === held.attempt, `${what} is attempt ${held.attempt}, not ${run.attempt}`)
    this.must(
      run.start_time >= held.due - this.#slackMs,
      `${what} begins when it is due, not ${held.due - run.start_time} ms before`
    )
    this.must(run.origin_run_id === (held.first ?? held.delivery.caused_by), `${what} knows its origin`)
    this.must(!this.runs.has(run.run_id), `${what} is stored once`)
    held.holder = run.run_id
    const { group, env_id } = held.delivery
    const { limit, key } = group ?? { limit: 1, key: null }
    this.must(key === null || this.#holding(env_id, key) <= limit, `${what} begins when there is room in ${key}`)
    held.runs.push(run.run_id)
    this.#setRun(run)
    this.#deliveryOf.set(run.run_id, held)
  }

  #end(run: Run, what: string): Held | undefined {
    const before = this.runs.get(run.run_id)
    this.must(before?.status === "running", `${what}: ${nameOf(run)} was running, not ${before?.status}`)
    this.#setRun(run)
    const held = this.#deliveryOf.get(run.run_id)
    if (held !== undefined) {
      this.must(held.holder === run.run_id, `${what}: ${nameOf(run)} holds its delivery, not ${held.holder}`)
      held.holder = null
    }
    return held
  }

  #settled({ run, next, deliveryId }: Extract<JournalEntry, { _tag: "Settled" }>): void {
    const held = this.#end(run, "a settlement counts")
    this.must(held?.delivery.delivery_id === deliveryId, `${nameOf(run)} settles its own delivery`)
    if (held === undefined) return
    const { retry } = held.delivery
    const what = `what follows ${nameOf(run)} (${run.status}, attempt ${run.attempt} of ${retry.attempts})`
    const isTriedAgain = isLost(run) || (run.status === "failed" && run.attempt < retry.attempts)
    this.must((next !== null) === isTriedAgain, `${what} is as its rules say`)
    held.first ??= run.run_id
    if (next === null) {
      held.isOver = true
      return
    }
    this.must(next.attempt === (isLost(run) ? run.attempt : run.attempt + 1), `${what} has the next number`)
    this.must(next.first_run_id === held.first, `${what} knows its first run`)
    if (!isLost(run) && run.stop_time !== null) {
      const full = Math.min(retry.max_delay_ms, retry.delay_ms * retry.backoff ** (run.attempt - 1))
      const waits = next.due_at - run.stop_time
      this.must(
        waits >= (retry.jitter ? 0 : Math.floor(full)) && waits <= Math.ceil(full),
        `${what} waits as it should`
      )
    }
    held.attempt = next.attempt
    held.due = next.due_at
  }

  #refused({ run, deliveryId }: Extract<JournalEntry, { _tag: "Settled" }>): void {
    const isHeld = this.deliveries.get(deliveryId)?.holder === run.run_id
    this.must(!isHeld || this.runs.get(run.run_id)?.status !== "running", `${nameOf(run)} may settle what it holds`)
  }

  claimed(lease: Lease, claims: ReadonlyArray<Claim>): void {
    this.#leases.set(lease.node_id, lease.until)
    for (const { delivery, run } of claims) {
      const held = this.deliveries.get(delivery.delivery_id)
      this.must(held !== undefined, `delivery ${delivery.delivery_id} was stored before it is claimed`)
      if (held !== undefined) this.#begin(held, run)
    }
  }

  reaped(nodeId: NodeId, now: Timestamp, own: Own | undefined, lost: ReadonlyArray<Run>): void {
    for (const run of lost) {
      const isDead = run.node_id !== nodeId && (this.#leases.get(run.node_id) ?? 0) < now
      const isForgotten = run.node_id === nodeId && own !== undefined && !own.known.includes(run.run_id)
      this.must(isDead || isForgotten, `${nameOf(run)} is reaped because its node is dead or has forgotten it`)
      const held = this.#end(run, "a run is reaped")
      if (held !== undefined) held.due = now
    }
  }

  leaves(nodeId: NodeId): void {
    this.#leases.delete(nodeId)
  }

  cancelled(runs: ReadonlyArray<Run>): void {
    for (const run of runs) {
      const held = this.#end(run, "a run is cancelled")
      if (held !== undefined) held.isOver = true
    }
  }

  redelivered(delivery: Delivery): void {
    this.#wait(delivery)
  }

  admitted({ event, deliveries, request }: Admission, admitted: Admitted): void {
    if (admitted._tag !== "Stored") return
    this.must(!this.events.has(event.event_id), `event ${event.event_id} is stored once`)
    if (request !== null) {
      this.must(!this.#requests.has(request.key), `${request.key} is stored once`)
      this.#requests.add(request.key)
    }
    this.#setEvent(event)
    for (const { delivery, onceKey } of deliveries) {
      const isStored = admitted.deliveries.includes(delivery.delivery_id)
      if (onceKey !== null) {
        this.must(isStored !== this.#onceKeys.has(onceKey), `${onceKey} is handled once`)
        this.#onceKeys.add(onceKey)
      } else this.must(isStored, `delivery ${delivery.delivery_id} has no condition, and is stored`)
      if (isStored) this.#wait(delivery)
    }
  }

  fired(ticks: ReadonlyArray<Tick>, moved: ReadonlyArray<string>): void {
    for (const { schedule, fired } of ticks) {
      if (fired === null || !moved.includes(schedule.schedule_id)) continue
      const { event, delivery } = fired
      const time = /"scheduled_time":"([^"]*)"/.exec(event.event_data)?.[1] ?? ""
      const before = this.ticks.get(schedule.schedule_id) ?? []
      this.must((before.at(-1) ?? "") < time, `the tick at ${time} comes once, after ${before.at(-1)}`)
      this.ticks.set(schedule.schedule_id, [...before, time])
      this.#setEvent(event)
      this.#wait(delivery)
    }
  }

  /** How many runs of a group go on. */
  #holding(envId: EnvId, group: string): number {
    let count = 0
    for (const { delivery, holder } of this.deliveries.values()) {
      if (holder !== null && delivery.env_id === envId && delivery.group?.key === group) count++
    }
    return count
  }
}

export const isLost = (run: Run): boolean => run.status === "failed" && run.result?.includes('"NodeLost"') === true

export const nameOf = (run: Run): string => `run ${run.run_id} (${run.var})`
