/** The runs in progress in one isolate: their timers, and what they have used. */
import type { OutboxFrame } from "./Outbox.ts"
import { entries, type Pending } from "./Pending.ts"

export interface RunRecord {
  cpuMs: number
  /** When it went in, on the monotonic clock; 0 before. */
  begunAt: number
  timers: Map<number, NodeJS.Timeout> | undefined
  /** When the supervisor asked for its end, on the monotonic clock; 0 before. */
  stopAskedAt: number
}

export class RunBook {
  readonly #runs = new Map<number, RunRecord>()

  add(run: number): void {
    this.#runs.set(run, { cpuMs: 0, begunAt: 0, timers: undefined, stopAskedAt: 0 })
  }

  /** Messages go in: the runs that they invoke begin. */
  begin(messages: ReadonlyArray<Pending>, now: number): void {
    for (const { kind, run } of messages) {
      const record = kind === entries.invoke ? this.#runs.get(run) : undefined
      if (record !== undefined) record.begunAt = now
    }
  }

  /** For how many milliseconds it has been going on, 0 while it waits; undefined when it is not there. */
  ageMs(run: number, now: number): number | undefined {
    const record = this.#runs.get(run)
    if (record === undefined) return undefined
    return record.begunAt === 0 ? 0 : now - record.begunAt
  }

  get(run: number): RunRecord | undefined {
    return this.#runs.get(run)
  }

  entries(): Iterable<readonly [number, RunRecord]> {
    return this.#runs
  }

  cpuMs(run: number): number {
    return this.#runs.get(run)?.cpuMs ?? 0
  }

  end(run: number): void {
    const record = this.#runs.get(run)
    if (record?.timers !== undefined) for (const timer of record.timers.values()) clearTimeout(timer)
    this.#runs.delete(run)
  }

  clear(): void {
    for (const run of [...this.#runs.keys()]) this.end(run)
  }

  startTimer(run: number, timer: number, ms: number, due: () => void): void {
    const record = this.#runs.get(run)
    if (record === undefined) return
    record.timers ??= new Map()
    record.timers.set(
      timer,
      setTimeout(() => {
        record.timers?.delete(timer)
        due()
      }, ms)
    )
  }

  stopTimer(run: number, timer: number): void {
    const timers = this.#runs.get(run)?.timers
    clearTimeout(timers?.get(timer))
    timers?.delete(timer)
  }

  /**
   * Shares the time of an entry among its runs: by the kernel's clock where that saw a whole millisecond, else evenly
   * by messages. The engine's figure is wall time while entered, which with few isolates entered is near CPU time.
   */
  charge(batch: ReadonlyArray<{ readonly run: number }>, frames: ReadonlyArray<OutboxFrame>, ms: number): void {
    let weighed = 0
    if (ms >= 1) for (const frame of frames) if (frame.letter === "W") weighed += frame.a
    if (weighed === 0) {
      for (const { run } of batch) this.#add(run, ms / batch.length)
    } else {
      for (const frame of frames) if (frame.letter === "W") this.#add(frame.run, (ms * frame.a) / weighed)
    }
  }

  #add(run: number, ms: number): void {
    const record = this.#runs.get(run)
    if (record !== undefined) record.cpuMs += ms
  }
}
