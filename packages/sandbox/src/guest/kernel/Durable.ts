/**
 * The requests of a durable function: steps, sleeps, tokens and waits.
 *
 * Requests are numbered as the function makes them. JavaScript is deterministic: the same results in the same order lead to
 * the same requests. So a recorded result is given to the request of the same number. The host passes recorded results one
 * by one; the microtasks of each finish before the next.
 *
 * The body of a step runs only if its result is not recorded. Requests that are not recorded are host calls, and their
 * answers are the results.
 *
 * A cancellation is a result without a request. It rejects all pending requests; later ones are the cleanup.
 */
import { needsStep } from "./effects.ts"
import { namedError } from "./failures.ts"
import {
  apply,
  dateNow,
  getProperty,
  mapDelete,
  mapForEach,
  mapGet,
  mapSet,
  NativeMap,
  NativePromise,
  NativeTypeError,
  parse,
  slice,
  stringify,
  whenSettled
} from "./primordials.ts"
import { makeRandom, type Random } from "./Random.ts"
import { RequestCalls, type RequestResult } from "./RequestCalls.ts"
import type { Run } from "./Run.ts"
import { checkName, describe, type RecordedRequest, toError } from "./requests.ts"
import { attemptStep, readStepOptions, type StepOptions } from "./StepAttempt.ts"
import { StepContext } from "./StepContext.ts"
import { Tokens } from "./Tokens.ts"
import { Undos, withFailures } from "./Undos.ts"
import { Versions } from "./Versions.ts"

/** The fact `durable` of an invocation. */
export interface DurableFact {
  /** Recorded results in their order: number, kind and name of their requests. */
  readonly recorded: ReadonlyArray<readonly [seq: number, kind: string, name: string]>
  /** Number of recorded results that are copies from another run. Older code may have made them. */
  readonly copied?: number
  /** Waits that have begun: their requests, and the failed attempts of steps. */
  readonly waits: ReadonlyArray<readonly [seq: number, attempts: number]>
  /** Start of the run, in milliseconds since 1970. */
  readonly time: number
  /** True if the run was cancelled, with time for its cleanup. */
  readonly cancelled: boolean
}

interface Pending {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/** The number of the recorded cancellation, which has no request. */
const cancelSeq = -1

export class Durable {
  readonly #run: Run
  /** Ends the run with an error that its code cannot catch. */
  readonly #end: (error: Error) => void
  readonly #runId: string
  readonly #recorded = new NativeMap<number, RecordedRequest>()
  readonly #attempts = new NativeMap<number, number>()
  #pending = new NativeMap<number, Pending>()
  readonly #calls: RequestCalls
  /** Tokens and versions of the function. */
  readonly tokens = new Tokens(this)
  readonly versions = new Versions(this)
  readonly #random: Random
  /** True if the run was suspended before. */
  readonly #isContinued: boolean
  /** True while the body of a step runs until its first `await`. */
  #isInBody = false
  #seq = 0
  /** Recorded results that the function has not received. */
  #unreplayed: number
  /** Those of them that are copies from another run. */
  #copies: number
  /** Step bodies that are running. */
  #bodies = 0
  /** Time of the last result, in milliseconds since 1970. */
  #time: number
  /** Recorded requests that the function has not made. */
  #unmade = 0
  /** Step bodies that are running, by the numbers of their requests. */
  readonly #contexts = new NativeMap<number, StepContext>()
  readonly #undos = new Undos()
  /** True if effects outside of steps are refused. */
  readonly #isStrict: boolean
  #hasWarned = false
  readonly #wasCancelled: boolean
  /** True if the cancellation is among the recorded results. */
  #isCancelRecorded = false
  /** True once the function has received its cancellation. */
  #isCancelled = false
  /** Number of the first request that was not cancelled. */
  #from = 0
  #isWatching = false

  constructor(run: Run, runId: string, fact: DurableFact, isStrict: boolean, end: (error: Error) => void) {
    this.#run = run
    this.#isStrict = isStrict
    this.#wasCancelled = fact.cancelled
    this.#runId = runId
    this.#end = end
    this.#calls = new RequestCalls(run, end, (result) => {
      this.#time = result[2]
    })
    this.#time = fact.time
    this.#random = makeRandom(runId)
    this.#unreplayed = fact.recorded.length
    this.#copies = fact.copied ?? 0
    this.#isContinued = fact.waits.length > 0
    run.isMuted = this.#unreplayed > 0 || this.#isContinued
    for (let at = 0; at < fact.recorded.length; at++) {
      const recorded = fact.recorded[at]
      if (recorded === undefined) continue
      mapSet(this.#recorded, recorded[0], { kind: recorded[1], name: recorded[2] })
      if (recorded[0] === cancelSeq) this.#isCancelRecorded = true
      else if (recorded[1] === "version") this.versions.addRecorded(recorded[2], recorded[0])
      else this.#unmade++
    }
    for (let at = 0; at < fact.waits.length; at++) {
      const wait = fact.waits[at]
      if (wait !== undefined) mapSet(this.#attempts, wait[0], wait[1])
    }
  }

  /** True in the first part of the body of a step, where no requests can be made. */
  get isInBody(): boolean {
    return this.#isInBody
  }

  /** Time of the last result: the same in each replay. */
  get now(): number {
    return this.#time
  }

  /** Returns the next number of a sequence in [0, 1) that is the same in each replay. */
  random(): number {
    return this.#random()
  }

  /** `undo` undoes the step if the function fails later. */
  step(givenName: unknown, body: unknown, options: unknown, undo?: unknown): Promise<unknown> {
    const name = checkName("step", givenName)
    if (typeof body !== "function") throw new NativeTypeError("svc.step takes a name and a function")
    const read = readStepOptions(options, undo)
    const seq = this.#next()
    const result = this.#replayed(seq, "step", name) ?? this.#open(seq, this.#execute(seq, name, body, read))
    return read.undo === undefined ? result : this.#undoable(name, result, read.undo, options)
  }

  /** Waits for a time, an event, a token or a child run. `details` are fields of the host call. */
  wait(
    method: string,
    kind: "sleep" | "event" | "completion" | "run",
    givenName: unknown,
    details: object
  ): Promise<unknown> {
    return this.request("workflow.wait", kind, checkName(method, givenName), details)
  }

  /** Number of the next request. */
  get nextSeq(): number {
    return this.#seq
  }

  /** True while the function has not received all results that older code may have made. */
  get isReplayingCopies(): boolean {
    return this.#copies > 0
  }

  /** Makes a request. Returns its result: the recorded one, or else the answer. `details` are fields of the host call. */
  request(op: string, kind: string, name: string, details: object): Promise<unknown> {
    const seq = this.#next()
    const replayed = this.#replayed(seq, kind, name)
    if (replayed !== undefined) return replayed
    const fields = stringify(details)
    const payload = `{"seq":${seq},"kind":"${kind}","name":${stringify(name)}${fields === "{}" ? "}" : `,${slice(fields, 1)}`}`
    this.#watch()
    return this.#open(seq, this.#settle(this.#calls.ask(op, payload)))
  }

  /** Makes a request that has no place in the order of requests, so its number is negative. */
  requestUnordered(op: string, seq: number, details: object): Promise<unknown> {
    this.#calls.countChange()
    this.#watch()
    return this.#open(seq, this.#settle(this.#calls.ask(op, stringify(details))))
  }

  /** Returns a promise that a recorded result settles. */
  awaitRecorded(seq: number): Promise<unknown> {
    return new NativePromise((resolve, reject) => mapSet(this.#pending, seq, { resolve, reject }))
  }

  /** Ends the run in favor of a new one. Settles only if that is refused. */
  continueAsNew(args: object): Promise<unknown> {
    if (!this.checkEnd()) return new NativePromise(() => undefined)
    return this.#run.call("workflow.continue", stringify({ args }))
  }

  /** Gives a recorded result to its request. */
  replay(text: string): void {
    const result: RequestResult = parse(text)
    const seq = result[0]
    const pending = mapGet(this.#pending, seq)
    const isIgnored = seq === cancelSeq || seq < this.#from
    if (pending === undefined && !isIgnored) {
      const recorded = mapGet(this.#recorded, seq)
      this.#diverge(`request ${seq} was ${describe(recorded)} when it was recorded and is not made now`)
      return
    }
    mapDelete(this.#pending, seq)
    this.#unreplayed--
    this.#copies--
    this.#calls.countChange()
    // The code until here has run before, with its logs. If the run was suspended, so has the code until its waits.
    if (this.#unreplayed === 0 && !this.#isContinued) this.#run.isMuted = false
    this.#time = result[2]
    if (seq === cancelSeq) this.#cancel(result)
    else if (result[1] === true) pending?.resolve(result[3])
    else pending?.reject(toError(result[3]))
  }

  /** Ends the run if its function returned although it has not made all recorded requests. */
  checkEnd(): boolean {
    if (this.#unmade === 0) return true
    this.#diverge(`the function returned, but ${this.#unmade} of its recorded requests are not made now`)
    return false
  }

  /** True if steps must be undone, after the function failed or returned. */
  mustUndo(hasFailed: boolean): boolean {
    return this.#undos.isNeeded && (hasFailed || this.#isCancelled || this.#wasCancelled)
  }

  /** True while steps are undone. */
  get isUnwinding(): boolean {
    return this.#undos.isUnwinding
  }

  /** Undoes the completed steps. Returns the error of the run. */
  async unwind(thrown: unknown): Promise<unknown> {
    return withFailures(thrown, await this.#undos.unwind((text) => this.#run.log("error", text, null)))
  }

  /** Rejects a host call that is certainly outside of steps, or warns of the first one. */
  checkCall(op: string): void {
    if (this.#bodies > 0 || !needsStep(op)) return
    if (this.#isStrict) {
      throw namedError("OutsideStep", `${op} outside of a step would run again in each replay: wrap it in svc.step`)
    }
    if (this.#hasWarned) return
    this.#hasWarned = true
    this.#run.log(
      "warn",
      `${this.#run.fn}: ${op} outside of a step runs again in each replay: wrap it in svc.step`,
      null
    )
  }

  /** Reports to the host that the guest can do nothing until a wait ends. Called at the end of an entry. */
  checkIdle(): void {
    if (this.#unreplayed === 0 && this.#bodies === 0) this.#calls.reportIdle(this.#from)
  }

  #next(): number {
    if (this.#run.ended) throw namedError("RunEnded", "the run has ended")
    this.#calls.countChange()
    return this.#seq++
  }

  /** Returns the promise of a recorded result; undefined if the request is not recorded. */
  #replayed(seq: number, kind: string, name: string): Promise<unknown> | undefined {
    const recorded = mapGet(this.#recorded, seq)
    if (recorded === undefined) {
      // Its body has not ended before the cancellation, which rejects it again.
      return this.#isCancelRecorded && !this.#isCancelled && !this.isUnwinding ? this.awaitRecorded(seq) : undefined
    }
    this.#unmade--
    if (recorded.kind !== kind || recorded.name !== name) {
      this.#diverge(
        `request ${seq} was ${describe(recorded)} when it was recorded and is ${describe({ kind, name })} now`
      )
      return new NativePromise(() => undefined)
    }
    return this.awaitRecorded(seq)
  }

  /** Returns the promise of a request that is not recorded, which a cancellation rejects. */
  #open(seq: number, running: Promise<unknown>): Promise<unknown> {
    return new NativePromise((resolve, reject) => {
      mapSet(this.#pending, seq, { resolve, reject })
      whenSettled(
        running,
        (value) => {
          if (mapDelete(this.#pending, seq)) resolve(value)
        },
        (error) => {
          if (mapDelete(this.#pending, seq)) reject(error)
        }
      )
    })
  }

  /** Returns the promise of a step that is undone if the function fails after it. */
  async #undoable(name: string, result: Promise<unknown>, undo: object, options: unknown): Promise<unknown> {
    const value = await result
    const retry = typeof options === "object" && options !== null ? getProperty(options, "retry") : undefined
    const timeout = typeof options === "object" && options !== null ? getProperty(options, "timeout") : undefined
    this.#undos.add(name, undo, value, (undoName, body) => this.step(undoName, body, { retry, timeout }))
    return value
  }

  /** Asks the host for a cancellation, before the first other host call. */
  #watch(): void {
    if (this.#isWatching || this.#isCancelRecorded) return
    this.#isWatching = true
    this.#calls.watch((result) => this.#cancel(result))
  }

  /** Rejects all pending requests. While steps are undone, nothing is rejected, because that is the cleanup. */
  #cancel(result: RequestResult): void {
    this.#time = result[2]
    this.#isCancelled = true
    if (this.isUnwinding) return
    this.#from = this.#seq
    const pending = this.#pending
    this.#pending = new NativeMap()
    mapForEach(pending, ({ reject }) => reject(toError(result[3])))
    mapForEach(this.#contexts, (context) => StepContext.abort(context, toError(result[3])))
  }

  /** Runs the body until an attempt succeeds or the host records the failure. */
  async #execute(seq: number, name: string, body: object, options: StepOptions): Promise<unknown> {
    this.#watch()
    let attempt = mapGet(this.#attempts, seq) ?? 0
    if (attempt > 0) {
      await this.#calls.ask("workflow.wait", `{"seq":${seq},"kind":"step","name":${stringify(name)}}`)
    }
    // The promise of a cancelled request was rejected.
    while (seq >= this.#from) {
      attempt++
      const began = dateNow()
      const context = new StepContext(attempt, `${this.#runId}:${seq}`)
      mapSet(this.#contexts, seq, context)
      this.#bodies++
      this.#run.isMuted = false
      const run = (given: object) => this.#begin(body, given)
      const { ok, text, fields } = await attemptStep(name, run, context, options)
      this.#bodies--
      mapDelete(this.#contexts, seq)
      if (seq < this.#from) break
      const header = `{"seq":${seq},"name":${stringify(name)},"ok":${ok},"attempt":${attempt},"ms":${dateNow() - began}`
      const result = await this.#calls.ask("workflow.step", `${header}${fields}}\n${text}`, ok)
      if (result[1] === null) continue
      if (result[1]) return result[3]
      throw toError(result[3])
    }
    return undefined
  }

  /** Runs the body until its first `await`. */
  #begin(body: object, context: object): unknown {
    this.#isInBody = true
    try {
      return typeof body === "function" ? apply(body, undefined, [context]) : undefined
    } finally {
      this.#isInBody = false
    }
  }

  async #settle(asked: Promise<RequestResult>): Promise<unknown> {
    const result = await asked
    if (result[1] === true) return result[3]
    throw toError(result[3])
  }

  #diverge(message: string): void {
    this.#end(namedError("NonDeterminism", `${this.#run.fn}: ${message}`))
  }
}
