/** What a run did that others can see, in the order in which it did it. Everything is as JSON has it. */

import type { Duration } from "../Meta.ts"
import type { LogLevel, NewSchedule } from "../Svc.ts"

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
  /** Of the host function. */
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
  /** Of `svc.log` and `console`. */
  readonly logs: ReadonlyArray<LogLine>
}

export class RunBook implements Records {
  readonly published: Array<PublishedEvent> = []
  readonly calls: Array<Call> = []
  readonly scheduled: Array<CreatedSchedule> = []
  readonly cancelled: Array<{ readonly id: string } | { readonly fn: string }> = []
  readonly hostCalls: Array<HostCall> = []
  readonly emitted: Array<Emitted> = []
  readonly logs: Array<LogLine> = []
  #ended = false

  /** From here on the run can reach nothing, and what it logs is lost. */
  end(): void {
    this.#ended = true
  }

  get ended(): boolean {
    return this.#ended
  }

  log(level: LogLevel, message: string, data: unknown): void {
    if (!this.#ended) this.logs.push({ level, message, data })
  }
}
