/**
 * The requests of a durable function: steps, sleeps and waits.
 *
 * Requests are numbered as the function makes them. JavaScript is deterministic: the same results in the same order lead to
 * the same requests. So a recorded result is given to the request of the same number. The host passes recorded results one
 * by one; the microtasks of each finish before the next.
 *
 * The body of a step runs only if its result is not recorded. Requests that are not recorded are host calls, and their
 * answers are the results.
 */
import { describeThrown, limitError, namedError } from "./failures.ts"
import {
  apply,
  dateNow,
  getProperty,
  mapDelete,
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

/** The fact `durable` of an invocation. */
export interface DurableFact {
  /** Recorded results in their order: number, kind and name of their requests. */
  readonly recorded: ReadonlyArray<readonly [seq: number, kind: string, name: string]>
  /** Waits that have begun: their requests, and the failed attempts of steps. */
  readonly waits: ReadonlyArray<readonly [seq: number, attempts: number]>
  /** Start of the run, in milliseconds since 1970. */
  readonly time: number
}

/** A result: `ok` is null if a step is to be repeated now. */
type Result = readonly [seq: number, ok: boolean | null, time: number, value?: unknown]

interface Pending {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

interface RecordedRequest {
  readonly kind: string
  readonly name: string
}

const nameLengthMax = 256

/** Maximum characters of a result, as in the host: a host call could not pass a much longer one. */
const resultLengthMax = 256 * 1024

export class Durable {
  readonly #run: Run
  /** Ends the run with an error that its code cannot catch. */
  readonly #end: (error: Error) => void
  readonly #runId: string
  readonly #recorded = new NativeMap<number, RecordedRequest>()
  readonly #attempts = new NativeMap<number, number>()
  readonly #pending = new NativeMap<number, Pending>()
  readonly #random: Random
  /** True if the run was suspended before. */
  readonly #isContinued: boolean
  #seq = 0
  /** Recorded results that the function has not received. */
  #unreplayed: number
  /** Step bodies that are running. */
  #bodies = 0
  /** Host calls for requests that are not answered. */
  #asked = 0
  /** Host calls `workflow.idle` that are not answered. */
  #idleAsked = 0
  /** Number of requests and results so far, and that number when the guest was last reported as idle. */
  #changes = 0
  #idleChanges = -1
  /** Time of the last result, in milliseconds since 1970. */
  #time: number

  constructor(run: Run, runId: string, fact: DurableFact, end: (error: Error) => void) {
    this.#run = run
    this.#runId = runId
    this.#end = end
    this.#time = fact.time
    this.#random = makeRandom(runId)
    this.#unreplayed = fact.recorded.length
    this.#isContinued = fact.waits.length > 0
    run.isMuted = this.#unreplayed > 0 || this.#isContinued
    for (let at = 0; at < fact.recorded.length; at++) {
      const recorded = fact.recorded[at]
      if (recorded !== undefined) mapSet(this.#recorded, recorded[0], { kind: recorded[1], name: recorded[2] })
    }
    for (let at = 0; at < fact.waits.length; at++) {
      const wait = fact.waits[at]
      if (wait !== undefined) mapSet(this.#attempts, wait[0], wait[1])
    }
  }

  /** Time of the last result: the same in each replay. */
  get now(): number {
    return this.#time
  }

  /** Returns the next number of a sequence in [0, 1) that is the same in each replay. */
  random(): number {
    return this.#random()
  }

  step(givenName: unknown, body: unknown, options: unknown): Promise<unknown> {
    const name = checkName("step", givenName)
    if (typeof body !== "function") throw new NativeTypeError("svc.step takes a name and a function")
    const retry: unknown = typeof options === "object" && options !== null ? getProperty(options, "retry") : undefined
    const seq = this.#next()
    return (
      this.#replayed(seq, "step", name) ??
      this.#execute(seq, name, (context) => apply(body, undefined, [context]), stringify(retry))
    )
  }

  /** Waits for a time or an event. `details` are fields of the host call. */
  wait(method: string, kind: "sleep" | "event", givenName: unknown, details: object): Promise<unknown> {
    const name = checkName(method, givenName)
    const seq = this.#next()
    const replayed = this.#replayed(seq, kind, name)
    if (replayed !== undefined) return replayed
    const fields = stringify(details)
    const payload = `{"seq":${seq},"kind":"${kind}","name":${stringify(name)}${fields === "{}" ? "}" : `,${slice(fields, 1)}`}`
    return this.#settle(this.#ask("workflow.wait", payload))
  }

  /** Gives a recorded result to its request. */
  replay(text: string): void {
    const result: Result = parse(text)
    const seq = result[0]
    const pending = mapGet(this.#pending, seq)
    if (pending === undefined) {
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
    if (result[1] === true) pending.resolve(result[3])
    else pending.reject(toError(result[3]))
  }

  /** Ends the run if it returned although recorded results remain. */
  checkEnd(): boolean {
    if (this.#unreplayed === 0) return true
    this.#diverge(`the function returned, but ${this.#unreplayed} of its recorded results remain`)
    return false
  }

  /** Reports to the host that the guest can do nothing until a wait ends. Called at the end of an entry. */
  checkIdle(): void {
    const run = this.#run
    const isWaiting =
      this.#unreplayed === 0 &&
      this.#bodies === 0 &&
      run.pendingTimers === 0 &&
      run.pendingCalls === this.#asked + this.#idleAsked
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
    whenSettled(run.call("workflow.idle", "{}"), answered, answered)
  }

  #next(): number {
    if (this.#run.ended) throw namedError("RunEnded", "the run has ended")
    this.#changes++
    return this.#seq++
  }

  /** Returns the promise of a recorded result; undefined if the request is not recorded. */
  #replayed(seq: number, kind: string, name: string): Promise<unknown> | undefined {
    const recorded = mapGet(this.#recorded, seq)
    if (recorded === undefined) return undefined
    if (recorded.kind !== kind || recorded.name !== name) {
      this.#diverge(
        `request ${seq} was ${describe(recorded)} when it was recorded and is ${describe({ kind, name })} now`
      )
      return new NativePromise(() => undefined)
    }
    return new NativePromise((resolve, reject) => mapSet(this.#pending, seq, { resolve, reject }))
  }

  /** Runs the body until an attempt succeeds or the host records the failure. */
  async #execute(
    seq: number,
    name: string,
    body: (context: object) => unknown,
    retry: string | undefined
  ): Promise<unknown> {
    let attempt = mapGet(this.#attempts, seq) ?? 0
    if (attempt > 0) {
      await this.#ask("workflow.wait", `{"seq":${seq},"kind":"step","name":${stringify(name)}}`)
    }
    for (;;) {
      attempt++
      const began = dateNow()
      let ok = true
      let text = ""
      let policy = retry
      this.#bodies++
      this.#run.isMuted = false
      try {
        const value = await body({ attempt, idempotencyKey: `${this.#runId}:${seq}` })
        try {
          text = toText(name, value)
          if (text.length > resultLengthMax) throw tooLarge(name)
        } catch (thrown) {
          // Another attempt would return the same.
          policy = '{"attempts":1}'
          throw thrown
        }
      } catch (thrown) {
        ok = false
        text = toErrorText(thrown)
      }
      this.#bodies--
      const header = `{"seq":${seq},"name":${stringify(name)},"ok":${ok},"attempt":${attempt},"ms":${dateNow() - began}`
      const rest = policy === undefined ? "}" : `,"retry":${policy}}`
      const result: Result = await this.#ask("workflow.step", `${header}${rest}\n${text}`)
      if (result[1] === null) continue
      if (result[1]) return result[3]
      throw toError(result[3])
    }
  }

  async #settle(asked: Promise<Result>): Promise<unknown> {
    const result = await asked
    if (result[1] === true) return result[3]
    throw toError(result[3])
  }

  /** Makes a host call. Its answer is the next result that the function receives. */
  #ask(op: string, payload: string): Promise<Result> {
    // One call remains for `workflow.idle`, without which the run could not be suspended.
    if (this.#run.freeCalls < 2) throw limitError("pendingHostCalls", "too many pending requests")
    this.#asked++
    return new NativePromise((resolve, reject) => {
      whenSettled(
        this.#run.call(op, payload),
        (text) => {
          this.#asked--
          this.#changes++
          this.#run.isMuted = false
          const result: Result = parse(NativeString(text))
          this.#time = result[2]
          resolve(result)
        },
        (error) => {
          this.#asked--
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

const describe = (request: RecordedRequest | undefined): string =>
  request === undefined ? "unknown" : `${request.kind} ${stringify(request.name)}`

const checkName = (method: string, name: unknown): string => {
  if (typeof name !== "string" || name === "" || name.length > nameLengthMax) {
    throw new NativeTypeError(`svc.${method} takes a name of 1 to ${nameLengthMax} characters`)
  }
  return name
}

/** Returns the result of a step as JSON text; empty for `undefined`. */
const toText = (name: string, value: unknown): string => {
  if (value === undefined) return ""
  let text: string | undefined
  try {
    text = stringify(value)
  } catch (thrown) {
    throw namedError(
      "NotSerializable",
      `the result of the step ${stringify(name)} is not JSON: ${parse(describeThrown(thrown))[1]}`
    )
  }
  if (text === undefined) {
    throw namedError(
      "NotSerializable",
      `the result of the step ${stringify(name)} is a ${typeof value}, which is not JSON`
    )
  }
  return text
}

const tooLarge = (name: string): Error =>
  namedError(
    "ResultTooLarge",
    `the result of the step ${stringify(name)} has over ${resultLengthMax} characters of JSON: store it in svc.files and return its path`
  )

const toErrorText = (thrown: unknown): string => {
  const parts: ReadonlyArray<unknown> = parse(describeThrown(thrown))
  return `{"name":${stringify(parts[0])},"message":${stringify(parts[1])},"stack":${stringify(parts[2])}}`
}

const toError = (value: unknown): Error => {
  if (typeof value !== "object" || value === null) return new NativeError()
  const read = (field: string): string => {
    const text: unknown = getProperty(value, field)
    return typeof text === "string" ? text : ""
  }
  const error = namedError(read("name"), read("message"))
  error.stack = read("stack")
  return error
}
