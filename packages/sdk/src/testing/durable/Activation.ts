/**
 * One stay of a durable run in memory: from the first line of its function until it ends or waits.
 *
 * Requests are numbered as the function makes them. Recorded results are given to the requests of the same number, one per
 * turn of the event loop. New results follow in the order in which they come. `docs/design/durable.md` describes the rules.
 */
import { setTimeout as pause, setImmediate as turn } from "node:timers/promises"
import { namedError } from "../failures.ts"
import type { ActivationOptions, Ending, MadeRequest, NumberedRequest } from "./ActivationHost.ts"
import { callSite, formatPlace } from "./callSite.ts"
import {
  describeRequest,
  hasEnded,
  type RecordedResult,
  type RequestName,
  requestKinds,
  type Settled,
  type Wait
} from "./History.ts"
import { makeRandom } from "./Random.ts"
import { attemptOnce, checkName, type EndedAttempt, failed, toError, toValue } from "./Requests.ts"
import { noRetry, type RetryPolicy, retryDelayMs } from "./RetryPolicy.ts"
import { Versions } from "./Versions.ts"
import { currentZone, withZone, type Zone } from "./Zone.ts"

/** Maximum results of a run. */
const stepsMax = 10_000

/** Real time in milliseconds after which a function that waits for nothing known counts as stalled. */
const stalledAfterMs = 50

/** The `seq` of a cancellation. */
const cancelSeq = -1

interface OpenWait {
  readonly wait: Wait
  /** Null: the next attempt at a step starts. */
  readonly resolve: (settled: Settled | null) => void
}

export class Activation {
  /** Requests so far, by `seq`. */
  readonly requests: Array<MadeRequest> = []
  readonly stop = new AbortController()
  ending: Ending | null = null
  /** True after the process of the activation crashed. */
  hasCrashed = false
  /** Host calls of code outside of steps that are not answered. */
  pendingCalls = 0

  readonly #options: ActivationOptions
  readonly #replay: Array<RecordedResult>
  readonly #recorded: ReadonlyMap<number, RecordedResult>
  readonly #pending = new Map<number, (result: RecordedResult) => void>()
  readonly #open = new Map<number, OpenWait>()
  readonly #queue: Array<() => void> = []
  /** Rejects the promises of requests that have not ended, by `seq`. */
  readonly #unsettled = new Map<number, (error: unknown) => void>()
  readonly #zone: Zone
  readonly #isContinued: boolean
  readonly random: () => number
  readonly versions: Versions
  #time: number
  #bodies = 0
  #unanswered = 0
  /** Results of requests with a lower number count for nothing, because they were cancelled. */
  #cancelledBefore = 0
  /** Number of requests, results and ended bodies so far. */
  #changes = 0
  #onChange = () => {}

  constructor(options: ActivationOptions) {
    const { host, recorded, recorder, zone } = options
    this.#options = options
    this.#replay = [...recorded]
    this.#recorded = new Map(recorded.map((result) => [result.seq, result]))
    this.#isContinued = !options.isDry && host.waits.size > 0
    this.#time = host.startedAt
    this.random = makeRandom(host.runId)
    this.versions = new Versions(this, recorded)
    recorder.isMuted = recorded.length > 0 || this.#isContinued
    const onOutside = (call: string) =>
      host.warn({ call, problem: "runs outside of steps: put it into svc.step", at: callSite()() })
    this.#zone = { ...zone, body: null, onOutside, timers: new Set() }
  }

  /** Time of the last result, in milliseconds since 1970. */
  get time(): number {
    return this.#time
  }

  get isOver(): boolean {
    return this.ending !== null || this.#options.recorder.ended
  }

  /** Waits that the function has requested and that have not ended. */
  get openWaits(): ReadonlyArray<Wait> {
    return [...this.#open.values()].map(({ wait }) => wait)
  }

  /** Starts the function. `call` returns its result as JSON text. */
  start(call: () => Promise<string>): void {
    void withZone(this.#zone, async () => {
      try {
        this.#return(await call())
      } catch (thrown) {
        this.end({ status: "failed", error: toError(failed(thrown)) })
      }
    })
  }

  end(ending: Ending): void {
    if (this.isOver) return
    this.ending = ending
    this.abandon()
  }

  /** Stops the activation: what its code does from now on counts for nothing. */
  abandon(): void {
    this.#options.recorder.end()
    this.stop.abort(new DOMException("the run was stopped", "AbortError"))
    this.changed()
  }

  /** Runs until the run has ended, the process has crashed, or the function can do nothing until a wait ends. */
  async settle(): Promise<void> {
    while (true) {
      await turn()
      if (this.isOver) return
      const result = this.#replay.shift()
      const job = result === undefined ? this.#queue.shift() : () => this.#giveRecorded(result)
      if (job !== undefined) job()
      else if (this.#zone.timers.size > 0) await pause(1)
      else if (this.#bodies + this.pendingCalls > 0) await this.#nextChange()
      else if (await this.#isIdle()) return
    }
  }

  /** Ends the open waits whose time has come, or that have an outcome, in the order of their times. */
  endDue(): void {
    const now = this.#options.host.now()
    const due = [...this.#open.values()].filter(({ wait }) => hasEnded(wait, now))
    due.sort((a, b) => (a.wait.until ?? now) - (b.wait.until ?? now) || a.wait.seq - b.wait.seq)
    for (const open of due) this.#endWait(open)
  }

  /** Makes a request. `make` is called if its result is not recorded. */
  request(
    method: string,
    { kind, name: given }: { readonly kind: RequestName["kind"]; readonly name: unknown },
    details: unknown,
    make: (request: NumberedRequest) => Promise<Settled>
  ): Promise<unknown> {
    const name = checkName(method, given)
    // The code of an abandoned activation waits forever.
    if (this.isOver) return never()
    const { host, isDry } = this.#options
    const at = callSite()
    const body = currentZone()?.body ?? null
    if (body !== null) {
      const problem = `is in the body of the step ${JSON.stringify(body)}: call it outside of steps`
      host.warn({ call: `svc.${method}`, problem, at: at() })
    }
    const seq = this.requests.length
    this.requests.push({ seq, kind, name, details: JSON.stringify(details) ?? "", at })
    this.changed()
    const recorded = this.#recorded.get(seq)
    const known = recorded ?? (isDry ? undefined : host.waits.get(seq))
    if (known !== undefined && (known.kind !== kind || known.name !== name)) {
      const difference = `${describeRequest(known)} when it was recorded and is ${describeRequest({ kind, name })} now`
      this.#diverge(`request ${seq} was ${difference}${formatPlace(at())}`)
      return never()
    }
    if (recorded !== undefined) return this.#track(seq, new Promise((resolve) => this.#pending.set(seq, resolve)))
    if (!isDry) return this.#track(seq, make({ seq, kind, name }))
    this.#unanswered++
    return never()
  }

  /** Makes a request without a place in the order of requests. `text` is its result if none is recorded. */
  requestUnordered(request: NumberedRequest, text: string): Promise<unknown> {
    if (this.isOver) return never()
    const { seq } = request
    this.changed()
    if (this.#recorded.has(seq)) return this.#track(seq, new Promise((resolve) => this.#pending.set(seq, resolve)))
    if (!this.#options.isDry) return this.#track(seq, this.settleRequest(request, { ok: true, text }))
    this.#unanswered++
    return never()
  }

  /** Rejects a host call if its function refuses those outside of steps, and no body runs. */
  checkCall(op: string): void {
    if (!this.#options.host.isStrict || this.#bodies > 0) return
    throw namedError("OutsideStep", `${op} outside of a step would run again in each replay: wrap it in svc.step`)
  }

  /** Returns the result of a request. A cancellation rejects it earlier. */
  #track(seq: number, answer: Promise<Settled>): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    this.#unsettled.set(seq, reject)
    const settle = (end: () => void) => {
      if (this.#unsettled.delete(seq)) end()
    }
    answer.then(
      (result) => settle(() => (result.ok ? resolve(toValue(result)) : reject(toError(result)))),
      (thrown) => settle(() => reject(thrown))
    )
    return promise
  }

  /** Runs the body of a step until an attempt succeeds or the policy allows no further one. */
  async execute(
    seq: number,
    name: string,
    body: (context: object) => unknown,
    readPolicy: () => RetryPolicy
  ): Promise<Settled> {
    const { host } = this.#options
    const known = host.waits.get(seq)
    let attempt = known?.attempts ?? 0
    if (known !== undefined) await this.#await(known)
    while (true) {
      attempt++
      const ended = await this.#attempt(seq, name, attempt, body)
      if (this.isOver || seq < this.#cancelledBefore) return never()
      if (host.recordedCount() >= stepsMax) {
        throw namedError("LimitExceeded", `a run may have at most ${stepsMax} steps: use svc.continueAsNew`)
      }
      const policy = ended.isRepeatable ? readPolicy() : noRetry
      if (ended.ok || attempt >= policy.attempts) return this.settleRequest({ seq, kind: "step", name }, ended, attempt)
      const since = host.now()
      const until = since + (ended.afterMs ?? retryDelayMs(policy, attempt))
      const none = { event: null, completionOf: null, outcome: null }
      const wait: Wait = { seq, kind: "step", name, attempts: attempt, since, until, ...none }
      host.waits.set(seq, wait)
      await this.#await(wait)
    }
  }

  /** Rejects all requests that have not ended. The function may make others, to clean up. */
  cancel(): void {
    const now = this.#options.host.now()
    const cancelled = failed(Object.assign(namedError("Cancelled", "The run was cancelled"), { stack: "" }))
    const record = {
      seq: cancelSeq,
      kind: "cancel",
      name: "cancel",
      attempts: 1,
      startedAt: now,
      endedAt: now
    } as const
    this.#queue.push(() => this.#give({ ...record, ...cancelled }, () => this.#rejectAll(cancelled)))
    this.changed()
  }

  #rejectAll(cancelled: Settled): void {
    const rejects = [...this.#unsettled.values()]
    for (const seq of this.#unsettled.keys()) this.#options.host.waits.delete(seq)
    this.#cancelledBefore = this.requests.length
    for (const rejected of [this.#unsettled, this.#open, this.#pending]) rejected.clear()
    this.stop.abort(toError(cancelled))
    for (const reject of rejects) reject(toError(cancelled))
  }

  /** Records the end of a request that does not wait; resolves when the function receives it. */
  settleRequest(request: NumberedRequest, { ok, text }: Settled, attempts = 1): Promise<Settled> {
    const now = this.#options.host.now()
    const { promise, resolve } = Promise.withResolvers<Settled>()
    this.#queue.push(() => this.#give({ ...request, ok, text, attempts, startedAt: now, endedAt: now }, resolve))
    this.changed()
    return promise
  }

  /** Waits for the end of a new wait, or of one that has begun in an earlier activation. */
  async wait(wait: Wait): Promise<Settled> {
    const { waits } = this.#options.host
    const known = waits.get(wait.seq) ?? wait
    waits.set(wait.seq, known)
    return (await this.#await(known)) ?? never()
  }

  /** Notes that the function may have made progress. */
  changed(): void {
    this.#changes++
    this.#onChange()
  }

  #await(wait: Wait): Promise<Settled | null> {
    return new Promise((resolve) => {
      const open = { wait, resolve }
      this.#open.set(wait.seq, open)
      if (hasEnded(wait, this.#options.host.now())) this.#endWait(open)
    })
  }

  #endWait({ wait, resolve }: OpenWait): void {
    const { seq, kind, name, since, attempts } = wait
    this.#open.delete(seq)
    if (kind === "step" && wait.outcome === null) {
      this.#queue.push(() => {
        this.#options.recorder.isMuted = false
        resolve(null)
      })
      return
    }
    const { ok, text } = wait.outcome ?? { ok: true, text: requestKinds[kind].atTimeout }
    const endedAt = this.#options.host.now()
    const result = { seq, kind, name, ok, text, attempts: Math.max(1, attempts), startedAt: since, endedAt }
    this.#queue.push(() => this.#give(result, resolve))
  }

  /** Records a new result and gives it to the function. */
  #give(result: Omit<RecordedResult, "position">, resolve: (settled: Settled) => void): void {
    const { host, recorder } = this.#options
    if (result.seq >= 0 && result.seq < this.#cancelledBefore) return
    if (!host.record(result)) {
      this.hasCrashed = true
      this.abandon()
      return
    }
    host.waits.delete(result.seq)
    recorder.isMuted = false
    this.#time = result.endedAt
    this.changed()
    resolve(result)
  }

  #giveRecorded(result: RecordedResult): void {
    const { seq } = result
    const resolve = seq === cancelSeq ? () => this.#rejectAll(result) : this.#pending.get(seq)
    // Newer code need not ask for the versions of older code.
    if (resolve === undefined && seq < 0) return
    if (resolve === undefined) {
      this.#diverge(`request ${seq} was ${describeRequest(result)} when it was recorded and is not made now`)
      return
    }
    this.#pending.delete(seq)
    if (this.#replay.length === 0 && !this.#isContinued) this.#options.recorder.isMuted = false
    this.#time = result.endedAt
    this.changed()
    resolve(result)
  }

  async #attempt(
    seq: number,
    name: string,
    attempt: number,
    given: (context: object) => unknown
  ): Promise<EndedAttempt> {
    const { host, recorder } = this.#options
    const body = host.bodyOf(name, given)
    const context = { attempt, idempotencyKey: `${host.runId}:${seq}`, signal: this.stop.signal }
    recorder.isMuted = false
    this.#bodies++
    const ended = await withZone({ ...this.#zone, body: name }, () =>
      attemptOnce(name, host.now(), () => body(context))
    )
    this.#bodies--
    this.changed()
    return ended
  }

  #return(text: string): void {
    const left = this.#replay.length
    if (left === 0) this.end({ status: "succeeded", text })
    else this.#diverge(`the function returned, but ${left} of its recorded results remain`)
  }

  #diverge(message: string): void {
    const { fn, describeCalls } = this.#options.host
    this.end({ status: "failed", error: namedError("NonDeterminism", `${fn}: ${message}${describeCalls()}`) })
  }

  #nextChange(): Promise<void> {
    return new Promise((resolve) => {
      this.#onChange = resolve
    })
  }

  /** Returns true if nothing happens during some turns. Ends the run if nothing can ever happen. */
  async #isIdle(): Promise<boolean> {
    const before = this.#changes
    const isUnchanged = () => this.#changes === before && !this.isOver
    for (let turns = 0; turns < 3 && isUnchanged(); turns++) await turn()
    if (!isUnchanged() || this.#open.size + this.#unanswered > 0) return isUnchanged()
    await pause(stalledAfterMs)
    if (!isUnchanged()) return false
    const { fn } = this.#options.host
    this.end({ status: "failed", error: namedError("Stalled", `${fn} waits for a promise that nothing can settle`) })
    return true
  }
}

const never = (): Promise<never> => new Promise(() => undefined)
