/** Methods of `svc` that make host calls. Generated from the table of operations: `npm run generate -w packages/core`. */
import { namedError } from "./failures.ts"
import { parse, stringify } from "./primordials.ts"
import type { Run } from "./Run.ts"
import { toArguments } from "./toArguments.ts"

/** The methods of `svc.context`. */
class Context {
  readonly #run: Run

  constructor(run: Run) {
    this.#run = run
  }

  /** Returns a secret of the project, or null. */
  async get(key: unknown): Promise<unknown> {
    if (typeof key !== "string") {
      throw namedError("BadRequest", "svc.context.get takes a string, the key")
    }
    return parse(await this.#run.call("context.get", stringify({ key })))
  }

  /** Returns all secrets of the project, by key. */
  async all(): Promise<unknown> {
    return parse(await this.#run.call("context.all", "{}"))
  }
}

/** The methods of `svc.events`. */
class Events {
  readonly #run: Run

  constructor(run: Run) {
    this.#run = run
  }

  /** Publishes an event, which is stored when the promise resolves. */
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

  /** Creates a schedule of a function. */
  async create(schedule: unknown): Promise<unknown> {
    if (typeof schedule !== "object" || schedule === null) {
      throw namedError("BadRequest", "svc.schedules.create takes an object with fn, args and schedule")
    }
    return parse(await this.#run.call("schedules.create", stringify(schedule)))
  }

  /** Cancels one schedule, or all that were created for a function. */
  async cancel(schedule: unknown): Promise<void> {
    if (typeof schedule !== "object" || schedule === null) {
      throw namedError("BadRequest", "svc.schedules.cancel takes an object with id or fn")
    }
    await this.#run.call("schedules.cancel", stringify(schedule))
  }
}

/** The methods of `svc.stream`. */
class Stream {
  readonly #run: Run

  constructor(run: Run) {
    this.#run = run
  }

  /** Sends a message of at most 64 KiB JSON to the current subscribers of the run's stream. It is not stored. */
  async emit(data_type: unknown, payload: unknown): Promise<void> {
    if (typeof data_type !== "string") {
      throw namedError("BadRequest", "svc.stream.emit takes a string, the type of the data, and the payload")
    }
    await this.#run.call("stream.emit", stringify({ data_type, payload: payload ?? null }))
  }
}

/** The methods of `svc.mcp`. */
class Mcp {
  readonly #run: Run

  constructor(run: Run) {
    this.#run = run
  }

  /** Sends a log message of at most 16 KiB JSON to the MCP client that waits for the run. Without one it has no effect. */
  async log(message: unknown): Promise<void> {
    if (typeof message !== "object" || message === null) {
      throw namedError("BadRequest", "svc.mcp.log takes an object with level and data")
    }
    await this.#run.call("mcp.log", stringify(message))
  }

  /** Reports progress to the MCP client that waits for the run, if it wants progress. */
  async progress(progress: unknown): Promise<void> {
    if (typeof progress !== "object" || progress === null) {
      throw namedError("BadRequest", "svc.mcp.progress takes an object with progress")
    }
    await this.#run.call("mcp.progress", stringify(progress))
  }

  /** Asks the model of the MCP client that waits for the run. Rejects with `NotSupported` or `ClientRefused`. */
  async sample(request: unknown): Promise<unknown> {
    if (typeof request !== "object" || request === null) {
      throw namedError("BadRequest", "svc.mcp.sample takes an object with messages and maxTokens")
    }
    return parse(await this.#run.call("mcp.sample", stringify(request)))
  }

  /** Asks the user of the MCP client that waits for the run. Accepted content matches the form. Rejects with `NotSupported` or `ClientRefused`. */
  async elicit(request: unknown): Promise<unknown> {
    if (typeof request !== "object" || request === null) {
      throw namedError("BadRequest", "svc.mcp.elicit takes an object with message and requestedSchema")
    }
    return parse(await this.#run.call("mcp.elicit", stringify(request)))
  }

  /** Notifies the MCP clients that subscribed to the resource. Any run may call it. */
  async updated(uri: unknown): Promise<void> {
    if (typeof uri !== "string") {
      throw namedError("BadRequest", "svc.mcp.updated takes a string, the URI of the resource")
    }
    await this.#run.call("mcp.updated", stringify({ uri }))
  }
}

/** Groups of methods by their property of `svc`. */
export const groups: ReadonlyArray<readonly [name: string, Group: new (run: Run) => object]> = [
  ["context", Context],
  ["events", Events],
  ["schedules", Schedules],
  ["stream", Stream],
  ["mcp", Mcp]
]

/** Returns the methods of `svc` itself. `runOf` returns the run of their `this`. */
export const makeMethods = (runOf: (svc: unknown) => Run): Readonly<Record<string, object>> => ({
  /**
   * Runs a function in the background. The call is stored when the promise resolves. The type of the function checks its
   * arguments: `svc.call<typeof charge>("billing/charge", [order])`.
   */
  async call(this: unknown, fn: unknown, args: unknown): Promise<unknown> {
    if (typeof fn !== "string") {
      throw namedError("BadRequest", "svc.call takes a string, the function, and its args")
    }
    return parse(await runOf(this).call("call", stringify({ fn, args: toArguments(args) })))
  }
})
