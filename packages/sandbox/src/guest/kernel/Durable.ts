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
import { limitError, namedError } from "./failures.ts"
import {
  apply,
  dateNow,
  getProperty,
  mapDelete,
  mapForEach,
  mapGet,
  mapSet,
  NativeError,
  NativeMap,
  NativePromise,
  NativeString,
  NativeTypeError,
  parse,
  slice,
  stringify,
  whenSettled
} from "./primordials.ts"
import { makeRandom, type Random } from "./Random.ts"
import type { Run } from "./Run.ts"
import { checkName, describe, nameLengthMax, type RecordedRequest, toError } from "./requests.ts"
import { attemptStep, readStepOptions, type StepOptions } from "./StepAttempt.ts"
import { StepContext } from "./StepContext.ts"
import { Undos, withFailures } from "./Undos.ts"

/** The fact `durable` of an invocation. */
export interface DurableFact {
  /** Recorded results in their order: number, kind and name of their requests. */
  readonly recorded: ReadonlyArray<readonly [seq: number, kind: string, name: string]>
  /** Waits that have begun: their requests, and the failed attempts of steps. */
  readonly waits: ReadonlyArray<readonly [seq: number, attempts: number]>
  /** Start of the run, in milliseconds since 1970. */
  readonly time: number
  /** True if the run was cancelled, with time for its cleanup. */
  readonly cancelled: boolean
}

/** A result: `ok` is null if a step is to be repeated now. */
type Result = readonly [seq: number, ok: boolean | null, time: number, value?: unknown]

interface Pending {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/** The number of the recorded cancellation, which has no request. */
const cancelSeq = -1

/** A token that the function has received: number and name of its request. */
interface CreatedToken {
  readonly seq: number
  readonly name: string
}

export class Durable {
  readonly #run: Run
  /** Ends the run with an error that its code cannot catch. */
  readonly #end: (error: Error) => void
  readonly #runId: string
  readonly #recorded = new NativeMap<number, RecordedRequest>()
  readonly #attempts = new NativeMap<number, number>()
  #pending = new NativeMap<number, Pending>()
  /** By the text that identifies the token for `waitForToken`. */
  readonly #tokens = new NativeMap<unknown, CreatedToken>()
  readonly #random: Random
  /** True if the run was suspended before. */
  readonly #isContinued: boolean
  /** Numbers of recorded versions, and the answers of this activation, by id. */
  readonly #versionSeqs = new NativeMap<string, number>()
  readonly #versions = new NativeMap<string, Promise<unknown>>()
  #versionCount = 0
  /** True while the body of a step runs until its first `await`. */
  #isInBody = false
  #seq = 0
  /** Recorded results that the function has not received. */
  #unreplayed: number
  /** Step bodies that are running. */
  #bodies = 0
  /** Host calls for requests that are not answered. */
  #asked = 0
  /** Answers to them. A report of idleness is stale if the host has given more. */
  #answers = 0
  /** Those that report a success. The host answers each after a commit, so the guest is not idle before. */
  #recording = 0
  /** Host calls `workflow.idle` that are not answered. */
  #idleAsked = 0
  /** Number of requests and results so far, and that number when the guest was last reported as idle. */
  #changes = 0
  #idleChanges = -1
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
  /** True from the host call for a cancellation on, and the number of such calls that are not answered. */
  #isWatching = false
  #watching = 0

  constructor(run: Run, runId: string, fact: DurableFact, isStrict: boolean, end: (error: Error) => void) {
    this.#run = run
    this.#isStrict = isStrict
    this.#wasCancelled = fact.cancelled
    this.#runId = runId
    this.#end = end
    this.#time = fact.time
    this.#random = makeRandom(runId)
    this.#unreplayed = fact.recorded.length
    this.#isContinued = fact.waits.length > 0
    run.isMuted = this.#unreplayed > 0 || this.#isContinued
    for (let at = 0; at < fact.recorded.length; at++) {
      const recorded = fact.recorded[at]
      if (recorded === undefined) continue
      mapSet(this.#recorded, recorded[0], { kind: recorded[1], name: recorded[2] })
      if (recorded[0] === cancelSeq) this.#isCancelRecorded = true
      else if (recorded[1] !== "version") this.#unmade++
      else {
        mapSet(this.#versionSeqs, recorded[2], recorded[0])
        this.#versionCount++
      }
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

  /** Creates a token. The host returns `{ url, token, id }`. */
  async createToken(givenName: unknown, options: unknown): Promise<unknown> {
    const name = checkName("createToken", givenName)
    const ms: unknown = typeof options === "object" && options !== null ? getProperty(options, "timeout") : undefined
    const seq = this.#next()
    const fields = `{"seq":${seq},"name":${stringify(name)}`
    const payload = ms === undefined ? `${fields}}` : `${fields},"ms":${stringify(ms)}}`
    const created = await (this.#replayed(seq, "token", name) ?? this.#requestToken(seq, payload))
    mapSet(this.#tokens, readToken(created), { seq, name })
    return created
  }

  #requestToken(seq: number, payload: string): Promise<unknown> {
    this.#watch()
    return this.#open(seq, this.#settle(this.#ask("workflow.token", payload)))
  }

  /** Waits for the completion of a token: its text, or the object that contains it. */
  waitForToken(given: unknown): Promise<unknown> {
    const token = mapGet(this.#tokens, typeof given === "string" ? given : readToken(given))
    if (token === undefined) throw new NativeTypeError("svc.waitForToken takes a token that svc.createToken returned")
    return this.wait("waitForToken", "completion", token.name, { token: token.seq })
  }

  /** Waits for a time, an event, a token or a child run. `details` are fields of the host call. */
  wait(
    method: string,
    kind: "sleep" | "event" | "completion" | "run",
    givenName: unknown,
    details: object
  ): Promise<unknown> {
    const name = checkName(method, givenName)
    const seq = this.#next()
    const replayed = this.#replayed(seq, kind, name)
    if (replayed !== undefined) return replayed
    const fields = stringify(details)
    const payload = `{"seq":${seq},"kind":"${kind}","name":${stringify(name)}${fields === "{}" ? "}" : `,${slice(fields, 1)}`}`
    this.#watch()
    return this.#open(seq, this.#settle(this.#ask("workflow.wait", payload)))
  }

  /** Calls a function in the background, once. */
  call(fn: string, args: object): Promise<unknown> {
    const name = slice(fn, 0, nameLengthMax)
    const seq = this.#next()
    const replayed = this.#replayed(seq, "call", name)
    if (replayed !== undefined) return replayed
    this.#watch()
    const payload = stringify({ seq, name, fn, args })
    return this.#open(seq, this.#settle(this.#ask("workflow.call", payload)))
  }

  /** Returns the recorded version of this id; 0 if older code made the record of this point. */
  version(id: unknown, max: unknown): Promise<unknown> {
    const name = checkName("version", id)
    const known = mapGet(this.#versions, name)
    if (known !== undefined) return known
    const version = this.#decideVersion(name, max)
    mapSet(this.#versions, name, version)
    return version
  }

  #decideVersion(name: string, max: unknown): Promise<unknown> {
    const recorded = mapGet(this.#versionSeqs, name)
    if (recorded !== undefined) {
      return new NativePromise((resolve, reject) => mapSet(this.#pending, recorded, { resolve, reject }))
    }
    if (this.#unreplayed > 0) return new NativePromise((resolve) => resolve(0))
    this.#versionCount++
    this.#changes++
    return this.#settle(
      this.#ask("workflow.version", stringify({ seq: cancelSeq - 1 - this.#versionCount, name, max }))
    )
  }

  /** Ends the run in favor of a new one. Settles only if that is refused. */
  continueAsNew(args: object): Promise<unknown> {
    if (!this.checkEnd()) return new NativePromise(() => undefined)
    return this.#run.call("workflow.continue", stringify({ args }))
  }

  /** Gives a recorded result to its request. */
  replay(text: string): void {
    const result: Result = parse(text)
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
    this.#changes++
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
    const run = this.#run
    const isWaiting =
      this.#unreplayed === 0 &&
      this.#bodies === 0 &&
      this.#recording === 0 &&
      run.pendingTimers === 0 &&
      run.pendingCalls === this.#asked + this.#idleAsked + this.#watching
    if (run.ended || !isWaiting || this.#changes === this.#idleChanges) return
    if (this.#asked === 0) {
      this.#end(namedError("Stalled", `${run.fn} waits for a promise that nothing can settle`))
      return
    }
    this.#idleChanges = this.#changes
    this.#idleAsked++
    const answered = () => {
      this.#idleAsked--
    }
    const payload = `{"answers":${this.#answers},"from":${this.#from}}`
    whenSettled(run.call("workflow.idle", payload), answered, answered)
  }

  #next(): number {
    if (this.#run.ended) throw namedError("RunEnded", "the run has ended")
    this.#changes++
    return this.#seq++
  }

  /** Returns the promise of a recorded result; undefined if the request is not recorded. */
  #replayed(seq: number, kind: string, name: string): Promise<unknown> | undefined {
    const recorded = mapGet(this.#recorded, seq)
    if (recorded === undefined) {
      // Its body has not ended before the cancellation, which rejects it again.
      return this.#isCancelRecorded && !this.#isCancelled && !this.isUnwinding ? this.#await(seq) : undefined
    }
    this.#unmade--
    if (recorded.kind !== kind || recorded.name !== name) {
      this.#diverge(
        `request ${seq} was ${describe(recorded)} when it was recorded and is ${describe({ kind, name })} now`
      )
      return new NativePromise(() => undefined)
    }
    return this.#await(seq)
  }

  /** Returns a promise that a recorded result settles. */
  #await(seq: number): Promise<unknown> {
    return new NativePromise((resolve, reject) => mapSet(this.#pending, seq, { resolve, reject }))
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
    this.#watching++
    whenSettled(
      this.#run.call("workflow.cancellation", "{}"),
      (text) => {
        this.#watching--
        this.#answers++
        this.#changes++
        this.#run.isMuted = false
        this.#cancel(parse(NativeString(text)))
      },
      () => {
        this.#watching--
      }
    )
  }

  /** Rejects all pending requests. While steps are undone, nothing is rejected, because that is the cleanup. */
  #cancel(result: Result): void {
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
      await this.#ask("workflow.wait", `{"seq":${seq},"kind":"step","name":${stringify(name)}}`)
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
      const result: Result = await this.#ask("workflow.step", `${header}${fields}}\n${text}`, ok)
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

  async #settle(asked: Promise<Result>): Promise<unknown> {
    const result = await asked
    if (result[1] === true) return result[3]
    throw toError(result[3])
  }

  /** Makes a host call. Its answer is the next result that the function receives. */
  #ask(op: string, payload: string, isRecording = false): Promise<Result> {
    // One call remains for `workflow.idle`, without which the run could not be suspended.
    if (this.#run.freeCalls < 2) throw limitError("pendingHostCalls", "too many pending requests")
    this.#asked++
    if (isRecording) this.#recording++
    return new NativePromise((resolve, reject) => {
      whenSettled(
        this.#run.call(op, payload),
        (text) => {
          this.#asked--
          this.#answers++
          if (isRecording) this.#recording--
          this.#changes++
          this.#run.isMuted = false
          const result: Result = parse(NativeString(text))
          this.#time = result[2]
          resolve(result)
        },
        (error) => {
          this.#asked--
          this.#answers++
          if (isRecording) this.#recording--
          this.#changes++
          if (error instanceof NativeError && error.name === "NonDeterminism") this.#end(error)
          else reject(error)
        }
      )
    })
  }

  #diverge(message: string): void {
    this.#end(namedError("NonDeterminism", `${this.#run.fn}: ${message}`))
  }
}

/** Returns the text of a token; undefined for anything else. */
const readToken = (token: unknown): unknown =>
  typeof token === "object" && token !== null ? getProperty(token, "token") : undefined
