/** `svc`: what a run may ask for. One per run, handed to its function and found under the global of that name. */
import type { Bridge, HostCaller } from "../Bridge.ts"
import { findFunction } from "./Exports.ts"
import { namedError } from "./failures.ts"
import { hostOf } from "./Host.ts"
import { apply, defineProperty, getProperty, isArray, keys, NativeString, parse, stringify } from "./primordials.ts"
import type { LogLevel, Run } from "./Run.ts"

interface AbortControllerLike {
  readonly signal: unknown
  readonly abort: (reason: unknown) => void
}

/** The methods of `svc.events`. */
class Events {
  readonly #run: Run

  constructor(run: Run) {
    this.#run = run
  }

  async publish(event: unknown): Promise<unknown> {
    if (typeof event !== "object" || event === null) {
      throw namedError("BadRequest", "svc.events.publish takes an object with type and data")
    }
    return parse(await this.#run.call("events.publish", stringify(event)))
  }
}

/** The methods of `svc.schedules`. */
class Schedules {
  readonly #run: Run

  constructor(run: Run) {
    this.#run = run
  }

  /** `{fn, args, schedule}`: a cron expression, an ISO timestamp or an ISO duration. Gives `{schedule_id}`. */
  async create(schedule: unknown): Promise<unknown> {
    if (typeof schedule !== "object" || schedule === null) {
      throw namedError("BadRequest", "svc.schedules.create takes an object with fn, args and schedule")
    }
    return parse(await this.#run.call("schedules.create", stringify(schedule)))
  }

  /** `{id}`, or `{fn}` for all schedules of the function that were created so. */
  async cancel(schedule: unknown): Promise<void> {
    if (typeof schedule !== "object" || schedule === null) {
      throw namedError("BadRequest", "svc.schedules.cancel takes an object with id or fn")
    }
    await this.#run.call("schedules.cancel", stringify(schedule))
  }
}

/** The methods of `svc.context`: the secrets of the project. */
class Secrets {
  readonly #run: Run

  constructor(run: Run) {
    this.#run = run
  }

  /** Null when there is none of that key. */
  async get(key: unknown): Promise<unknown> {
    if (typeof key !== "string") throw namedError("BadRequest", "svc.context.get takes a string, the key")
    return parse(await this.#run.call("context.get", stringify({ key })))
  }

  /** All of them, by key. */
  async all(): Promise<unknown> {
    return parse(await this.#run.call("context.all", "{}"))
  }
}

/** The methods of `svc.stream`: the stream of the run. */
class Stream {
  readonly #run: Run

  constructor(run: Run) {
    this.#run = run
  }

  /** Tells those who watch the stream now; nobody else will ever know. */
  async emit(dataType: unknown, payload: unknown): Promise<void> {
    if (typeof dataType !== "string") {
      throw namedError("BadRequest", "svc.stream.emit takes a string, the type of the data, and the payload")
    }
    await this.#run.call("stream.emit", stringify({ data_type: dataType, payload: payload ?? null }))
  }
}

/** The methods of `svc.log`. */
class Log {
  readonly #run: Run

  constructor(run: Run) {
    this.#run = run
  }

  debug(message: unknown, data?: unknown): void {
    write(this.#run, "debug", message, data)
  }
  info(message: unknown, data?: unknown): void {
    write(this.#run, "info", message, data)
  }
  warn(message: unknown, data?: unknown): void {
    write(this.#run, "warn", message, data)
  }
  error(message: unknown, data?: unknown): void {
    write(this.#run, "error", message, data)
  }
}

const write = (run: Run, level: LogLevel, message: unknown, data: unknown): void => {
  const text = typeof message === "string" ? message : (stringify(message) ?? NativeString(message))
  run.log(level, text, data === undefined ? null : (stringify(data) ?? null))
}

const argumentsOf = (args: unknown): ReadonlyArray<unknown> => (args === undefined ? [] : isArray(args) ? args : [args])

export class Svc {
  readonly #run: Run
  readonly #bridge: Bridge
  #files: object | undefined
  #host: object | undefined
  #context: Secrets | undefined
  #events: Events | undefined
  #log: Log | undefined
  #stream: Stream | undefined
  #schedules: Schedules | undefined
  #signal: unknown

  constructor(run: Run, facts: object, bridge: Bridge) {
    this.#run = run
    this.#bridge = bridge
    const names = keys(facts)
    for (let at = 0; at < names.length; at++) {
      const name = names[at] ?? ""
      defineProperty(this, name, {
        value: getProperty(facts, name),
        enumerable: true,
        writable: true,
        configurable: true
      })
    }
  }

  get context(): Secrets {
    this.#context ??= new Secrets(this.#run)
    return this.#context
  }

  get events(): Events {
    this.#events ??= new Events(this.#run)
    return this.#events
  }

  get schedules(): Schedules {
    this.#schedules ??= new Schedules(this.#run)
    return this.#schedules
  }

  /** The files of the environment. */
  get files(): object | undefined {
    this.#files ??= this.#bridge.files?.(this.#caller)
    return this.#files
  }

  /** A file of the build's zip, or null. */
  async asset(name: unknown): Promise<object | null> {
    return this.#bridge.asset?.(this.#caller, name) ?? null
  }

  /** The way to the host, for what the platform makes. */
  get #caller(): HostCaller {
    return (op, payload) => this.#run.call(op, payload)
  }

  /** The functions of the host. */
  get host(): object {
    this.#host ??= hostOf(this.#run)
    return this.#host
  }

  get stream(): Stream {
    this.#stream ??= new Stream(this.#run)
    return this.#stream
  }

  get log(): Log {
    this.#log ??= new Log(this.#run)
    return this.#log
  }

  /** Aborted when the run is cancelled, times out, or the host shuts down. Made when first asked for. */
  get signal(): unknown {
    if (this.#signal === undefined) {
      const AbortController: new () => AbortControllerLike = getProperty(globalThis, "AbortController")
      const controller = new AbortController()
      this.#run.onStop = (reason) => {
        const DOMException: new (message: string, name: string) => unknown = getProperty(globalThis, "DOMException")
        controller.abort(new DOMException(`the run was stopped: ${reason}`, "AbortError"))
      }
      this.#signal = controller.signal
    }
    return this.#signal
  }

  /** Calls another function of the build (`ns/var`) within this run: an array as its arguments, else as the only one. */
  async invoke(fn: unknown, args?: unknown): Promise<unknown> {
    return apply(findFunction(NativeString(fn)), undefined, argumentsOf(args))
  }

  /** Calls a function of the environment in the background: it runs later, by itself. `args` as for `invoke`. */
  async call(fn: unknown, args?: unknown): Promise<unknown> {
    if (typeof fn !== "string") throw namedError("BadRequest", "svc.call takes a string, the function, and its args")
    return parse(await this.#run.call("call", stringify({ fn, args: argumentsOf(args) })))
  }
}
