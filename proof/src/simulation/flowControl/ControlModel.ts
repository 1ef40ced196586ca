/**
 * The rules of flow control: which deliveries a function gets, and when its runs start.
 *
 * It keeps the times of all deliveries and starts instead of the states of the product. Clocks of nodes differ by at most
 * `slackMs`.
 */
import type {
  Admission,
  AdmissionOutcome,
  AdmittedDelivery,
  Delivery,
  DeliveryId,
  Event,
  FlowRule,
  Run,
  RunId
} from "@weft/core/adapter"
import { describeRun, type TrackedDelivery } from "../ReferenceModel.ts"
import { BatchModel } from "./BatchModel.ts"

type Must = (isSo: boolean, rule: string) => void
type RuleOf<Tag extends FlowRule["_tag"]> = Extract<FlowRule, { _tag: Tag }>

/** The latest delivery of a debounce. */
interface Debounced {
  readonly delivery_id: Delivery["delivery_id"]
  /** Earliest possible time of the first delivery of its debounce. */
  readonly since: number
}

type Stored = Extract<AdmissionOutcome, { _tag: "Stored" }>

/** Returns the decision about a new delivery: it is stored, its event has joined a batch, or it is left out. */
const toDecision = ({ deliveries, batched }: Stored, id: DeliveryId): "stored" | "joined" | "dropped" => {
  if (deliveries.includes(id)) return "stored"
  return batched?.joined.includes(id) === true ? "joined" : "dropped"
}

export class ControlModel {
  readonly batches: BatchModel
  readonly #must: Must
  readonly #slackMs: number
  /** Times of stored deliveries or starts by key, ascending. */
  readonly #times = new Map<string, Array<number>>()
  /** Ends of the windows of `dedupe`. */
  readonly #windows = new Map<string, number>()
  /** The latest delivery of each debounce. */
  readonly #debounced = new Map<string, Debounced>()
  /** Earliest possible ends of debounces. */
  readonly #dueOf = new Map<Delivery["delivery_id"], number>()
  /** Debounced deliveries that later ones have replaced, or may have replaced if they were due. */
  readonly #replaced = new Set<Delivery["delivery_id"]>()
  readonly #maybeReplaced = new Set<Delivery["delivery_id"]>()
  readonly #expired = new Set<RunId>()

  constructor(must: Must, slackMs: number) {
    this.#must = must
    this.#slackMs = slackMs
    this.batches = new BatchModel(must, slackMs)
  }

  /** Records that the store removed a delivery for a later one. */
  removed({ delivery_id }: Delivery): void {
    this.#replaced.add(delivery_id)
  }

  /** Returns the deliveries that an admission must end: of the groups that it replaces, and with keys that it cancels. */
  endedBy(
    { event, deliveries, cancels = [] }: Admission,
    stored: ReadonlyArray<DeliveryId>,
    others: Iterable<TrackedDelivery>
  ): ReadonlyArray<TrackedDelivery> {
    const replacing = deliveries.filter(
      ({ delivery, rules }) => stored.includes(delivery.delivery_id) && rules.some(({ _tag }) => _tag === "Replace")
    )
    return [...others].filter(({ delivery: other, isSettled }) => {
      if (isSettled) return false
      const { env_id, event_id, cancel_key } = other
      const isEarlier = env_id === event.env_id && event_id < event.event_id
      const isCancelled = isEarlier && cancel_key !== undefined && cancels.includes(cancel_key)
      return isCancelled || replacing.some(({ delivery }) => isSameGroup(delivery, other))
    })
  }

  /** True if a later delivery has replaced it, or may have: it never starts. */
  isReplaced({ delivery: { delivery_id }, runs }: TrackedDelivery): boolean {
    return runs.length === 0 && (this.#replaced.has(delivery_id) || this.#maybeReplaced.has(delivery_id))
  }

  /**
   * Checks a decision about a new delivery.
   *
   * @param now time of its publication, before `appliedAt` if the statement was late
   * @param others all deliveries before it
   */
  decided(
    { delivery, rules }: AdmittedDelivery,
    admitted: Stored,
    { now, appliedAt }: { readonly now: number; readonly appliedAt: number },
    others: Iterable<TrackedDelivery>
  ): void {
    const what = `delivery ${delivery.delivery_id} of ${delivery.var}`
    const decision = toDecision(admitted, delivery.delivery_id)
    const all = [...others]
    const refusal = rules.find((rule) => this.#mustRefuse(rule, delivery, now, all))
    this.#must(decision !== "dropped" || refusal !== undefined, `${what} is stored, because no rule drops it`)
    if (decision === "dropped") return
    const exceeded = rules.find((rule) => this.#mustRefuse(rule, delivery, now, all, this.#slackMs))
    this.#must(exceeded === undefined, `${what} is dropped by its rule ${exceeded?._tag}`)
    for (const rule of rules) {
      if (rule._tag === "Debounce") this.#debounce(rule, delivery, { now, appliedAt }, all)
      else if (rule._tag === "Batch") {
        if (decision === "stored") this.batches.opened(rule, delivery, now)
        else this.batches.joined(rule, delivery, now)
      } else this.#store(rule, delivery, now)
    }
  }

  /** True if the rule drops the delivery. With `slackMs`, limits are those of a period that is shorter by it. */
  #mustRefuse(
    rule: FlowRule,
    delivery: Delivery,
    now: number,
    others: ReadonlyArray<TrackedDelivery>,
    slackMs = 0
  ): boolean {
    switch (rule._tag) {
      case "Dedupe":
        return (this.#windows.get(toKey(delivery, rule.key)) ?? 0) > now + slackMs
      case "RateLimit":
        return this.#isFull(toKey(delivery, rule.key), rule.limit, rule.period_ms - slackMs, now)
      case "Singleton":
        return others.some(({ delivery: other, isSettled }) => !isSettled && isSameGroup(other, delivery))
      case "Debounce":
      case "Replace":
      case "Batch":
        return false
    }
  }

  #store(rule: FlowRule, delivery: Delivery, now: number): void {
    if (rule._tag === "Dedupe") this.#windows.set(toKey(delivery, rule.key), now + rule.window_ms)
    if (rule._tag === "RateLimit") this.#add(toKey(delivery, rule.key), now)
  }

  #debounce(
    rule: RuleOf<"Debounce">,
    delivery: Delivery,
    { now, appliedAt }: { readonly now: number; readonly appliedAt: number },
    others: ReadonlyArray<TrackedDelivery>
  ): void {
    const key = toKey(delivery, rule.key)
    const before = this.#debounced.get(key)
    const held = others.find(({ delivery: { delivery_id } }) => delivery_id === before?.delivery_id)
    const isPending = before !== undefined && held !== undefined && held.runs.length === 0 && !held.isSettled
    // A delivery that is due may wait for `concurrency` or `throttle`, and is not replaced then.
    const isDue = isPending && appliedAt >= this.#dueAt(before.delivery_id) - this.#slackMs
    if (isPending) (isDue ? this.#maybeReplaced : this.#replaced).add(before.delivery_id)
    const since = isPending ? before.since : now
    const last = rule.max_ms === null ? Number.MAX_VALUE : since + rule.max_ms
    this.#debounced.set(key, { delivery_id: delivery.delivery_id, since })
    this.#dueOf.set(delivery.delivery_id, Math.max(delivery.due_at, Math.min(now + rule.period_ms, last)))
  }

  /** Checks the start of a run, before it is added to those of its delivery. */
  started({ delivery, first }: TrackedDelivery, run: Run, event: Event | undefined): void {
    const what = describeRun(run)
    const due = this.#dueAt(delivery.delivery_id)
    this.#must(
      run.start_time >= due - this.#slackMs,
      `${what} starts when its debounce ends (got ${run.start_time - due} ms)`
    )
    this.#must(!this.#replaced.has(delivery.delivery_id), `${what} is not of a delivery that a later one has replaced`)
    const { ttl_ms } = delivery
    const isExpired =
      ttl_ms !== undefined && first === null && event !== undefined && run.start_time > event.event_time + ttl_ms
    if (isExpired) this.#expired.add(run.run_id)
    const { throttle } = delivery
    if (throttle === undefined || isExpired) return
    const key = toKey(delivery, throttle.key)
    const period = throttle.period_ms - this.#slackMs
    this.#must(
      !this.#isFull(key, throttle.limit, period, run.start_time),
      `${what} starts within its throttle of ${throttle.limit} per ${throttle.period_ms} ms`
    )
    this.#add(key, run.start_time)
  }

  /** Checks the end of a run by its node. */
  ended(run: Run): void {
    const says = run.result?.includes('"Expired"') === true
    const isExpired = this.#expired.has(run.run_id)
    this.#must(!says || isExpired, `${describeRun(run)} expires only after its ttl`)
    this.#must(
      !isExpired || run.status !== "succeeded",
      `${describeRun(run)} started after its ttl, and did not succeed`
    )
  }

  /** Returns the earliest time at which a debounced delivery can be due; 0 for any other. */
  #dueAt(deliveryId: Delivery["delivery_id"]): number {
    return this.#dueOf.get(deliveryId) ?? 0
  }

  /** True if no further time may follow: at `now`, or at the latest one if a clock is behind. */
  #isFull(key: string, limit: number, periodMs: number, now: number): boolean {
    const times = this.#times.get(key) ?? []
    const at = Math.max(now, times.at(-1) ?? now)
    return times.filter((time) => time > at - periodMs).length >= limit
  }

  #add(key: string, now: number): void {
    const times = this.#times.get(key) ?? []
    times.push(Math.max(now, times.at(-1) ?? now))
    this.#times.set(key, times)
  }
}

const toKey = ({ env_id }: Delivery, key: string): string => `${env_id} ${key}`

/** True if both have the same group. */
const isSameGroup = (a: Delivery, b: Delivery): boolean =>
  a.group !== null && a.env_id === b.env_id && a.group.key === b.group?.key
