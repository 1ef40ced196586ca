/** A durable run in memory with virtual time, over all its activations. */
import type { Event } from "../../Event.ts"
import type { Meta } from "../../Meta.ts"
import type { RunFacts } from "../../Svc.ts"
import { makeFetch } from "../Execution.ts"
import { namedError } from "../failures.ts"
import { withGlobals } from "../globals.ts"
import type { TestContext } from "../makeContext.ts"
import { RunBook } from "../Records.ts"
import { checkOpen, testSvc } from "../TestSvc.ts"
import { toArguments } from "../toArguments.ts"
import { Activation } from "./Activation.ts"
import type { ActivationHost, Ending, MadeRequest, Warning } from "./ActivationHost.ts"
import { parseDuration } from "./Duration.ts"
import { isAwaited } from "./EventMatch.ts"
import { iso, type RecordedResult, type Wait } from "./History.ts"
import { makeDurableMethods, type Token } from "./methods.ts"
import { describeCalls, observeCall, observeCalls } from "./outsideCalls.ts"
import { makeRandom } from "./Random.ts"
import { attemptOnce } from "./Requests.ts"
import { noRetry, type RetryPolicy, readRetry } from "./RetryPolicy.ts"
import type { TestDoubles } from "./TestDoubles.ts"
import { Undos } from "./Undos.ts"

/** Longest wait in milliseconds for which a run keeps its isolate. */
const holdMs = 1_000

const defaultTimeoutMs = 30 * 24 * 3_600_000

export interface DurableRunOptions {
  readonly context: TestContext
  /** Name of the function, such as `main/fulfil`. */
  readonly fn: string
  readonly meta: Meta | undefined
  readonly run: RunFacts
  readonly doubles: TestDoubles
  /** Calls the function; resolves with its result as JSON text. */
  readonly call: (svc: object) => Promise<string>
  /** Properties of `svc` in addition to those of every `svc`. */
  readonly facts: Readonly<Record<string, unknown>>
}

/** The end of a run: that of its function, or of the run as a whole. */
export type RunEnding = Ending | { readonly status: "cancelled" }

export class DurableRun {
  readonly history: Array<RecordedResult> = []
  readonly waits = new Map<number, Wait>()
  /** Requests of all activations, by `seq`. */
  readonly requests: Array<MadeRequest> = []
  /** Number of requests that the function had made when it received the result of each position. */
  readonly requestsAt: Array<number> = []
  readonly warnings: Array<Warning> = []
  readonly recorder = new RunBook()
  /** Positions before whose record the process crashes. */
  readonly crashes = new Set<number>()
  ending: RunEnding | null = null
  activations = 0
  now: number
  readonly startedAt: number

  readonly #options: DurableRunOptions
  readonly #retry: RetryPolicy
  readonly #timeoutMs: number
  readonly #events: Array<Event> = []
  readonly #tokens = new Map<string, Token>()
  #activation: Activation | null = null
  #isCancelling = false
  #deadline: number

  constructor(options: DurableRunOptions) {
    const { meta, context } = options
    this.#options = options
    this.#retry = meta?.retry === undefined ? noRetry : readRetry(meta.retry)
    this.#timeoutMs = parseDuration(meta?.timeout) ?? defaultTimeoutMs
    this.now = Date.parse(context.now)
    this.startedAt = this.now
    this.#deadline = this.startedAt + this.#timeoutMs
  }

  /** True if the run waits for time alone. */
  get waitsForTime(): boolean {
    return [...this.waits.values()].every(({ kind }) => kind === "sleep" || kind === "step")
  }

  /** Time at which the first of its waits, or the run itself, ends. */
  get nextTime(): number {
    return [...this.waits.values()].reduce((least, { until }) => Math.min(least, until ?? least), this.#deadline)
  }

  /** Continues the run until it ends or can do nothing before a wait ends. */
  async settle(): Promise<void> {
    while (this.ending === null) {
      const activation = this.#activation ?? this.#activate()
      activation.endDue()
      await activation.settle()
      this.#keepRequests(activation)
      if (activation.hasCrashed) this.#activation = null
      else if (activation.ending !== null) this.#end(activation.ending)
      else return this.#suspend(activation)
    }
  }

  /** Moves the clock, and continues the run if a wait has ended. */
  async moveTo(time: number): Promise<void> {
    this.now = Math.max(this.now, time)
    if (this.ending !== null) return
    if (this.now >= this.#deadline) return this.#expire()
    const isDue = [...this.waits.values()].some(({ until, outcome }) => outcome !== null || (until ?? Infinity) <= time)
    if (isDue || this.activations === 0) await this.settle()
  }

  /** Gives an event to the waits that it ends. */
  async publish({ type, data }: { readonly type: string; readonly data: unknown }): Promise<Event> {
    const { context, run } = this.#options
    const event: Event = {
      ...{ event_id: context.freshId(), env_id: run.env_id, stream_id: context.freshId() },
      ...{ event_type: type, event_data: JSON.parse(JSON.stringify(data) ?? "null") },
      ...{ event_time: iso(this.now), created_at: iso(this.now) }
    }
    this.#events.push(event)
    // The function makes its next requests after the event.
    this.now += 1
    for (const wait of this.waits.values()) this.#arrive(wait, event)
    await this.moveTo(this.now)
    return event
  }

  /** Completes the newest token of the name. */
  async completeToken(name: string, data: unknown): Promise<void> {
    const found = [...this.#tokens].filter(([, token]) => token.name === name).at(-1)
    if (found === undefined) throw namedError("NotFound", `The run has created no token "${name}"`)
    const [text, token] = found
    if (token.completed !== null) throw namedError("TokenCompleted", `The token "${name}" was completed before`)
    if (this.ending !== null) throw namedError("TokenExpired", `The run of the token "${name}" has ended`)
    if (token.until !== null && token.until <= this.now) {
      throw namedError("TokenExpired", `The token "${name}" expired at ${iso(token.until)}`)
    }
    token.completed = JSON.stringify(data) ?? "null"
    for (const wait of this.waits.values()) if (wait.completionOf === text) this.#complete(wait)
    this.now += 1
    await this.moveTo(this.now)
  }

  /** Cancels the run. With `cleanupMs`, its function may clean up for that time. */
  async cancel(cleanupMs: number | null): Promise<void> {
    if (this.ending !== null) return
    if (cleanupMs === null || this.activations === 0) {
      this.#activation?.abandon()
      this.ending = { status: "cancelled" }
      return
    }
    if (this.#isCancelling) return
    this.#isCancelling = true
    this.#deadline = Math.min(this.#deadline, this.now + cleanupMs)
    const activation = this.#activation ?? this.#activate()
    await activation.settle()
    if (activation.ending === null) activation.cancel()
    await this.settle()
  }

  /** Replays the first results of the history without side effects of steps. `n` is the number of the replay. */
  async replay(length: number, n: number): Promise<Activation> {
    const recorder = new RunBook()
    const shift = n * 3_600_000 + 1
    const zone = { now: () => this.now + shift, random: makeRandom(`replay ${n}`) }
    const activation = this.#make(this.history.slice(0, length), recorder, true, zone)
    this.#start(activation, recorder)
    await activation.settle()
    activation.abandon()
    return activation
  }

  /** Adds a warning, once for each call and place. */
  warn(warning: Warning): void {
    const { call, at } = warning
    if (!this.warnings.some((known) => known.call === call && known.at === at)) this.warnings.push(warning)
  }

  #activate(): Activation {
    this.activations++
    const recorder = new RunBook(this.recorder)
    const { run_id } = this.#options.run
    const zone = { now: () => this.now, random: makeRandom(`${run_id} ${this.activations}`) }
    const activation = this.#make(this.history, recorder, false, zone)
    this.#activation = activation
    this.#start(activation, recorder)
    return activation
  }

  #make(
    recorded: ReadonlyArray<RecordedResult>,
    recorder: RunBook,
    isDry: boolean,
    zone: { readonly now: () => number; readonly random: () => number }
  ): Activation {
    const { fn, run, doubles, meta } = this.#options
    const host: ActivationHost = {
      ...{ fn, runId: run.run_id, startedAt: this.startedAt, waits: this.waits },
      now: () => this.now,
      recordedCount: () => this.history.length,
      record: (result) => this.#record(result),
      bodyOf: (name, body) => doubles.bodyOf(name, body),
      warn: (warning) => this.warn(warning),
      isStrict: typeof meta?.durable === "object" && meta.durable.strict,
      describeCalls: () => describeCalls(this.warnings)
    }
    return new Activation({ host, recorder, recorded, isDry, zone })
  }

  #start(activation: Activation, recorder: RunBook): void {
    const { context, run, facts, call } = this.#options
    const files = context.files.as(run.run_id, () => checkOpen(recorder))
    const signal = activation.stop.signal
    const plain = testSvc(context, { run, caller: null, signal, files }, recorder)
    const undos = new Undos()
    const methods = makeDurableMethods({
      ...{ activation, runId: run.run_id, startedAt: this.startedAt, retry: this.#retry, tokens: this.#tokens },
      now: () => this.now,
      onWait: (wait) => this.#begin(wait),
      invoke: (fn, args) => this.#invoke(fn, args),
      ...{ undos, plain }
    })
    const svc = { ...facts, ...observeCalls(plain, () => activation), ...methods }
    const fetched = makeFetch(context.fetch, recorder)
    const globals = {
      svc,
      fetch: (...request: Parameters<typeof fetch>) => observeCall("fetch", activation, () => fetched(...request)),
      log: (level: Parameters<RunBook["log"]>[0], message: string) => recorder.log(level, message, null)
    }
    const unwind = (thrown: unknown) => undos.unwind(thrown, (text) => recorder.log("error", text, null))
    const onThrown = async (thrown: unknown): Promise<never> => {
      throw await unwind(thrown)
    }
    const onReturned = async (text: string): Promise<string> => {
      // A cancelled run is undone, whatever its function returns.
      if (this.#isCancelling) await unwind(undefined)
      return text
    }
    withGlobals(globals, () => activation.start(() => call(svc).then(onReturned, onThrown)))
  }

  #record(result: Omit<RecordedResult, "position">): boolean {
    const position = this.history.length
    if (this.crashes.delete(position)) return false
    if (this.#activation !== null) this.#keepRequests(this.#activation)
    this.requestsAt.push(this.#activation?.requests.length ?? 0)
    this.history.push({ position, ...result })
    return true
  }

  #keepRequests({ requests }: Activation): void {
    for (const request of requests.slice(this.requests.length)) this.requests.push(request)
  }

  /** Gives a new wait what has arrived before it. */
  #begin(wait: Wait): void {
    for (const event of this.#events) this.#arrive(wait, event)
    this.#complete(wait)
  }

  #arrive(wait: Wait, event: Event): void {
    if (wait.outcome === null && wait.event !== null && isAwaited(wait.event, event)) {
      wait.outcome = { ok: true, text: JSON.stringify(event) }
    }
  }

  #complete(wait: Wait): void {
    const completed = wait.completionOf === null ? null : (this.#tokens.get(wait.completionOf)?.completed ?? null)
    if (completed !== null) wait.outcome = { ok: true, text: `{"ok":true,"data":${completed}}` }
  }

  async #invoke(fn: string, args: unknown) {
    const { doubles, context } = this.#options
    const found = doubles.functionOf(fn) ?? context.functions?.get(fn)
    const list: ReadonlyArray<unknown> = JSON.parse(JSON.stringify(toArguments(args)))
    const ended = await attemptOnce(fn, this.now, () => {
      if (found === undefined) throw namedError("FunctionNotFound", `the build exports no function ${fn}`)
      return Reflect.apply(found, undefined, list)
    })
    return ended.text === null ? { ok: ended.ok, text: "null" } : ended
  }

  #suspend(activation: Activation): void {
    const isHeld = activation.openWaits.some(({ until }) => until !== null && until - this.now <= holdMs)
    if (isHeld) return
    activation.abandon()
    this.#activation = null
  }

  #end(ending: Ending): void {
    this.#activation = null
    this.waits.clear()
    this.ending = this.#isCancelling ? { status: "cancelled" } : ending
  }

  #expire(): void {
    this.#activation?.abandon()
    const error = namedError("TimedOut", `The run took longer than its timeout of ${this.#timeoutMs} ms`)
    this.#end({ status: "failed", error: Object.assign(error, { stack: "" }) })
  }
}
