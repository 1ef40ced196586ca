/** `svc` of a run in a test: it works in memory and records its calls. */
import type { Files } from "../Files.ts"
import type { Duration } from "../Meta.ts"
import type { AnyFunction, Caller, LogLevel, RunFacts, Svc } from "../Svc.ts"
import { parseDuration } from "./durable/Duration.ts"
import { namedError } from "./failures.ts"
import { type Contents, findAsset } from "./MemoryFiles.ts"
import { makeMethods, type SvcFakes } from "./operations.ts"
import type { RunBook } from "./Records.ts"
import { type Fakes, testHost, toFakes } from "./TestHost.ts"
import { toArguments } from "./toArguments.ts"

/** Settings that all runs of an environment share. */
export interface EnvContext {
  readonly context: Readonly<Record<string, string>>
  readonly assets: Contents
  /** Functions of the build; null if unknown, which allows every reference. */
  readonly functions: ReadonlyMap<string, AnyFunction> | null
  /** Fakes of host functions. */
  readonly host: Fakes
  /** Fakes of host calls. */
  readonly svc: Fakes
  readonly freshId: () => string
}

export interface RunContext {
  readonly run: RunFacts
  readonly caller: Caller | null
  readonly signal: AbortSignal
  readonly files: Files
}

const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i
const emittedBytesMax = 64 * 1024
const systemTypes = ["svc:call", "svc:schedule:new", "svc:schedule:cancel"]

export const testSvc = (env: EnvContext, { run, caller, signal, files }: RunContext, recorder: RunBook): Svc => {
  const log = (level: LogLevel) => (message: unknown, data?: unknown) =>
    recorder.log(level, toText(message), data === undefined ? null : asJson(data))

  const behaviours = toFakes(makeBehaviours(env, run, recorder))

  /** Makes a host call. As in the runtime, values cross it as JSON. */
  const callHost = async (op: string, payload: string): Promise<string> => {
    checkOpen(recorder)
    const behaviour = env.svc.get(op) ?? behaviours.get(op)
    if (behaviour === undefined) {
      throw new TypeError(`The test kit does not implement svc.${op}: set testEnv({ svc: { "${op}": … } })`)
    }
    return JSON.stringify(await behaviour(JSON.parse(payload))) ?? "null"
  }

  return {
    run,
    caller,
    signal,
    files,
    ...makeMethods(callHost),
    invoke: async (fn, args) => Reflect.apply(found(env, fn), undefined, toArguments(args)),
    host: testHost(env.host, recorder, () => checkOpen(recorder)),
    asset: async (name) => {
      if (typeof name !== "string") throw new TypeError("name must be a string")
      checkOpen(recorder)
      return findAsset(env.assets, name)
    },
    log: { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") }
  }
}

/** Returns what the operations do in memory. They emulate rules of the runtime and record their calls. */
const makeBehaviours = (env: EnvContext, run: RunFacts, recorder: RunBook): SvcFakes => ({
  "context.get": ({ key }) => (Object.hasOwn(env.context, key) ? env.context[key] : undefined) ?? null,
  "context.all": () => env.context,
  "events.publish": ({ type, data, stream_id, delay }) => {
    if (typeof type !== "string" || data === undefined) throw new TypeError("An event has type and data")
    if (type === "" || type.length > 256) throw bad("event_type must have 1 to 256 characters")
    if (type.startsWith("svc:") && !systemTypes.includes(type)) throw bad(`${type} cannot be published`)
    if (typeof stream_id === "string" && !uuid.test(stream_id)) throw bad("stream_id must be a UUID")
    const publishedDelay = delay ?? undefined
    if (publishedDelay !== undefined && !isDuration(publishedDelay)) throw bad("delay must be a duration")
    recorder.published.push({
      type,
      data,
      ...(typeof stream_id === "string" ? { stream_id } : {}),
      ...(publishedDelay === undefined ? {} : { delay: publishedDelay })
    })
    return { event_id: env.freshId(), stream_id: stream_id ?? env.freshId(), event_type: type }
  },
  call: ({ fn, args = [] }) => {
    checkReference(env, fn)
    recorder.calls.push({ fn, args })
    return { event_id: env.freshId(), stream_id: run.stream_id }
  },
  "schedules.create": (schedule) => {
    if (typeof schedule.fn !== "string" || typeof schedule.schedule !== "string") {
      throw new TypeError("A schedule has fn and schedule")
    }
    if (schedule.args !== undefined && !Array.isArray(schedule.args)) throw new TypeError("args must be a list")
    checkReference(env, schedule.fn)
    const schedule_id = env.freshId()
    recorder.scheduled.push({ schedule_id, ...schedule })
    return { schedule_id }
  },
  "schedules.cancel": ({ id, fn }) => {
    if ((id === undefined) === (fn === undefined)) {
      throw bad("svc.schedules.cancel takes an object with either id or fn")
    }
    recorder.cancelled.push(id === undefined ? { fn: fn ?? "" } : { id })
  },
  "stream.emit": ({ data_type, payload }) => {
    if (data_type === "" || data_type.length > 256) {
      throw bad("svc.stream.emit takes the type of the data, 1 to 256 characters, and the payload")
    }
    const emitted = payload ?? null
    if (new TextEncoder().encode(JSON.stringify(emitted)).length > emittedBytesMax) {
      throw namedError("LimitExceeded", `svc.stream.emit takes at most ${emittedBytesMax} bytes of JSON`)
    }
    recorder.emitted.push({ data_type, payload: emitted })
  },
  "mcp.log": () => undefined,
  "mcp.progress": () => undefined,
  "mcp.updated": () => undefined,
  "mcp.sample": () => noClient("mcp.sample"),
  "mcp.elicit": () => noClient("mcp.elicit")
})

const noClient = (op: string): never => {
  throw namedError("NotSupported", `svc.${op}: no MCP client waits for the run; set testEnv({ svc: { "${op}": … } })`)
}

/** Throws if the run has ended. */
export const checkOpen = (recorder: RunBook): void => {
  if (recorder.ended) throw namedError("RunEnded", "the run has ended")
}

const checkReference = ({ functions }: EnvContext, fn: string): void => {
  if (functions === null || functions.has(fn.slice(fn.indexOf(":") + 1))) return
  throw bad(`there is no function ${fn}`)
}

/** Returns a function of the build; throws if it does not exist. */
const found = ({ functions }: EnvContext, reference: string): AnyFunction => {
  const fn = functions?.get(reference)
  if (fn === undefined) throw namedError("FunctionNotFound", `the build exports no function ${reference}`)
  return fn
}

const bad = (reason: string): Error => namedError("BadRequest", reason)

/** Converts a value through JSON. */
const asJson = <A>(value: A): A => JSON.parse(JSON.stringify(value) ?? "null")

const toText = (message: unknown): string =>
  typeof message === "string" ? message : (JSON.stringify(message) ?? String(message))

const isDuration = (value: unknown): value is Duration => parseDuration(value) !== null
