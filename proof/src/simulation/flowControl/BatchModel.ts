/**
 * The rules of batches: each event is in exactly one batch, no batch has too many events, and none starts early.
 *
 * A store says only that an event has joined some batch. Which one that was shows when the batch starts.
 */
import type { Claim, Delivery, DeliveryId, EventId, FlowRule } from "@weft/core/adapter"
import { describeRun } from "../ReferenceModel.ts"

type BatchRule = Extract<FlowRule, { _tag: "Batch" }>

/** A batch, from its first event. */
interface Batch {
  readonly rule: BatchRule
  readonly key: string
  /** Time of its first event. */
  readonly since: number
  /** True if its only event is delayed. */
  readonly isDelayed: boolean
  /** Its events, from its first start on. */
  events: ReadonlyArray<EventId> | null
}

export class BatchModel {
  readonly #must: (isSo: boolean, rule: string) => void
  readonly #slackMs: number
  readonly #batches = new Map<DeliveryId, Batch>()
  /** Times of events that have joined batches which have not started, by key. */
  readonly #joined = new Map<string, Map<EventId, number>>()

  constructor(must: (isSo: boolean, rule: string) => void, slackMs: number) {
    this.#must = must
    this.#slackMs = slackMs
  }

  /** Records that a delivery begins a batch. */
  opened(rule: BatchRule, { delivery_id, env_id, due_at }: Delivery, now: number): void {
    const key = `${env_id} ${rule.key}`
    this.#batches.set(delivery_id, { rule, key, since: now, isDelayed: due_at > now, events: null })
  }

  /** Records that an event joins a batch. */
  joined(rule: BatchRule, { env_id, event_id }: Delivery, now: number): void {
    const key = `${env_id} ${rule.key}`
    const joined = this.#joined.get(key) ?? new Map<EventId, number>()
    joined.set(event_id, now)
    this.#joined.set(key, joined)
  }

  /** Checks the start of a run. */
  started({ delivery, event, events, run }: Claim): void {
    const batch = this.#batches.get(delivery.delivery_id)
    this.#must((batch === undefined) === (events === undefined), `${describeRun(run)} has events if it has a batch`)
    if (batch === undefined || events === undefined) return
    const ids = events.map(({ event_id }) => event_id)
    this.#must(run.event_ids === JSON.stringify(ids), `${describeRun(run)} has the ids of its events`)
    if (batch.events === null) {
      this.#must(ids[0] === event.event_id, `${describeRun(run)} begins with the first event of its batch`)
      this.#collected(batch, ids, run.start_time, describeRun(run))
    } else {
      this.#must(ids.join() === batch.events.join(), `${describeRun(run)} has the events of the attempts before it`)
    }
    batch.events = ids
  }

  #collected({ rule, key, since, isDelayed }: Batch, ids: ReadonlyArray<EventId>, start: number, what: string): void {
    const { size, timeout_ms } = rule
    this.#must(ids.length <= size, `${what} has at most ${size} events (got ${ids.length})`)
    const isOver = start >= since + timeout_ms - this.#slackMs
    const isComplete = isDelayed ? ids.length === 1 : ids.length === size || isOver
    this.#must(
      isComplete,
      `${what} starts when its batch is full or over (got ${ids.length} after ${start - since} ms)`
    )
    for (const id of ids.slice(1)) {
      const time = this.#joined.get(key)?.get(id)
      this.#must(time !== undefined, `event ${id} of ${what} has joined this batch, and no other`)
      this.#must((time ?? 0) < since + timeout_ms, `event ${id} has joined the batch of ${what} before its timeout`)
      this.#joined.get(key)?.delete(id)
    }
  }

  /** Checks that no event is left, when all deliveries are settled. */
  finished(): void {
    for (const joined of this.#joined.values())
      for (const id of joined.keys()) this.#must(false, `event ${id} is in a batch that starts`)
  }
}
