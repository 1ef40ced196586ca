/**
 * The reference model: it follows every statement of the store and checks it against the rules of execution.
 *
 * It sits between the nodes and the store, so it also sees results that never reach a node. It records broken rules.
 */
import type { EnvId } from "@weft/core"
import type {
  Admission,
  AdmissionOutcome,
  Claim,
  Delivery,
  DeliveryId,
  Event,
  EventId,
  JournalEntry,
  Lease,
  LocalRunSet,
  NodeId,
  Replaced,
  Run,
  RunId,
  Tick,
  Timestamp
} from "@weft/core/adapter"
import { ControlModel } from "./flowControl/ControlModel.ts"
import { epochMs } from "./Kernel.ts"
import type { FlowRules } from "./workflows/Plan.ts"
import { type Advanced, WorkflowModel } from "./workflows/WorkflowModel.ts"

/** Origin of a write. */
export interface WriteOrigin {
  readonly node: string
  readonly at: number
  /** True if the statement had timed out by then. */
  readonly isLate: boolean
}

/** A delivery with its state. */
export interface TrackedDelivery {
  /** As stored. That of a durable run gets another id in each activation. */
  delivery: Delivery
  readonly runs: Array<RunId>
  holder: RunId | null
  attempt: number
  due: number
  first: RunId | null
  isSettled: boolean
}

export class ReferenceModel {
  readonly events = new Map<EventId, Event>()
  readonly deliveries = new Map<DeliveryId, TrackedDelivery>()
  readonly runs = new Map<RunId, Run>()
  readonly ticks = new Map<string, Array<string>>()
  readonly violations: Array<string> = []
  /** Origin of the last write of each run and event. */
  readonly storedBy = new Map<RunId | EventId, WriteOrigin>()
  readonly workflows: WorkflowModel
  readonly controls: ControlModel
  readonly #slackMs: number
  #origin: WriteOrigin = { node: "", at: 0, isLate: false }
  readonly #deliveryOf = new Map<RunId, TrackedDelivery>()
  readonly #leases = new Map<NodeId, Timestamp>()
  readonly #requests = new Set<string>()
  readonly #onceKeys = new Set<string>()

  /** `slackMs`: maximum difference between the clocks of nodes. `flows`: the durable functions. */
  constructor(slackMs: number, flows: ReadonlyArray<FlowRules>, elapsed: () => number) {
    this.#slackMs = slackMs
    this.controls = new ControlModel((isSo, rule) => this.must(isSo, rule), slackMs)
    this.workflows = new WorkflowModel(this, flows, slackMs, elapsed)
  }

  /** True if a node holds the run. */
  isHeld(runId: RunId): boolean {
    return this.#deliveryOf.get(runId)?.holder === runId && this.runs.get(runId)?.status === "running"
  }

  /** True if no delivery is pending and no run is active. */
  get isIdle(): boolean {
    for (const held of this.deliveries.values()) {
      if (!held.isSettled && !this.controls.isReplaced(held)) return false
    }
    for (const run of this.runs.values()) if (run.status === "running") return false
    return true
  }

  /** Describes the pending work. */
  get pendingWork(): string {
    const waiting = [...this.deliveries.values()].filter(({ isSettled, holder }) => !isSettled && holder === null)
    const running = [...this.runs.values()].filter((run) => run.status === "running")
    return `${waiting.length} deliveries are pending, active runs: ${running.map(describeRun).join(", ") || "none"}`
  }

  must(isSo: boolean, rule: string): void {
    if (!isSo) this.violations.push(rule)
  }

  /** Sets the origin of the next statement. */
  setOrigin(origin: WriteOrigin): void {
    this.#origin = origin
  }

  #setRun(run: Run): void {
    this.runs.set(run.run_id, run)
    this.storedBy.set(run.run_id, this.#origin)
  }

  #setEvent(event: Event): void {
    this.events.set(event.event_id, event)
    this.storedBy.set(event.event_id, this.#origin)
  }

  /** `outcomes`: the events of each entry's waits before the commit. */
  committed(
    entries: ReadonlyArray<JournalEntry>,
    lease: Lease | null,
    counted: ReadonlyArray<boolean>,
    outcomes: ReadonlyArray<Outcomes>
  ): void {
    if (lease !== null) this.#leases.set(lease.node_id, lease.until)
    for (const [index, entry] of entries.entries()) {
      if (entry._tag === "Advanced") this.#advanced(entry, counted[index] === true, outcomes[index] ?? new Map())
      else this.#applied(entry, counted[index] === true)
    }
  }

  #advanced(entry: Advanced, isCounted: boolean, outcomes: Outcomes): void {
    const { run, deliveryId, at, suspension } = entry
    const held = this.#deliveryOf.get(run.run_id)
    const isHeld = this.isHeld(run.run_id) && held?.delivery.delivery_id === deliveryId
    this.must(
      isCounted === isHeld,
      `progress of ${describeRun(run)} counts if it holds its delivery (got ${isCounted})`
    )
    if (!isCounted || held === undefined) return
    this.workflows.advanced(entry, this.#origin.node, outcomes)
    if (suspension === null) return
    held.holder = null
    held.due = [...outcomes.values()].some((outcome) => outcome !== null) ? at : suspension.due_at
  }

  #applied(entry: Exclude<JournalEntry, Advanced>, isCounted: boolean): void {
    switch (entry._tag) {
      case "Appended":
        if (this.events.has(entry.event.event_id)) return
        this.#setEvent(entry.event)
        for (const { delivery, run } of entry.deliveries) {
          const held = this.#enqueue(delivery)
          if (run !== null) this.#startRun(held, run)
        }
        return
      case "Started":
        if (!this.runs.has(entry.run.run_id)) this.#setRun(entry.run)
        return
      case "Ended": {
        const before = this.runs.get(entry.run.run_id)
        this.must(
          isCounted === (before === undefined || before.status === "running"),
          `${describeRun(entry.run)} ends once`
        )
        if (isCounted) this.#setRun(entry.run)
        return
      }
      case "Settled":
        if (isCounted) this.#settled(entry)
        else this.#refused(entry)
    }
  }

  #enqueue(delivery: Delivery): TrackedDelivery {
    const { delivery_id, attempt, due_at, first_run_id } = delivery
    const held = { delivery, runs: [], holder: null, attempt, due: due_at, first: first_run_id, isSettled: false }
    this.must(!this.deliveries.has(delivery_id), `delivery ${delivery_id} is stored once`)
    this.deliveries.set(delivery_id, held)
    return held
  }

  #startRun(held: TrackedDelivery, run: Run): void {
    const what = `${describeRun(run)} of delivery ${held.delivery.delivery_id}`
    this.must(!held.isSettled, `${what} starts before its delivery is settled`)
    this.must(held.holder === null, `${what} starts while no other run holds its delivery (got ${held.holder})`)
    this.must(run.attempt === held.attempt, `${what} is attempt ${held.attempt} (got ${run.attempt})`)
    this.must(
      run.start_time >= held.due - this.#slackMs,
      `${what} starts when it is due (got ${held.due - run.start_time} ms earlier)`
    )
    this.must(run.origin_run_id === (held.first ?? held.delivery.caused_by), `${what} has its origin run`)
    this.must(!this.runs.has(run.run_id), `${what} is stored once`)
    held.holder = run.run_id
    this.#checkGroup(held, `${what} starts`)
    this.controls.started(held, run, this.events.get(held.delivery.event_id))
    held.runs.push(run.run_id)
    this.#setRun(run)
    this.#deliveryOf.set(run.run_id, held)
    if (run.activations !== null) {
      this.workflows.began(run, this.events.get(held.delivery.event_id), this.#origin.node)
    }
  }

  /** Records the claim of a suspended run, whose delivery gets a new id. */
  #continueRun(claim: Claim): void {
    const { delivery, run } = claim
    const held = this.#deliveryOf.get(run.run_id)
    const status = this.runs.get(run.run_id)?.status
    this.must(status === "running", `${describeRun(run)} has not ended when it continues (got ${status})`)
    if (held === undefined) {
      this.must(false, `${describeRun(run)} has a delivery when it continues`)
      return
    }
    this.must(held.holder === null, `${describeRun(run)} continues while no node holds it`)
    this.deliveries.delete(held.delivery.delivery_id)
    this.must(!this.deliveries.has(delivery.delivery_id), `delivery ${delivery.delivery_id} is new`)
    held.delivery = delivery
    held.holder = run.run_id
    this.deliveries.set(delivery.delivery_id, held)
    this.#checkGroup(held, `${describeRun(run)} continues`)
    this.workflows.continued(claim, this.#origin.node)
  }

  #checkGroup({ delivery: { group, env_id } }: TrackedDelivery, what: string): void {
    if (group === null) return
    this.must(this.#countActive(env_id, group.key) <= group.limit, `${what} while group ${group.key} has a free slot`)
  }

  #endRun(run: Run, what: string): TrackedDelivery | undefined {
    const before = this.runs.get(run.run_id)
    this.must(before?.status === "running", `${what}: ${describeRun(run)} was running (got ${before?.status})`)
    this.#setRun(run)
    const held = this.#deliveryOf.get(run.run_id)
    if (held !== undefined) {
      const isSuspended = run.status === "cancelled" && run.activations !== null && held.holder === null
      this.must(
        isSuspended || held.holder === run.run_id,
        `${what}: ${describeRun(run)} holds its delivery (got ${held.holder})`
      )
      held.holder = null
    }
    return held
  }

  #settled({ run, next, deliveryId }: Extract<JournalEntry, { _tag: "Settled" }>): void {
    const held = this.#endRun(run, "a settlement counts")
    this.controls.ended(run)
    this.must(held?.delivery.delivery_id === deliveryId, `${describeRun(run)} settles its own delivery`)
    if (held === undefined) return
    const { retry } = held.delivery
    const what = `the attempt after ${describeRun(run)} (${run.status}, attempt ${run.attempt} of ${retry.attempts})`
    if (run.activations !== null) {
      this.workflows.settled(run)
      this.must(next === null, `durable ${describeRun(run)} has one attempt`)
    }
    const isTriedAgain =
      run.activations === null && (isLost(run) || (run.status === "failed" && run.attempt < retry.attempts))
    this.must((next !== null) === isTriedAgain, `${what} exists exactly if the rules allow a retry`)
    held.first ??= run.run_id
    if (next === null) {
      held.isSettled = true
      return
    }
    this.must(next.attempt === (isLost(run) ? run.attempt : run.attempt + 1), `${what} has the next number`)
    this.must(next.first_run_id === held.first, `${what} has its first run`)
    if (!isLost(run) && run.stop_time !== null) {
      const full = Math.min(retry.max_delay_ms, retry.delay_ms * retry.backoff ** (run.attempt - 1))
      const waits = next.due_at - run.stop_time
      this.must(
        waits >= (retry.jitter ? 0 : Math.floor(full)) && waits <= Math.ceil(full),
        `${what} has the delay of its rules`
      )
    }
    held.attempt = next.attempt
    held.due = next.due_at
  }

  #refused({ run, deliveryId }: Extract<JournalEntry, { _tag: "Settled" }>): void {
    const isHeld = this.deliveries.get(deliveryId)?.holder === run.run_id
    this.must(
      !isHeld || this.runs.get(run.run_id)?.status !== "running",
      `${describeRun(run)} settles the delivery that it holds`
    )
  }

  claimed(lease: Lease, claims: ReadonlyArray<Claim>): void {
    this.#leases.set(lease.node_id, lease.until)
    for (const claim of claims) {
      const { delivery, run } = claim
      if (delivery.continues !== null) {
        this.#continueRun(claim)
        continue
      }
      const held = this.deliveries.get(delivery.delivery_id)
      this.must(held !== undefined, `delivery ${delivery.delivery_id} is stored before its claim`)
      if (held !== undefined) this.#startRun(held, run)
      this.controls.batches.started(claim)
    }
  }

  reaped(nodeId: NodeId, now: Timestamp, own: LocalRunSet | undefined, lost: ReadonlyArray<Run>): void {
    for (const run of lost) {
      const isDead = run.node_id !== nodeId && (this.#leases.get(run.node_id) ?? 0) < now
      const isForgotten = run.node_id === nodeId && own !== undefined && !own.known.includes(run.run_id)
      this.must(isDead || isForgotten, `${describeRun(run)} is reaped only if its node is dead or does not know it`)
      if (run.activations !== null) {
        this.#suspendLost(run, now)
        continue
      }
      const held = this.#endRun(run, "a run is reaped")
      if (held !== undefined) held.due = now
    }
  }

  /** Records that a durable run was taken from its node. It continues elsewhere. */
  #suspendLost(run: Run, now: Timestamp): void {
    const held = this.#deliveryOf.get(run.run_id)
    this.must(run.status === "running", `durable ${describeRun(run)} is not ended by its node (got ${run.status})`)
    this.must(this.isHeld(run.run_id), `durable ${describeRun(run)} is held when it is reaped`)
    if (held === undefined) return
    held.holder = null
    held.due = now
  }

  nodeLeft(nodeId: NodeId): void {
    this.#leases.delete(nodeId)
  }

  cancelled(runs: ReadonlyArray<Run>): void {
    for (const run of runs) {
      const held = this.#endRun(run, "a run is cancelled")
      if (held !== undefined) held.isSettled = true
    }
  }

  redelivered(delivery: Delivery): void {
    this.#enqueue(delivery)
  }

  admitted(admission: Admission, admitted: AdmissionOutcome): void {
    if (admitted._tag !== "Stored") return
    const { event, deliveries, request, now } = admission
    this.must(!this.events.has(event.event_id), `event ${event.event_id} is stored once`)
    if (request !== null) {
      this.must(!this.#requests.has(request.key), `${request.key} is stored once`)
      this.#requests.add(request.key)
    }
    this.#setEvent(event)
    this.#ended(this.controls.endedBy(admission, admitted.deliveries, this.deliveries.values()), admitted.replaced)
    for (const each of deliveries) {
      const { delivery, onceKey, rules } = each
      const isStored = admitted.deliveries.includes(delivery.delivery_id)
      const appliedAt = epochMs + this.#origin.at
      if (rules.length > 0) this.controls.decided(each, admitted, { now, appliedAt }, this.deliveries.values())
      else if (onceKey !== null) {
        this.must(isStored !== this.#onceKeys.has(onceKey), `${onceKey} is handled once`)
        this.#onceKeys.add(onceKey)
      } else this.must(isStored, `delivery ${delivery.delivery_id} has no condition and is stored`)
      if (isStored) this.#enqueue(delivery)
    }
  }

  /** Records the ends of deliveries and runs that an admission ended. */
  #ended(expected: ReadonlyArray<TrackedDelivery>, { runs, events }: Replaced = { runs: [], events: [] }): void {
    this.must(runs.length + events.length === expected.length, `an admission ends ${expected.length} deliveries`)
    this.cancelled(runs.map(({ run }) => run))
    for (const held of expected.filter(({ isSettled }) => !isSettled)) {
      const isRemoved = held.holder === null && events.includes(held.delivery.event_id)
      this.must(isRemoved, `delivery ${held.delivery.delivery_id} ends with the admission of a later event`)
      held.isSettled = true
      this.controls.removed(held.delivery)
    }
  }

  fired(ticks: ReadonlyArray<Tick>, moved: ReadonlyArray<string>): void {
    for (const { schedule, fired } of ticks) {
      if (fired === null || !moved.includes(schedule.schedule_id)) continue
      const { event, delivery } = fired
      const time = /"scheduled_time":"([^"]*)"/.exec(event.event_data)?.[1] ?? ""
      const before = this.ticks.get(schedule.schedule_id) ?? []
      this.must((before.at(-1) ?? "") < time, `the tick at ${time} fires once, after ${before.at(-1)}`)
      this.ticks.set(schedule.schedule_id, [...before, time])
      this.#setEvent(event)
      this.#enqueue(delivery)
    }
  }

  /** Counts the active runs of a group. */
  #countActive(envId: EnvId, group: string): number {
    let count = 0
    for (const { delivery, holder } of this.deliveries.values()) {
      if (holder !== null && delivery.env_id === envId && delivery.group?.key === group) count++
    }
    return count
  }
}

/** Events that ended waits, by the number of their request. */
export type Outcomes = ReadonlyMap<number, string | null>

const isLost = (run: Run): boolean => run.status === "failed" && run.result?.includes('"NodeLost"') === true

export const describeRun = (run: Run): string => `run ${run.run_id} (${run.var})`
