/** The active runs of this isolate, and the current one. */
import type { Durable } from "./Durable.ts"
import { limitError, namedError } from "./failures.ts"
import { emit } from "./OutputBuffer.ts"
import {
  mapDelete,
  mapForEach,
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
  readonly cryptoBytes: number
  readonly exportsBytes: number
  readonly functionsWithMeta: number
  readonly outboxLength: number
}

export type LogLevel = "debug" | "info" | "warn" | "error"

interface PendingCall {
  readonly resolve: (payload: string) => void
  readonly reject: (error: unknown) => void
  /** Length of the request, if it is a computation. */
  readonly length: number
}

/** Bytes counted per log line in addition to its text: time, level, punctuation. */
const lineOverheadBytes = 16

/**
 * Returns the text of a value that may be hostile.
 *
 * The platform builds its texts with built-ins that user code may have replaced. A value may be an object with a wrong
 * length, which could forge frames. So it is converted once, before its length is counted.
 */
const readText = (given: string): string => (typeof given === "string" ? given : NativeString(given))

const levelNumber = { debug: 0, info: 1, warn: 2, error: 3 }

export class Run {
  readonly id: number
  readonly fn: string
  /** True if a returned response object becomes the HTTP response. */
  readonly responds: boolean
  readonly #limits: KernelLimits
  #ended = false
  #scope: object | undefined
  #callsMade = 0
  #logBytes = 0
  #logFull = false
  /** Length of the pending requests for computations. */
  #computing = 0
  #calls: Map<number, PendingCall> | undefined
  #timers: Set<number> | undefined
  /** Set when an AbortSignal exists for the run. */
  onStop: ((reason: string) => void) | undefined
  /** The run's `svc`. */
  svc: object | undefined
  /** Of a durable function. */
  durable: Durable | undefined
  /** True while recorded results are replayed, whose logs are stored already. */
  isMuted = false

  constructor(id: number, fn: string, responds: boolean, limits: KernelLimits) {
    this.id = id
    this.fn = fn
    this.responds = responds
    this.#limits = limits
  }

  /** Stands for the run in the platform, which must not have the run itself. */
  get scope(): object {
    this.#scope ??= {}
    return this.#scope
  }

  get ended(): boolean {
    return this.#ended
  }

  get pendingCalls(): number {
    return this.#calls === undefined ? 0 : mapSize(this.#calls)
  }

  /** Number of host calls that may be made before one of the pending calls ends. */
  get freeCalls(): number {
    return this.#limits.pendingHostCalls - this.pendingCalls
  }

  get pendingTimers(): number {
    return this.#timers === undefined ? 0 : setSize(this.#timers)
  }

  /** Calls the host; resolves with the result as JSON text. */
  call(givenOp: string, givenPayload: string): Promise<string> {
    const op = readText(givenOp)
    const payload = readText(givenPayload)
    return new NativePromise((resolve, reject) => {
      if (this.#ended) throw namedError("RunEnded", "the run has ended")
      this.durable?.checkCall(op)
      if (isLonger(payload, this.#limits.hostCallBytes)) {
        throw limitError("hostCallBytes", `a host call's argument is over ${this.#limits.hostCallBytes} bytes`)
      }
      this.#request("C", op, payload, { resolve, reject, length: 0 })
    })
  }

  /** Requests a computation of the runner; resolves with the answer. `bytes` is binary text. */
  compute(givenRequest: string, givenBytes: string): Promise<string> {
    const request = readText(givenRequest)
    const bytes = readText(givenBytes)
    const length = request.length + bytes.length
    return new NativePromise((resolve, reject) => {
      if (this.#ended) throw namedError("RunEnded", "the run has ended")
      if (this.#computing + length > this.#limits.cryptoBytes) {
        throw limitError("cryptoBytes", `pending data of crypto.subtle is over ${this.#limits.cryptoBytes} bytes`)
      }
      this.#request("K", request, bytes, { resolve, reject, length })
      this.#computing += length
    })
  }

  #request(letter: "C" | "K", first: string, second: string, pending: PendingCall): void {
    this.#calls ??= new NativeMap()
    if (mapSize(this.#calls) >= this.#limits.pendingHostCalls) {
      throw limitError("pendingHostCalls", `more than ${this.#limits.pendingHostCalls} pending host calls`)
    }
    const id = this.#callsMade + 1
    emit(letter, this.id, id, 0, first, second)
    this.#callsMade = id
    mapSet(this.#calls, id, pending)
  }

  settleCall(call: number, ok: boolean, text: string, detail: string): void {
    if (this.#calls === undefined) return
    const pending = mapGet(this.#calls, call)
    if (pending === undefined) return
    mapDelete(this.#calls, call)
    this.#computing -= pending.length
    if (ok) pending.resolve(text)
    else pending.reject(namedError(text, detail))
  }

  /** Appends to the log. Drops lines beyond the run's limit, after a last one that reports it. */
  log(level: LogLevel, givenMessage: string, givenData: string | null): void {
    if (this.#ended || this.#logFull || this.isMuted) return
    const message = readText(givenMessage)
    const data = givenData === null ? null : readText(givenData)
    const bytes = this.#logBytes + lineOverheadBytes + utf8Bytes(message) + (data === null ? 0 : utf8Bytes(data))
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
      throw limitError("pendingTimers", `more than ${this.#limits.pendingTimers} pending timers`)
    }
    setAdd(this.#timers, timer)
    emit("T", this.id, timer, ms, "", "")
  }

  stopTimer(timer: number): void {
    if (this.#timers !== undefined && setDelete(this.#timers, timer)) emit("U", this.id, timer, 0, "", "")
  }

  /** Removes a timer; true if it was pending. */
  takeTimer(timer: number): boolean {
    return this.#timers !== undefined && setHas(this.#timers, timer) && setDelete(this.#timers, timer)
  }

  /** Ends the run: its pending host calls never settle, and its timers are removed. */
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
/** Returns any active run. */
export const anyRun = (): Run | undefined => {
  let found: Run | undefined
  mapForEach(runs, (run) => {
    found ??= run
  })
  return found
}
export const addRun = (run: Run): void => void mapSet(runs, run.id, run)

let current: Run | undefined

/**
 * Returns the run for which code executes now.
 *
 * It is exact within an entry, because each message belongs to one run, and its microtasks finish before the next
 * message. It is wrong only if one run awaits a promise that another run settles.
 */
export const currentRun = (): Run | undefined => current
export const enterRun = (run: Run | undefined): void => {
  current = run
}
