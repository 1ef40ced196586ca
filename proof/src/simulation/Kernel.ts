/**
 * A deterministic scheduler in virtual time: a seed decides the order of fibers and timers of several machines.
 *
 * Nothing depends on the event loop or the real machine, so a seed always gives the same history, step for step. A
 * crashed machine runs nothing more: no finalizer, no timer, no step of a fiber.
 */
import { type Clock, Duration, Effect, type Scheduler } from "effect"
import type { Draws } from "./Draws.ts"
import { Trace } from "./Trace.ts"

interface Timer {
  readonly at: number
  /** Random rank that orders timers of the same instant. */
  readonly rank: number
  readonly machine: Machine
  fire: (() => void) | null
}

interface Task {
  readonly machine: Machine
  readonly run: () => void
}

export interface Pace {
  /** Probability, 0 to 1, that the next task is drawn at random instead of the oldest. */
  readonly shuffle: number
  /** Maximum steps of a fiber before it yields. */
  readonly stepsMax: number
  /** True if the tasks of each machine keep their order. */
  readonly isOrdered: boolean
}

/** Start of virtual time, at the start of a minute because of cron expressions. */
export const epochMs = Date.UTC(2026, 0, 1)

export class Kernel {
  readonly trace: Trace
  /** The machine of clients and faults, which never crashes. */
  readonly world: Machine = new Machine(this, "world")
  readonly #draws: Draws
  readonly #pace: Pace
  readonly #timers: Array<Timer> = []
  #tasks: Array<Task> = []
  /** Index of the next task; the tasks before it have run. */
  #next = 0
  #now = epochMs
  #turns = 0

  constructor(draws: Draws, pace: Pace, recordsTrace: boolean) {
    this.#draws = draws
    this.#pace = pace
    this.trace = new Trace(() => this.#now - epochMs, recordsTrace)
  }

  /** Milliseconds since 1970. */
  get now(): number {
    return this.#now
  }

  /** Milliseconds since the start of virtual time. */
  get elapsed(): number {
    return this.#now - epochMs
  }

  get turns(): number {
    return this.#turns
  }

  get pace(): Pace {
    return this.#pace
  }

  machine(name: string): Machine {
    return new Machine(this, name)
  }

  schedule(machine: Machine, run: () => void): void {
    this.#tasks.push({ machine, run })
  }

  /** Calls back after `ms` milliseconds unless the machine has crashed by then. Returns a function that cancels it. */
  after(machine: Machine, ms: number, fire: () => void): () => void {
    const timer: Timer = { at: this.#now + Math.max(0, ms), rank: this.#draws.word(), machine, fire }
    push(this.#timers, timer)
    return () => {
      timer.fire = null
    }
  }

  /** Counts the pending timers of a machine. */
  countTimers(machine: Machine): number {
    return this.#timers.filter((timer) => timer.fire !== null && timer.machine === machine).length
  }

  /** Runs one task or timer that is due before `until` (elapsed milliseconds). Returns false if there is nothing to run. */
  turn(until: number): boolean {
    this.#turns++
    const task = this.#takeTask()
    if (task !== null) {
      if (task.machine.isAlive) task.run()
      return true
    }
    const timer = this.#timers[0]
    if (timer === undefined || timer.at > epochMs + until) {
      this.#now = Math.max(this.#now, epochMs + until)
      return false
    }
    pop(this.#timers)
    this.#now = Math.max(this.#now, timer.at)
    if (timer.machine.isAlive) timer.fire?.()
    return true
  }

  #takeTask(): Task | null {
    const pending = this.#tasks.length - this.#next
    if (pending === 0) {
      if (this.#next > 0) this.#tasks = []
      this.#next = 0
      return null
    }
    if (pending > 1 && this.#pace.shuffle > 0 && this.#draws.chance(this.#pace.shuffle)) {
      const drawn = this.#next + this.#draws.between(0, pending - 1)
      if (this.#pace.isOrdered) this.#bringForward(drawn)
      else this.#swap(this.#next, drawn)
    }
    return this.#tasks[this.#next++] ?? null
  }

  /** Makes the oldest task of a task's machine the next one. */
  #bringForward(drawn: number): void {
    const machine = this.#tasks[drawn]?.machine
    const oldest = this.#tasks.findIndex((task, index) => index >= this.#next && task.machine === machine)
    this.#tasks.splice(this.#next, 0, ...this.#tasks.splice(oldest, 1))
  }

  #swap(one: number, other: number): void {
    const [a, b] = [this.#tasks[one], this.#tasks[other]]
    if (a === undefined || b === undefined) return
    this.#tasks[one] = b
    this.#tasks[other] = a
  }
}

/** A failure domain with a clock and a scheduler: a node, the database, or the clients. */
export class Machine {
  readonly name: string
  readonly #kernel: Kernel
  #isAlive = true
  /** Milliseconds that the clock is ahead. */
  skewMs = 0

  constructor(kernel: Kernel, name: string) {
    this.#kernel = kernel
    this.name = name
  }

  get isAlive(): boolean {
    return this.#isAlive
  }

  crash(): void {
    this.#isAlive = false
  }

  readonly scheduler: Scheduler.Scheduler = {
    executionMode: "async",
    shouldYield: (fiber) => fiber.currentOpCount >= this.#kernel.pace.stepsMax,
    makeDispatcher: () => ({
      scheduleTask: (run) => this.#kernel.schedule(this, run),
      flush: () => undefined
    })
  }

  readonly clock: Clock.Clock = this.#clock()

  #clock(): Clock.Clock {
    const millis = () => Math.floor(this.#kernel.now + this.skewMs)
    const nanos = () => BigInt(millis()) * 1_000_000n
    const monotonic = () => BigInt(Math.floor(this.#kernel.elapsed)) * 1_000_000n
    return {
      currentTimeMillisUnsafe: millis,
      currentTimeMillis: Effect.sync(millis),
      currentTimeNanosUnsafe: nanos,
      currentTimeNanos: Effect.sync(nanos),
      monotonicTimeNanosUnsafe: monotonic,
      monotonicTimeNanos: Effect.sync(monotonic),
      sleep: (duration) =>
        Effect.callback((resume) => {
          const ms = Duration.toMillis(duration)
          if (ms === Number.POSITIVE_INFINITY) return
          return Effect.sync(this.#kernel.after(this, ms, () => resume(Effect.void)))
        })
    }
  }
}

/** Order of the binary heap: the earliest timer first. */
const isBefore = (a: Timer, b: Timer): boolean => a.at < b.at || (a.at === b.at && a.rank < b.rank)

const push = (heap: Array<Timer>, timer: Timer): void => {
  let index = heap.length
  heap.push(timer)
  while (index > 0) {
    const parent = (index - 1) >> 1
    const above = heap[parent]
    if (above === undefined || !isBefore(timer, above)) break
    heap[index] = above
    index = parent
  }
  heap[index] = timer
}

const pop = (heap: Array<Timer>): void => {
  const last = heap.pop()
  if (last === undefined || heap.length === 0) return
  let index = 0
  while (true) {
    const left = 2 * index + 1
    const [one, other] = [heap[left], heap[left + 1]]
    if (one === undefined) break
    const isOther = other !== undefined && isBefore(other, one)
    const least = isOther ? other : one
    if (!isBefore(least, last)) break
    heap[index] = least
    index = isOther ? left + 1 : left
  }
  heap[index] = last
}
