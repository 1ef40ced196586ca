/** An event loop in virtual time. Work takes the time that a test gives it. */
import type { EventLoop } from "@weft/core/adapter"

export class VirtualLoop implements EventLoop {
  #now = 0
  #turns: Array<() => void> = []
  #afterTask: Array<() => void> = []
  #timers: Array<{ readonly at: number; readonly callback: () => void }> = []

  readonly now = (): number => this.#now

  readonly nextTurn = (callback: () => void): void => void this.#turns.push(callback)

  readonly after = (ms: number, callback: () => void): void => {
    this.#timers.push({ at: this.#now + ms, callback })
  }

  readonly afterTask = (callback: () => void): void => void this.#afterTask.push(callback)

  /** True if a turn is scheduled. */
  get isScheduled(): boolean {
    return this.#turns.length > 0
  }

  /** Computes for this long. */
  spend(ms: number): void {
    this.#now += ms
  }

  /** Runs a task, such as the callback of a socket. */
  task(work: () => void): void {
    work()
    for (const callback of this.#afterTask.splice(0)) callback()
  }

  /** Runs the callbacks of one turn. Returns its duration in milliseconds. */
  turn(): number {
    const startedAt = this.#now
    for (const callback of this.#turns.splice(0)) this.task(callback)
    return this.#now - startedAt
  }

  /** Runs turns until none is scheduled. */
  runAll(): void {
    while (this.isScheduled) this.turn()
  }

  /** Runs turns and timers until none is scheduled. */
  runTimers(): void {
    this.runAll()
    this.#timers.sort((a, b) => a.at - b.at)
    const next = this.#timers.shift()
    if (next === undefined) return
    this.#now = Math.max(this.#now, next.at)
    this.task(next.callback)
    this.runTimers()
  }
}
