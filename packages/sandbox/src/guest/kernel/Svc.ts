/**
 * `svc`: the services of a run. Each run has its own, passed to its function and available as a global.
 *
 * Methods that only make a host call are generated: see `operations.ts`.
 */
import type { Bridge, HostCaller } from "../Bridge.ts"
import { makeAbortController } from "./abort.ts"
import type { Durable } from "./Durable.ts"
import { findFunction } from "./Exports.ts"
import { fanOut } from "./fanOut.ts"
import { makeHostProxy } from "./Host.ts"
import { groups, makeMethods } from "./operations.ts"
import {
  apply,
  create,
  defineProperty,
  getProperty,
  keys,
  NativeString,
  NativeTypeError,
  slice,
  stringify
} from "./primordials.ts"
import { makeUuid } from "./Random.ts"
import type { LogLevel, Run } from "./Run.ts"
import { nameLengthMax } from "./requests.ts"
import { toArguments } from "./toArguments.ts"

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

export class Svc {
  readonly #run: Run
  readonly #bridge: Bridge
  #files: object | undefined
  #host: object | undefined
  #log: Log | undefined
  /** Groups of generated methods that were used, by name. */
  #groups: Record<string, object> | undefined
  #signal: unknown

  constructor(run: Run, data: object, bridge: Bridge) {
    this.#run = run
    this.#bridge = bridge
    const names = keys(data)
    for (let at = 0; at < names.length; at++) {
      const name = names[at] ?? ""
      defineProperty(this, name, {
        value: getProperty(data, name),
        enumerable: true,
        writable: true,
        configurable: true
      })
    }
  }

  /** The files of the environment. */
  get files(): object | undefined {
    this.#files ??= this.#bridge.files?.(this.#caller)
    return this.#files
  }

  /** Returns a file of the build's zip, or null. */
  async asset(name: unknown): Promise<object | null> {
    return this.#bridge.asset?.(this.#caller, name) ?? null
  }

  /** The host caller for objects of the platform. */
  get #caller(): HostCaller {
    return (op, payload) => this.#run.call(op, payload)
  }

  /** The functions of the host. */
  get host(): object {
    this.#host ??= makeHostProxy(this.#run)
    return this.#host
  }

  get log(): Log {
    this.#log ??= new Log(this.#run)
    return this.#log
  }

  /** Signal that aborts if the run is cancelled or times out, or the host shuts down. Created at the first access. */
  get signal(): unknown {
    if (this.#signal === undefined) {
      const controller = makeAbortController()
      this.#run.onStop = (reason) => {
        const DOMException: new (message: string, name: string) => unknown = getProperty(globalThis, "DOMException")
        controller.abort(new DOMException(`the run was stopped: ${reason}`, "AbortError"))
      }
      this.#signal = controller.signal
    }
    return this.#signal
  }

  /**
   * Calls another function of the build (`ns/var`) in this run. In a durable function, starts a child run and waits for it. An
   * array is its arguments, any other value its only one.
   */
  async invoke(fn: unknown, args?: unknown, options?: unknown): Promise<unknown> {
    const { durable } = this.#run
    if (durable !== undefined && !durable.isInBody) return invokeChild(durable, NativeString(fn), args, options)
    return apply(findFunction(NativeString(fn)), undefined, toArguments(args))
  }

  /** Runs `body` once and records its result. In each replay, the recorded result is returned. */
  async step(name: unknown, body: unknown, options?: unknown): Promise<unknown> {
    return this.#durable("step").step(name, body, options)
  }

  /** Calls `fn` for each item, some at a time. Resolves with the results in the order of the items. */
  async all(items: unknown, fn: unknown, options?: unknown): Promise<unknown> {
    this.#durable("all")
    return fanOut(items, fn, options)
  }

  /** Returns an object whose steps are undone in reverse order if the function fails. */
  saga(): object {
    const durable = this.#durable("saga")
    return {
      step: async (name: unknown, body: unknown, undo: unknown, options?: unknown): Promise<unknown> =>
        durable.step(name, body, options, undo)
    }
  }

  async sleep(name: unknown, duration: unknown): Promise<unknown> {
    return this.#durable("sleep").wait("sleep", "sleep", name, { ms: duration })
  }

  async sleepUntil(name: unknown, time: unknown): Promise<unknown> {
    return this.#durable("sleepUntil").wait("sleepUntil", "sleep", name, { until: time })
  }

  /** Returns the event; null after the timeout. */
  async waitForEvent(name: unknown, options: unknown): Promise<unknown> {
    const durable = this.#durable("waitForEvent")
    if (typeof options !== "object" || options === null)
      throw new NativeTypeError("svc.waitForEvent takes { event, … }")
    return durable.wait("waitForEvent", "event", name, {
      event: getProperty(options, "event"),
      match: getProperty(options, "match"),
      ms: getProperty(options, "timeout"),
      since: getProperty(options, "since")
    })
  }

  /** Returns the number that this run uses for a change of its code: `max` for new runs, less for older records. */
  async version(id: unknown, max: unknown): Promise<unknown> {
    return this.#durable("version").versions.get(id, max)
  }

  /** Ends the run, and starts the next one of the function. Never returns. */
  async continueAsNew(args?: unknown): Promise<unknown> {
    return this.#durable("continueAsNew").continueAsNew(toArguments(args))
  }

  /** Creates a token, whose holder completes it by its URL. */
  async createToken(name: unknown, options?: unknown): Promise<unknown> {
    return this.#durable("createToken").tokens.create(name, options)
  }

  /** Returns the completion of a token, or its timeout. */
  async waitForToken(token: unknown): Promise<unknown> {
    return this.#durable("waitForToken").tokens.wait(token)
  }

  /** Time of the last result, in milliseconds since 1970. */
  now(): number {
    return this.#durable("now").now
  }

  random(): number {
    return this.#durable("random").random()
  }

  uuid(): string {
    const durable = this.#durable("uuid")
    return makeUuid(() => durable.random())
  }

  #durable(method: string): Durable {
    const { durable } = this.#run
    if (durable !== undefined) return durable
    throw new NativeTypeError(
      `svc.${method} needs a durable function: set meta.durable to true, or use durable() of the SDK`
    )
  }

  /** Adds the generated methods, before any user code runs. */
  static {
    const runOf = (svc: unknown): Run => {
      if (typeof svc === "object" && svc !== null && #run in svc) return svc.#run
      throw new NativeTypeError("the receiver is not svc")
    }
    const methods = makeMethods(runOf)
    for (const name of keys(methods)) {
      defineProperty(Svc.prototype, name, { value: methods[name], writable: true, configurable: true })
    }
    const { call } = methods
    const durableCall = {
      async call(this: unknown, fn: unknown, args: unknown): Promise<unknown> {
        const { durable } = runOf(this)
        if (durable !== undefined && !durable.isInBody && typeof fn === "string")
          return durable.request("workflow.call", "call", slice(fn, 0, nameLengthMax), { fn, args: toArguments(args) })
        if (typeof call === "function") return apply(call, this, [fn, args])
      }
    }
    defineProperty(Svc.prototype, "call", { value: durableCall.call, writable: true, configurable: true })
    for (const [name, Group] of groups) {
      defineProperty(Svc.prototype, name, {
        get(this: Svc) {
          // Without a prototype, through which user code could add setters.
          this.#groups ??= createGroups()
          this.#groups[name] ??= new Group(this.#run)
          return this.#groups[name]
        },
        configurable: true
      })
    }
  }
}

const invokeChild = (durable: Durable, fn: string, args: unknown, options: unknown): Promise<unknown> => {
  const read = (field: string): unknown =>
    typeof options === "object" && options !== null ? getProperty(options, field) : undefined
  const details = { fn, args: toArguments(args), ms: read("timeout") }
  return durable.wait("invoke", "run", read("name") ?? slice(fn, 0, nameLengthMax), details)
}

const createGroups = (): Record<string, object> => create(null)
