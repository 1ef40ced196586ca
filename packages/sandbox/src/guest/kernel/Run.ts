/** The runs that are in progress in this isolate, and which of them is computing right now. */
import { limitError, namedError } from "./failures.ts"
import { emit } from "./Outbox.ts"
import {
  mapDelete,
  mapGet,
  mapSet,
  mapSize,
  NativeMap,
  NativePromise,
  NativeSet,
  NativeString,
  setAdd,
  setDelete,
  setForEach,
  setHas,
  setSize
} from "./primordials.ts"
import { isLonger, utf8Bytes } from "./utf8.ts"

export interface KernelLimits {
  readonly pendingHostCalls: number
  readonly pendingTimers: number
  readonly hostCallBytes: number
  readonly resultBytes: number
  readonly logBytes: number
  readonly exportsBytes: number
  readonly functionsWithMeta: number
  readonly outboxLength: number
}

export type LogLevel = "debug" | "info" | "warn" | "error"

interface PendingCall {
  readonly resolve: (payload: string) => void
  readonly reject: (error: unknown) => void
}

/** What a line counts beside its text: time, level, punctuation. */
const lineBytes = 16

/**
 * The platform above builds its texts with built-ins that user code may have replaced: what comes may be an object that
 * tells one length and reads as another text, and so forge frames. It is read once, before anything is counted.
 */
const textOf = (given: string): string => (typeof given === "string" ? given : NativeString(given))

const levelNumber = { debug: 0, info: 1, warn: 2, error: 3 }

export class Run {
  readonly id: number
  readonly fn: string
  /** Whether a returned response object is a response. */
  readonly responds: boolean
  readonly #limits: KernelLimits
  #ended = false
  #callsMade = 0
  #logBytes = 0
  #logFull = false
  #calls: Map<number, PendingCall> | undefined
  #timers: Set<number> | undefined
  /** Set by whoever made an AbortSignal for the run. */
  onStop: ((reason: string) => void) | undefined
  /** The run's `svc`. */
  svc: object | undefined

  constructor(id: number, fn: string, responds: boolean, limits: KernelLimits) {
    this.id = id
    this.fn = fn
    this.responds = responds
    this.#limits = limits
  }

  get ended(): boolean {
    return this.#ended
  }

  /** Asks the host; resolves with the answer's JSON text. */
  call(givenOp: string, givenPayload: string): Promise<string> {
    const op = textOf(givenOp)
    const payload = textOf(givenPayload)
    return new NativePromise((resolve, reject) => {
      if (this.#ended) throw namedError("RunEnded", "the run has ended")
      this.#calls ??= new NativeMap()
      if (mapSize(this.#calls) >= this.#limits.pendingHostCalls) {
        throw limitError("pendingHostCalls", `more than ${this.#limits.pendingHostCalls} host calls at once`)
      }
      if (isLonger(payload, this.#limits.hostCallBytes)) {
        throw limitError("hostCallBytes", `a host call's argument is over ${this.#limits.hostCallBytes} bytes`)
      }
      const id = this.#callsMade + 1
      emit("C", this.id, id, 0, op, payload)
      this.#callsMade = id
      mapSet(this.#calls, id, { resolve, reject })
    })
  }

  answer(call: number, ok: boolean, text: string, detail: string): void {
    if (this.#calls === undefined) return
    const pending = mapGet(this.#calls, call)
    if (pending === undefined) return
    mapDelete(this.#calls, call)
    if (ok) pending.resolve(text)
    else pending.reject(namedError(text, detail))
  }

  /** Appends to the log. Lines beyond the run's limit are dropped, and a last one says so. */
  log(level: LogLevel, givenMessage: string, givenData: string | null): void {
    if (this.#ended || this.#logFull) return
    const message = textOf(givenMessage)
    const data = givenData === null ? null : textOf(givenData)
    const bytes = this.#logBytes + lineBytes + utf8Bytes(message) + (data === null ? 0 : utf8Bytes(data))
    if (bytes > this.#limits.logBytes) {
      this.#logFull = true
      emit(
        "L",
        this.id,
        levelNumber.warn,
        0,
        `log limit of ${this.#limits.logBytes} bytes: later lines are dropped`,
        ""
      )
      return
    }
    emit("L", this.id, levelNumber[level], data === null ? 0 : 1, message, data ?? "")
    this.#logBytes = bytes
  }

  startTimer(timer: number, ms: number): void {
    this.#timers ??= new NativeSet()
    if (setSize(this.#timers) >= this.#limits.pendingTimers) {
      throw limitError("pendingTimers", `more than ${this.#limits.pendingTimers} timers at once`)
    }
    setAdd(this.#timers, timer)
    emit("T", this.id, timer, ms, "", "")
  }

  stopTimer(timer: number): void {
    if (this.#timers !== undefined && setDelete(this.#timers, timer)) emit("U", this.id, timer, 0, "", "")
  }

  /** Whether the timer was pending; it no longer is. */
  takeTimer(timer: number): boolean {
    return this.#timers !== undefined && setHas(this.#timers, timer) && setDelete(this.#timers, timer)
  }

  /** From here on the run can reach nothing: pending host calls never settle, timers are forgotten. */
  end(onTimerDropped: (timer: number) => void): void {
    this.#ended = true
    mapDelete(runs, this.id)
    this.#calls = undefined
    if (this.#timers !== undefined) setForEach(this.#timers, onTimerDropped)
    this.#timers = undefined
  }
}

const runs = new NativeMap<number, Run>()

export const findRun = (id: number): Run | undefined => mapGet(runs, id)
export const addRun = (run: Run): void => void mapSet(runs, run.id, run)

let current: Run | undefined

/**
 * The run on whose behalf code runs now. Exact from an entry up to its end, because each entry works for one run
 * and microtasks finish before the next: wrong only where one run awaits a promise that another one settles.
 */
export const currentRun = (): Run | undefined => current
export const enterRun = (run: Run | undefined): void => {
  current = run
}
