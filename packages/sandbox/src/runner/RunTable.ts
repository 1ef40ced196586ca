/** The active runs of one isolate, with their timers and their usage. */

import { type KernelMessage, messageKinds } from "./KernelMessage.ts"
import type { OutputFrame } from "./OutputFrames.ts"

export interface RunRecord {
  cpuMs: number
  /** Time at which it entered the isolate, on the monotonic clock; 0 before. */
  enteredAt: number
  timers: Map<number, NodeJS.Timeout> | undefined
  /** Time at which the supervisor requested its end, on the monotonic clock; 0 before. */
  stopRequestedAt: number
}

export class RunTable {
  readonly #runs = new Map<number, RunRecord>()

  add(run: number): void {
    this.#runs.set(run, { cpuMs: 0, enteredAt: 0, timers: undefined, stopRequestedAt: 0 })
  }

  /** Records the start of the runs that a batch invokes. */
  begin(messages: ReadonlyArray<KernelMessage>, now: number): void {
    for (const { kind, run } of messages) {
      const record = kind === messageKinds.invoke ? this.#runs.get(run) : undefined
      if (record !== undefined) record.enteredAt = now
    }
  }

  /** Returns the time since the run entered, in milliseconds; 0 while it is queued, undefined if it is unknown. */
  ageMs(run: number, now: number): number | undefined {
    const record = this.#runs.get(run)
    if (record === undefined) return undefined
    return record.enteredAt === 0 ? 0 : now - record.enteredAt
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

  startTimer(run: number, timer: number, ms: number, onDue: () => void): void {
    const record = this.#runs.get(run)
    if (record === undefined) return
    record.timers ??= new Map()
    record.timers.set(
      timer,
      setTimeout(() => {
        record.timers?.delete(timer)
        onDue()
      }, ms)
    )
  }

  stopTimer(run: number, timer: number): void {
    const timers = this.#runs.get(run)?.timers
    clearTimeout(timers?.get(timer))
    timers?.delete(timer)
  }

  /**
   * Divides the time of an entry among its runs: by the kernel's clock if that measured at least a millisecond, else
   * evenly by messages. The engine measures wall time in the isolate, which is close to CPU time if few isolates compute.
   */
  chargeCpu(batch: ReadonlyArray<{ readonly run: number }>, frames: ReadonlyArray<OutputFrame>, ms: number): void {
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
