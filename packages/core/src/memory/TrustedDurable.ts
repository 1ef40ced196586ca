/**
 * The requests of a trusted durable function: steps, sleeps, tokens and waits. The same rules as in an isolate; see
 * `docs/design/durable.md`.
 *
 * One difference: code outside of steps may only wait for requests. A function that waits for anything else counts as idle
 * and is suspended.
 */
import type { Schema } from "effect"

export interface StepContext {
  readonly attempt: number
  readonly idempotencyKey: string
}

/** A token as the function receives it. */
export interface TrustedToken {
  readonly url: string
  readonly token: string
  readonly id: string
}

/** The methods of `svc` of a durable function. */
export interface TrustedDurableSvc {
  readonly step: <A>(
    name: string,
    body: (context: StepContext) => A | Promise<A>,
    options?: { readonly retry?: Schema.Json }
  ) => Promise<A>
  readonly sleep: (name: string, duration: Schema.Json) => Promise<unknown>
  readonly sleepUntil: (name: string, time: Date | Schema.Json) => Promise<unknown>
  readonly waitForEvent: (name: string, wait: Readonly<Record<string, unknown>>) => Promise<unknown>
  readonly createToken: (name: string, options?: { readonly timeout?: Schema.Json }) => Promise<TrustedToken>
  readonly waitForToken: (token: string | TrustedToken) => Promise<unknown>
  readonly now: () => number
}

/** The fact `durable` of an invocation. */
export interface DurableFact {
  readonly recorded: ReadonlyArray<readonly [seq: number, kind: string, name: string]>
  readonly waits: ReadonlyArray<readonly [seq: number, attempts: number]>
  readonly time: number
}

interface DurableHost {
  readonly runId: string
  /** Makes a host call; JSON text in and out. */
  readonly call: (op: string, payload: string) => Promise<string>
  /** Resolves after all microtasks. */
  readonly turn: () => Promise<void>
  /** Ends the run with an error that its code cannot catch. */
  readonly end: (error: Error) => void
  /** Starts or stops the log. */
  readonly mute: (isMuted: boolean) => void
}

/** A result: number of the request, success, time, and value. `ok` is null if a step is to be repeated now. */
type Result = readonly [seq: number, ok: boolean | null, time: number, value?: unknown]

interface Pending {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

export class TrustedDurable {
  readonly #host: DurableHost
  readonly #recorded: ReadonlyMap<number, { readonly kind: string; readonly name: string }>
  readonly #attempts: ReadonlyMap<number, number>
  readonly #pending = new Map<number, Pending>()
  /** Number and name of the request that created a token, by its text. */
  readonly #tokens = new Map<string, { readonly seq: number; readonly name: string }>()
  #seq = 0
  #bodies = 0
  #asked = 0
  #time: number
  #isReplayed = false
  #isChecking = false

  constructor({ recorded, waits, time }: DurableFact, host: DurableHost) {
    this.#host = host
    this.#recorded = new Map(recorded.map(([seq, kind, name]) => [seq, { kind, name }]))
    this.#attempts = new Map(waits)
    this.#time = time
    host.mute(recorded.length + waits.length > 0)
  }

  /** Gives the recorded results to the function, one per turn. */
  async replay(results: ReadonlyArray<string>): Promise<void> {
    await this.#host.turn()
    for (const text of results) {
      const [seq, ok, time, value]: Result = JSON.parse(text)
      const pending = this.#pending.get(seq)
      if (pending === undefined) {
        return this.#diverge(
          `request ${seq} was ${describe(this.#recorded.get(seq))} when it was recorded and is not made now`
        )
      }
      this.#time = time
      if (ok === true) pending.resolve(value)
      else pending.reject(toError(value))
      await this.#host.turn()
    }
    this.#isReplayed = true
    if (this.#attempts.size === 0) this.#host.mute(false)
    await this.#checkIdle()
  }

  readonly svc: TrustedDurableSvc = {
    step: <A>(
      name: string,
      body: (context: StepContext) => A | Promise<A>,
      options: { readonly retry?: Schema.Json } = {}
    ) => this.#request("step", name, (seq) => this.#execute(seq, name, body, options.retry)),
    sleep: (name, ms) => this.#wait("sleep", name, { ms }),
    sleepUntil: (name, until) => this.#wait("sleep", name, { until }),
    waitForEvent: (name, { timeout, ...wait }) => this.#wait("event", name, { ...wait, ms: timeout }),
    createToken: (name, { timeout } = {}) => this.#createToken(name, timeout),
    waitForToken: async (given) => {
      const token = this.#tokens.get(typeof given === "string" ? given : given.token)
      if (token === undefined) throw new TypeError("svc.waitForToken takes a token that svc.createToken returned")
      return this.#wait("completion", token.name, { token: token.seq })
    },
    now: () => this.#time
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
    if (recorded === undefined) return make(seq)
    if (recorded.kind !== kind || recorded.name !== name) {
      this.#diverge(
        `request ${seq} was ${describe(recorded)} when it was recorded and is ${describe({ kind, name })} now`
      )
      return never()
    }
    const { promise, resolve, reject } = Promise.withResolvers<A>()
    this.#pending.set(seq, { resolve: (value) => resolve(fromJson(value)), reject })
    return promise
  }

  async #execute<A>(
    seq: number,
    name: string,
    body: (context: StepContext) => A | Promise<A>,
    retry: Schema.Json | undefined
  ): Promise<A> {
    let attempt = this.#attempts.get(seq) ?? 0
    if (attempt > 0) await this.#ask("workflow.wait", JSON.stringify({ seq, kind: "step", name }))
    while (true) {
      attempt++
      this.#host.mute(false)
      const header = { seq, name, attempt, ms: 0, ...(retry === undefined ? {} : { retry }) }
      this.#bodies++
      const [ok, text] = await attemptOnce(() => body({ attempt, idempotencyKey: `${this.#host.runId}:${seq}` }))
      this.#bodies--
      const [, again, , value] = await this.#send("workflow.step", `${JSON.stringify({ ...header, ok })}\n${text}`)
      if (again === null) continue
      if (again) return fromJson(value)
      throw toError(value)
    }
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
      const result: Result = JSON.parse(await this.#host.call(op, payload))
      this.#host.mute(false)
      this.#time = result[2]
      return result
    } catch (error) {
      if (!(error instanceof Error) || error.name !== "NonDeterminism") throw error
      this.#host.end(error)
      return never()
    } finally {
      this.#asked--
      void this.#checkIdle()
    }
  }

  /** Reports that the function can do nothing until a wait ends. */
  async #checkIdle(): Promise<void> {
    if (this.#isChecking || !this.#isReplayed) return
    this.#isChecking = true
    await this.#host.turn()
    this.#isChecking = false
    if (this.#bodies === 0 && this.#asked > 0) await this.#host.call("workflow.idle", "{}").catch(() => undefined)
  }

  #diverge(message: string): void {
    this.#host.end(Object.assign(new Error(message), { name: "NonDeterminism" }))
  }
}

const attemptOnce = async (body: () => unknown): Promise<readonly [ok: boolean, text: string]> => {
  try {
    return [true, JSON.stringify(await body()) ?? ""]
  } catch (error) {
    const { name, message, stack = "" } = error instanceof Error ? error : new Error(String(error))
    return [false, JSON.stringify({ name, message, stack })]
  }
}

/** Types a value that crossed the border as JSON, as the author of the function declared it. */
const fromJson = <A>(value: unknown): A => JSON.parse(JSON.stringify(value ?? null))

const never = (): Promise<never> => new Promise(() => undefined)

const describe = (request: { readonly kind: string; readonly name: string } | undefined): string =>
  request === undefined ? "unknown" : `${request.kind} "${request.name}"`

const toError = (value: unknown): Error => {
  const { name = "Error", message = "", stack = "" } = typeof value === "object" && value !== null ? Object(value) : {}
  return Object.assign(new Error(String(message)), { name: String(name), stack: String(stack) })
}
