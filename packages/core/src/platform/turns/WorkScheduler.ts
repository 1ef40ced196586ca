/**
 * Shares the event loop between environments, and between connections without a credential.
 *
 * `docs/design/turns.md` states the algorithm and its invariants. In short: if nothing waits and this turn of the loop has
 * time left, work runs at once. Otherwise it is queued under its key. The keys then take turns (deficit round robin by
 * measured time), and after `turnBudgetMs` the loop reads its sockets. Keys with long work pause after it (`Rest`).
 */
import type { AnySeries } from "../../foundation/telemetry/Series.ts"
import type { EventLoop } from "./EventLoop.ts"
import { Lane, type QueuedWork } from "./Lane.ts"
import { Rest } from "./Rest.ts"
import { TurnMeter } from "./TurnMeter.ts"
import type { WorkKind } from "./WorkKind.ts"

export interface TurnLimits {
  /** Time for all work in one turn of the event loop, in milliseconds. */
  readonly turnBudgetMs: number
  /** Time per round for a key of weight 1, in milliseconds. */
  readonly quantumMs: number
  /** Maximum pieces of work that wait under one key. */
  readonly queuedPerKey: number
  /** Maximum bytes that waiting work of one key holds in memory. */
  readonly queuedBytesPerKey: number
}

/** A webhook crosses the loop about five times, so each crossing may only take a few milliseconds. */
export const defaultTurnLimits: TurnLimits = {
  turnBudgetMs: 3,
  quantumMs: 1,
  queuedPerKey: 20_000,
  queuedBytesPerKey: 64 * 1024 * 1024
}

/** Share of the budget from which on the end of a turn is observed. Below it, nothing is scheduled. */
const observedShare = 0.25

/** Maximum debt of a key after work that took longer than its quantum, in milliseconds. */
const debtMaxMs = 50

/** Interval of the reports by key, in milliseconds. Keys that used no time in one of them are forgotten. */
const reportMs = 10_000

/** Prefix of keys of connections. */
const connectionPrefix = "connection:"
const connectionWeight = 0.25

/** Returns the key of a connection without a credential. Four of them have the weight of an environment. */
export const connectionKey = (id: number): string => `${connectionPrefix}${id}`

const weightOf = (key: string): number => (key.startsWith(connectionPrefix) ? connectionWeight : 1)

export class WorkScheduler {
  readonly #loop: EventLoop
  readonly #limits: TurnLimits
  readonly #observedMs: number
  readonly #meter = new TurnMeter()
  readonly #lanes = new Map<string, Lane>()
  /** Lanes with queued work. Their order is that of their turns. */
  readonly #ring = new Set<Lane>()
  /** Lanes with queued work that wait for the end of the pause. */
  readonly #resting = new Set<Lane>()
  readonly #rest: Rest
  #latest: Lane
  #queued = 0
  /** Time that work has used in this turn of the loop. */
  #spentMs = 0
  /** Time of work that ran within the current work. */
  #innerMs = 0
  #depth = 0
  #isArmed = false
  #isTimed = false
  /** Lane of the fiber that began at once in the current task of the loop. */
  #open: Lane | null = null
  #openKind: WorkKind = "request"
  #openedAt = 0
  #isEndScheduled = false
  #turn = 0
  #period = 0
  #reportedAt: number

  constructor(loop: EventLoop, limits: TurnLimits = defaultTurnLimits) {
    this.#loop = loop
    this.#limits = limits
    this.#observedMs = limits.turnBudgetMs * observedShare
    this.#rest = new Rest(limits.turnBudgetMs)
    this.#latest = new Lane("", 1)
    this.#reportedAt = loop.now()
  }

  /** Number of the current turn. Work that waited for something else finds another one if the loop was busy meanwhile. */
  get turn(): number {
    return this.#turn
  }

  /** Pieces of work that wait. */
  get queued(): number {
    return this.#queued
  }

  /**
   * Runs `work` at once, or later in its turn. Returns false, without running it, if too much work of the key waits.
   * `bytes` is the memory that the work holds while it waits. Work of one key runs in the order of the calls. It must not
   * throw.
   */
  offer(key: string, kind: WorkKind, bytes: number, work: () => void): boolean {
    const lane = this.#lane(key)
    if (this.#mayRunNow(lane)) {
      this.#runNow(lane, kind, work)
      return true
    }
    const { queuedPerKey, queuedBytesPerKey } = this.#limits
    if (lane.size >= queuedPerKey || (lane.bytes + bytes > queuedBytesPerKey && lane.size > 0)) {
      this.#meter.refused(kind)
      return false
    }
    this.#enqueue(lane, { kind, bytes, run: work, queuedAt: this.#loop.now() })
    return true
  }

  /** As `offer`, without bounds: for work that ends what was admitted before, and is bounded by it. */
  run(key: string, kind: WorkKind, work: () => void): void {
    const lane = this.#lane(key)
    if (this.#mayRunNow(lane)) this.#runNow(lane, kind, work)
    else this.#enqueue(lane, { kind, bytes: 0, run: work, queuedAt: this.#loop.now() })
  }

  /**
   * True if work of the key may run at once. Then the time until the end of the current task of the loop is charged to the
   * key. For fibers, whose work is no function. If it returns false, use `offer`.
   */
  begin(key: string, kind: WorkKind): boolean {
    const lane = this.#lane(key)
    // Within other work, that work pays.
    if (this.#depth > 0) return this.#mayRunNow(lane)
    const now = this.#loop.now()
    this.#endOpen(now)
    if (!this.#mayRunNow(lane)) return false
    this.#open = lane
    this.#openKind = kind
    this.#openedAt = now
    if (!this.#isEndScheduled) {
      this.#isEndScheduled = true
      this.#loop.afterTask(this.#endTask)
    }
    return true
  }

  readonly #endTask = (): void => {
    this.#isEndScheduled = false
    this.#endOpen(this.#loop.now())
  }

  #endOpen(now: number): void {
    if (this.#open === null) return
    const ms = now - this.#openedAt
    this.#charge(this.#open, ms, now)
    this.#meter.ran(this.#openKind, ms)
    this.#open = null
  }

  /** Reads the metrics. */
  read(): ReadonlyArray<AnySeries> {
    return this.#meter.read(this.#queued, this.#ring.size + this.#resting.size)
  }

  /** True if no other lane waits for its turn, and this lane need not pause. */
  #mayRunNow(lane: Lane): boolean {
    return this.#ring.size === 0 && this.#spentMs < this.#limits.turnBudgetMs && !this.#mustRest(lane)
  }

  #mustRest(lane: Lane): boolean {
    return lane.size > 0 || this.#isHeld(lane)
  }

  #isHeld(lane: Lane): boolean {
    return lane.longUntil > 0 && this.#rest.holds(lane, this.#loop.now())
  }

  #runNow(lane: Lane, kind: WorkKind, work: () => void): void {
    this.#meter.ran(kind, this.#measure(lane, work))
  }

  /** Runs the work, charges its time to the lane and returns it. Work within it is charged to its own lane only. */
  #measure(lane: Lane, work: () => void): number {
    const outerMs = this.#innerMs
    this.#innerMs = 0
    this.#depth++
    const startedAt = this.#loop.now()
    let ownMs = 0
    try {
      work()
    } finally {
      const endedAt = this.#loop.now()
      const totalMs = endedAt - startedAt
      ownMs = Math.max(0, totalMs - this.#innerMs)
      this.#innerMs = outerMs + totalMs
      if (--this.#depth === 0) this.#innerMs = 0
      this.#charge(lane, ownMs, endedAt)
    }
    return ownMs
  }

  #charge(lane: Lane, ms: number, now: number): void {
    this.#settle(lane)
    this.#rest.record(lane, ms, now)
    lane.balanceMs = Math.max(-debtMaxMs, lane.balanceMs - ms)
    lane.reportedMs += ms
    this.#spentMs += ms
    if (this.#spentMs >= this.#observedMs) this.#arm()
  }

  /** Brings the balance of a lane up to date: debt ends with the contention, and shrinks by a quantum per turn. */
  #settle(lane: Lane): void {
    if (lane.period !== this.#period) lane.balanceMs = 0
    else if (lane.size === 0 && lane.balanceMs < 0) {
      const repaidMs = (this.#turn - lane.turn) * this.#limits.quantumMs * lane.weight
      lane.balanceMs = Math.min(0, lane.balanceMs + repaidMs)
    }
    lane.period = this.#period
    lane.turn = this.#turn
  }

  #lane(key: string): Lane {
    if (this.#latest.key === key) return this.#latest
    let lane = this.#lanes.get(key)
    if (lane === undefined) {
      lane = new Lane(key, weightOf(key))
      this.#lanes.set(key, lane)
    }
    this.#latest = lane
    return lane
  }

  #enqueue(lane: Lane, work: QueuedWork): void {
    if (lane.size === 0) {
      this.#settle(lane)
      this.#join(lane)
    }
    lane.push(work)
    this.#queued++
    this.#schedule()
  }

  #join(lane: Lane): void {
    if (this.#isHeld(lane)) this.#resting.add(lane)
    else this.#ring.add(lane)
  }

  /** Schedules the next turn: at once, or after the pause if all lanes with queued work wait for its end. */
  #schedule(): void {
    if (this.#ring.size > 0) {
      this.#arm()
      return
    }
    if (this.#resting.size === 0 || this.#isTimed) return
    this.#isTimed = true
    this.#loop.after(Math.max(0, this.#rest.until - this.#loop.now()), () => {
      this.#isTimed = false
      this.#endRest()
      this.#schedule()
    })
  }

  /** Lets lanes take turns again once the pause has ended. */
  #endRest(): void {
    if (this.#resting.size === 0 || this.#rest.until > this.#loop.now()) return
    for (const lane of this.#resting) this.#ring.add(lane)
    this.#resting.clear()
  }

  #arm(): void {
    if (this.#isArmed) return
    this.#isArmed = true
    this.#loop.nextTurn(this.#beginTurn)
  }

  readonly #beginTurn = (): void => {
    this.#isArmed = false
    this.#turn++
    this.#spentMs = 0
    if (this.#queued === 0) this.#period++
    this.#endRest()
    try {
      this.#drain()
    } finally {
      this.#schedule()
      const now = this.#loop.now()
      if (now - this.#reportedAt >= reportMs) this.#report(now)
    }
  }

  /** Runs queued work, lane by lane, until the budget of this turn is spent. */
  #drain(): void {
    const { quantumMs, turnBudgetMs } = this.#limits
    while (this.#spentMs < turnBudgetMs) {
      const [lane] = this.#ring
      if (lane === undefined) return
      if (this.#isHeld(lane)) {
        this.#ring.delete(lane)
        this.#resting.add(lane)
        continue
      }
      if (!lane.isCredited) {
        // Alone, a lane has no debt to any other.
        lane.balanceMs = this.#ring.size === 1 ? quantumMs : Math.min(0, lane.balanceMs) + quantumMs * lane.weight
        lane.isCredited = true
      }
      if (lane.balanceMs > 0) this.#runNext(lane)
      if (lane.size === 0) {
        this.#ring.delete(lane)
        lane.isCredited = false
        lane.balanceMs = Math.min(0, lane.balanceMs)
        lane.turn = this.#turn
      } else if (lane.balanceMs <= 0) {
        this.#ring.delete(lane)
        this.#ring.add(lane)
        lane.isCredited = false
      }
    }
  }

  #runNext(lane: Lane): void {
    const work = lane.shift()
    if (work === undefined) return
    this.#queued--
    const waitedMs = this.#loop.now() - work.queuedAt
    this.#meter.ranAfterWait(work.kind, this.#measure(lane, work.run), waitedMs)
  }

  #report(now: number): void {
    this.#reportedAt = now
    const times: Array<number> = []
    for (const lane of this.#lanes.values()) {
      if (lane.reportedMs > 0) times.push(lane.reportedMs)
      else if (lane.size === 0) this.#lanes.delete(lane.key)
      lane.reportedMs = 0
    }
    this.#latest = new Lane("", 1)
    this.#meter.reportKeys(times)
  }
}
