/**
 * The requests of a trusted durable function: steps, sleeps, tokens and waits. The same rules as in an isolate; see
 * `docs/design/durable.md`.
 *
 * One difference: code outside of steps may only wait for requests. A function that waits for anything else counts as idle
 * and is suspended.
 */
import type { Schema } from "effect"
import type { TrustedDurableSvc, TrustedToken } from "./TrustedDurableSvc.ts"
import { attemptStep, type StepBody, StepContext, type TrustedStepOptions } from "./TrustedStep.ts"
import { fanOut, TrustedUndos } from "./TrustedUndos.ts"

/** The fact `durable` of an invocation. */
export interface DurableFact {
  readonly recorded: ReadonlyArray<readonly [seq: number, kind: string, name: string]>
  /** Number of recorded results that are copies from another run. Older code may have made them. */
  readonly copied?: number
  readonly waits: ReadonlyArray<readonly [seq: number, attempts: number]>
  readonly time: number
  /** True if the run was cancelled, with time for its cleanup. */
  readonly cancelled: boolean
}

interface DurableHost {
  readonly runId: string
  /** Makes a host call; JSON text in and out. */
  readonly call: (op: string, payload: string) => Promise<string>
  /** Resolves after all microtasks. */
  readonly turn: () => Promise<void>
  /** Ends the run with an error that its code cannot catch. */
  readonly end: (error: Error) => void
  /** Resolves after the time. */
  readonly sleep: (ms: number) => Promise<void>
  /** Returns the time in milliseconds since 1970. */
  readonly time: () => number
  readonly log: (level: "warn" | "error", message: string) => void
  /** Starts or stops the log. */
  readonly mute: (isMuted: boolean) => void
  /** Calls a function of the module in this run. */
  readonly invoke: (fn: string, args: ReadonlyArray<unknown>) => Promise<unknown>
  /** Calls a function in the background. */
  readonly callPlain: TrustedDurableSvc["call"]
}

/** A result: number of the request, success, time, and value. `ok` is null if a step is to be repeated now. */
type Result = readonly [seq: number, ok: boolean | null, time: number, value?: unknown]

interface Pending {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/** The number of the recorded cancellation, which has no request. */
const cancelSeq = -1

const defaultConcurrency = 10

/** Host calls that may be outside of steps, apart from those of requests. */
const harmlessCalls = /^(?:workflow|context|asset|content)\./

export class TrustedDurable {
  readonly #host: DurableHost
  readonly #recorded: ReadonlyMap<number, { readonly kind: string; readonly name: string }>
  readonly #attempts: ReadonlyMap<number, number>
  #pending = new Map<number, Pending>()
  /** Number and name of the request that created a token, by its text. */
  readonly #tokens = new Map<string, { readonly seq: number; readonly name: string }>()
  readonly #contexts = new Map<number, StepContext>()
  readonly #undos = new TrustedUndos()
  readonly #wasCancelled: boolean
  readonly #isStrict: boolean
  #hasWarned = false
  #isCancelled = false
  #isWatching = false
  /** Number of the first request that was not cancelled. */
  #from = 0
  /** Versions by id: their recorded numbers, and their values in this activation. */
  readonly #versionSeqs: ReadonlyMap<string, number>
  readonly #versions = new Map<string, Promise<number>>()
  #versionCount: number
  /** Copied results that the function has not received. */
  #copies: number
  /** True while the body of a step runs until its first `await`. */
  #isInBody = false
  #seq = 0
  #bodies = 0
  #asked = 0
  /** Answers to requests that the function has received. */
  #answers = 0
  #time: number
  #isReplayed = false
  readonly #replayed = Promise.withResolvers<void>()
  /** Ends when the function has received all recorded results, and the previous answer. */
  #turn = this.#replayed.promise
  #isChecking = false

  constructor({ recorded, copied = 0, waits, time, cancelled }: DurableFact, isStrict: boolean, host: DurableHost) {
    this.#host = host
    this.#isStrict = isStrict
    this.#wasCancelled = cancelled
    this.#recorded = new Map(recorded.map(([seq, kind, name]) => [seq, { kind, name }]))
    this.#attempts = new Map(waits)
    this.#versionSeqs = new Map(recorded.flatMap(([seq, kind, name]) => (kind === "version" ? [[name, seq]] : [])))
    this.#versionCount = recorded.filter(([, kind]) => kind === "version").length
    this.#copies = copied
    this.#time = time
    host.mute(recorded.length + waits.length > 0)
  }

  /** Gives the recorded results to the function, one per turn. */
  async replay(results: ReadonlyArray<string>): Promise<void> {
    await this.#host.turn()
    for (const text of results) {
      const [seq, ok, time, value]: Result = JSON.parse(text)
      const pending = this.#pending.get(seq)
      if (pending === undefined && seq !== cancelSeq && seq >= this.#from) {
        return this.#diverge(
          `request ${seq} was ${describe(this.#recorded.get(seq))} when it was recorded and is not made now`
        )
      }
      this.#time = time
      this.#copies--
      if (seq === cancelSeq) this.#cancel(value)
      else if (ok === true) pending?.resolve(value)
      else pending?.reject(toError(value))
      await this.#host.turn()
    }
    this.#isReplayed = true
    this.#replayed.resolve()
    if (this.#attempts.size === 0) this.#host.mute(false)
    await this.#checkIdle()
  }

  readonly svc: TrustedDurableSvc = {
    step: (name, body, options = {}) => this.#step(name, body, options),
    all: (items, fn, { concurrency = defaultConcurrency } = {}) => fanOut(items, fn, concurrency),
    saga: () => ({
      step: (name, body, undo, options = {}) => this.#step(name, body, { ...options, compensate: undo })
    }),
    sleep: (name, ms) => this.#wait("sleep", name, { ms }),
    sleepUntil: (name, until) => this.#wait("sleep", name, { until }),
    waitForEvent: (name, { timeout, ...wait }) => this.#wait("event", name, { ...wait, ms: timeout }),
    invoke: (fn, args, options = {}) => {
      if (this.#isInBody) return this.#host.invoke(fn, toList(args))
      return this.#wait("run", options.name ?? fn.slice(0, 256), { fn, args: toList(args), ms: options.timeout })
    },
    call: (fn, args) => {
      if (this.#isInBody) return this.#host.callPlain(fn, args)
      const name = fn.slice(0, 256)
      return this.#request("call", name, async (seq) =>
        fromJson(await this.#ask("workflow.call", JSON.stringify({ seq, name, fn, args: toList(args) })))
      )
    },
    version: (id, max) => {
      const known = this.#versions.get(id)
      if (known !== undefined) return known
      const version = this.#decideVersion(id, max)
      this.#versions.set(id, version)
      // The request was cancelled or refused: the cleanup may ask again.
      version.catch(() => this.#versions.delete(id))
      return version
    },
    continueAsNew: async (args) => {
      await this.#host.call("workflow.continue", JSON.stringify({ args: toList(args) }))
      return never()
    },
    createToken: (name, { timeout } = {}) => this.#createToken(name, timeout),
    waitForToken: async (given) => {
      const token = this.#tokens.get(typeof given === "string" ? given : given.token)
      if (token === undefined) throw new TypeError("svc.waitForToken takes a token that svc.createToken returned")
      return this.#wait("completion", token.name, { token: token.seq })
    },
    now: () => this.#time
  }

  /** Returns the error of the run after its function failed or returned; undefined if it succeeded. */
  async conclude(failure: { readonly error: unknown } | null): Promise<{ readonly error: unknown } | null> {
    const isCancelled = this.#isCancelled || this.#wasCancelled
    if (!this.#undos.isNeeded || (failure === null && !isCancelled)) return failure
    const error = failure === null ? cancelledError() : failure.error
    return { error: await this.#undos.unwind(error, (text) => this.#host.log("error", text)) }
  }

  /** Rejects a host call that is certainly outside of steps, or warns of the first one. */
  checkCall(op: string): void {
    if (this.#bodies > 0 || harmlessCalls.test(op)) return
    const message = `${op} outside of a step would run again in each replay: wrap it in svc.step`
    if (this.#isStrict) throw Object.assign(new Error(message), { name: "OutsideStep" })
    if (!this.#hasWarned) this.#host.log("warn", message)
    this.#hasWarned = true
  }

  async #step<A>(name: string, body: StepBody<A>, options: TrustedStepOptions<A>): Promise<A> {
    const result = await this.#request("step", name, (seq) => this.#execute(seq, name, body, options))
    const { compensate: undo, ...terms } = options
    if (undo !== undefined) {
      const run = () => this.#step(`undo ${name}`.slice(0, 256), (context) => undo(result, context), terms)
      this.#undos.add({ name, run })
    }
    return result
  }

  /** Rejects all pending requests, unless steps are undone. */
  #cancel(value: unknown): void {
    this.#isCancelled = true
    if (this.#undos.isUnwinding) return
    this.#from = this.#seq
    const pending = this.#pending
    this.#pending = new Map()
    for (const { reject } of pending.values()) reject(toError(value))
    for (const context of this.#contexts.values()) StepContext.abort(context, toError(value))
  }

  /** Asks the host for a cancellation, before the first other host call. */
  #watch(): void {
    if (this.#isWatching || this.#recorded.has(cancelSeq)) return
    this.#isWatching = true
    const cancelled = async () => {
      const [, , time, value]: Result = JSON.parse(await this.#host.call("workflow.cancellation", "{}"))
      this.#answers++
      this.#time = time
      this.#cancel(value)
      await this.#checkIdle()
    }
    cancelled().catch(() => undefined)
  }

  /** Returns the recorded version; 0 if older code may have made the record of this point. */
  #decideVersion(name: string, max: number): Promise<number> {
    const recorded = this.#versionSeqs.get(name)
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    const seq = recorded ?? cancelSeq - 2 - this.#versionCount
    if (recorded === undefined && this.#copies > 0) return Promise.resolve(0)
    this.#pending.set(seq, { resolve: (value) => resolve(fromJson(value)), reject })
    if (recorded !== undefined) return promise
    this.#versionCount++
    this.#watch()
    const isOpen = () => this.#pending.delete(seq)
    this.#ask("workflow.version", JSON.stringify({ seq, name, max })).then(
      (value) => isOpen() && resolve(fromJson(value)),
      (error) => isOpen() && reject(error)
    )
    return promise
  }

  /** Calls the body of a step. Until its first `await`, its calls are not requests. */
  #begin<A>(body: StepBody<A>, context: StepContext): A | Promise<A> {
    this.#isInBody = true
    try {
      return body(context)
    } finally {
      this.#isInBody = false
    }
  }

  async #createToken(name: string, ms: Schema.Json | undefined): Promise<TrustedToken> {
    const created = this.#seq
    const token = await this.#request<TrustedToken>("token", name, async (seq) =>
      fromJson(await this.#ask("workflow.token", JSON.stringify({ seq, name, ms })))
    )
    this.#tokens.set(token.token, { seq: created, name })
    return token
  }

  #wait(kind: string, name: string, details: Readonly<Record<string, unknown>>): Promise<unknown> {
    return this.#request(kind, name, (seq) =>
      this.#ask("workflow.wait", JSON.stringify({ seq, kind, name, ...details }))
    )
  }

  /** Returns the recorded result of the next request, or the one that `make` gets. */
  async #request<A>(kind: string, name: string, make: (seq: number) => Promise<A>): Promise<A> {
    const seq = this.#seq++
    const recorded = this.#recorded.get(seq)
    const { promise, resolve, reject } = Promise.withResolvers<A>()
    this.#pending.set(seq, { resolve: (value) => resolve(fromJson(value)), reject })
    if (recorded === undefined) {
      // A request that was pending at the recorded cancellation is rejected by it.
      if (this.#recorded.has(cancelSeq) && !this.#isCancelled && !this.#undos.isUnwinding) return promise
      this.#watch()
      const isOpen = () => this.#pending.delete(seq)
      make(seq).then(
        (value) => isOpen() && resolve(value),
        (error) => isOpen() && reject(error)
      )
      return promise
    }
    if (recorded.kind !== kind || recorded.name !== name) {
      this.#diverge(
        `request ${seq} was ${describe(recorded)} when it was recorded and is ${describe({ kind, name })} now`
      )
      return never()
    }
    return promise
  }

  async #execute<A>(seq: number, name: string, body: StepBody<A>, options: TrustedStepOptions<A>): Promise<A> {
    let attempt = this.#attempts.get(seq) ?? 0
    if (attempt > 0) await this.#ask("workflow.wait", JSON.stringify({ seq, kind: "step", name }))
    while (seq >= this.#from) {
      attempt++
      this.#host.mute(false)
      this.#bodies++
      const context = new StepContext(attempt, `${this.#host.runId}:${seq}`)
      this.#contexts.set(seq, context)
      const run: StepBody<A> = (given) => this.#begin(body, given)
      const { ok, text, fields } = await attemptStep(name, run, context, options, this.#host)
      this.#contexts.delete(seq)
      this.#bodies--
      if (seq < this.#from) break
      const header = JSON.stringify({ seq, name, attempt, ms: 0, ok, ...fields })
      const [, again, , value] = await this.#send("workflow.step", `${header}\n${text}`)
      if (again === null) continue
      if (again) return fromJson(value)
      throw toError(value)
    }
    void this.#checkIdle()
    return never()
  }

  async #ask(op: string, payload: string): Promise<unknown> {
    const [, ok, , value] = await this.#send(op, payload)
    if (ok === false) throw toError(value)
    return value
  }

  /** Makes a host call for a request. */
  async #send(op: string, payload: string): Promise<Result> {
    this.#asked++
    void this.#checkIdle()
    try {
      const result: Result = JSON.parse(await this.#host.call(op, payload).finally(() => this.#nextTurn()))
      this.#host.mute(false)
      this.#time = result[2]
      return result
    } catch (error) {
      if (!(error instanceof Error) || error.name !== "NonDeterminism") throw error
      this.#host.end(error)
      return never()
    } finally {
      this.#asked--
      this.#answers++
      void this.#checkIdle()
    }
  }

  /** Waits for a turn of its own, so that the microtasks of an answer finish before the next, as in a replay. */
  #nextTurn(): Promise<void> {
    this.#turn = this.#turn.then(() => this.#host.turn())
    return this.#turn
  }

  /** Reports that the function can do nothing until a wait ends. */
  async #checkIdle(): Promise<void> {
    if (this.#isChecking || !this.#isReplayed) return
    this.#isChecking = true
    await this.#host.turn()
    this.#isChecking = false
    if (this.#bodies > 0 || this.#asked === 0) return
    const idle = JSON.stringify({ answers: this.#answers, from: this.#from })
    await this.#host.call("workflow.idle", idle).catch(() => undefined)
  }

  #diverge(message: string): void {
    this.#host.end(Object.assign(new Error(message), { name: "NonDeterminism" }))
  }
}

/** Types a value that crossed the border as JSON, as the author of the function declared it. */
const fromJson = <A>(value: unknown): A => JSON.parse(JSON.stringify(value ?? null))

const cancelledError = (): Error => Object.assign(new Error("The run was cancelled"), { name: "Cancelled" })

const toList = (args: unknown): ReadonlyArray<unknown> =>
  args === undefined ? [] : Array.isArray(args) ? args : [args]

const never = (): Promise<never> => new Promise(() => undefined)

const describe = (request: { readonly kind: string; readonly name: string } | undefined): string =>
  request === undefined ? "unknown" : `${request.kind} "${request.name}"`

const toError = (value: unknown): Error => {
  const {
    name = "Error",
    message = "",
    stack = "",
    cause
  } = typeof value === "object" && value !== null ? Object(value) : {}
  return Object.assign(new Error(String(message), { cause }), { name: String(name), stack: String(stack) })
}
