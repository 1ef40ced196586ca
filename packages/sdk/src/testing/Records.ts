/** Records of the visible actions of a run, in order. All values are converted through JSON. */

import type { Duration } from "../Meta.ts"
import type { LogLevel } from "../Svc.ts"
import type { NewSchedule } from "../SvcOperations.ts"

export interface PublishedEvent {
  readonly type: string
  readonly data: unknown
  readonly stream_id?: string
  readonly delay?: Duration
}

export interface Call {
  readonly fn: string
  readonly args: ReadonlyArray<unknown>
}

export interface CreatedSchedule extends NewSchedule {
  readonly schedule_id: string
}

export interface HostCall {
  /** Name of the host function. */
  readonly name: string
  readonly input: unknown
}

export interface Emitted {
  readonly data_type: string
  readonly payload: unknown
}

export interface LogLine {
  readonly level: LogLevel
  readonly message: string
  readonly data: unknown
}

export interface Records {
  readonly published: ReadonlyArray<PublishedEvent>
  readonly calls: ReadonlyArray<Call>
  readonly scheduled: ReadonlyArray<CreatedSchedule>
  readonly cancelled: ReadonlyArray<{ readonly id: string } | { readonly fn: string }>
  readonly hostCalls: ReadonlyArray<HostCall>
  readonly emitted: ReadonlyArray<Emitted>
  /** Lines of `svc.log` and `console`. */
  readonly logs: ReadonlyArray<LogLine>
}

export class RunBook implements Records {
  readonly published: Array<PublishedEvent>
  readonly calls: Array<Call>
  readonly scheduled: Array<CreatedSchedule>
  readonly cancelled: Array<{ readonly id: string } | { readonly fn: string }>
  readonly hostCalls: Array<HostCall>
  readonly emitted: Array<Emitted>
  readonly logs: Array<LogLine>
  /** True while the lines of the log are recorded already. */
  isMuted = false
  #ended = false

  /** @param previous the book of an earlier activation of the run, which this one continues. */
  constructor(previous?: RunBook) {
    this.published = previous?.published ?? []
    this.calls = previous?.calls ?? []
    this.scheduled = previous?.scheduled ?? []
    this.cancelled = previous?.cancelled ?? []
    this.hostCalls = previous?.hostCalls ?? []
    this.emitted = previous?.emitted ?? []
    this.logs = previous?.logs ?? []
  }

  /** Ends the run: its later calls reject, and its later log lines are dropped. */
  end(): void {
    this.#ended = true
  }

  get ended(): boolean {
    return this.#ended
  }

  log(level: LogLevel, message: string, data: unknown): void {
    if (!this.#ended && !this.isMuted) this.logs.push({ level, message, data })
  }
}
