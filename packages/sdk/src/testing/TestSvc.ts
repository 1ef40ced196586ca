/** `svc` of a run in a test: what it asks for is done in memory and written down. */
import type { Files } from "../Files.ts"
import type { AnyFunction, Caller, LogLevel, RunFacts, Svc } from "../Svc.ts"
import { namedError } from "./failures.ts"
import { assetOf, type Contents } from "./MemoryFiles.ts"
import type { RunBook } from "./Records.ts"
import { type Fakes, testHost } from "./TestHost.ts"

/** What runs of one environment have in common. */
export interface Surroundings {
  readonly context: Readonly<Record<string, string>>
  readonly assets: Contents
  /** Null when nothing is known of the build: then every reference is good. */
  readonly functions: ReadonlyMap<string, AnyFunction> | null
  /** Of functions of the host, by name. */
  readonly host: Fakes
  readonly freshId: () => string
}

export interface Occasion {
  readonly run: RunFacts
  readonly caller: Caller | null
  readonly signal: AbortSignal
  readonly files: Files
}

const duration = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d)|P(?=.)(?:\d+(?:\.\d+)?[YMWD])*(?:T(?=.)(?:\d+(?:\.\d+)?[HMS])+)?)$/
const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i
const emittedBytesMax = 64 * 1024
const systemTypes = ["svc:call", "svc:schedule:new", "svc:schedule:cancel"]

export const testSvc = (around: Surroundings, { run, caller, signal, files }: Occasion, book: RunBook): Svc => {
  const log = (level: LogLevel) => (message: unknown, data?: unknown) =>
    book.log(level, textOf(message), data === undefined ? null : asJson(data))

  const published = (event_type: string, stream_id: string) => ({ event_id: around.freshId(), stream_id, event_type })

  return {
    run,
    caller,
    signal,
    files,
    context: {
      get: async (key) => {
        if (typeof key !== "string") throw bad("svc.context.get takes a string, the key")
        checkOpen(book)
        return (Object.hasOwn(around.context, key) ? around.context[key] : undefined) ?? null
      },
      all: async () => {
        checkOpen(book)
        return { ...around.context }
      }
    },
    events: {
      publish: async (event) => {
        if (typeof event !== "object" || event === null) {
          throw bad("svc.events.publish takes an object with type and data")
        }
        checkOpen(book)
        const { type, data, stream_id, delay } = asJson(event)
        if (typeof type !== "string" || data === undefined) throw new TypeError("An event has type and data")
        if (type === "" || type.length > 256) throw bad("event_type must have 1 to 256 characters")
        if (type.startsWith("svc:") && !systemTypes.includes(type)) throw bad(`${type} cannot be published`)
        if (stream_id !== undefined && !uuid.test(stream_id)) throw bad("stream_id must be a UUID")
        if (delay !== undefined && !isDuration(delay)) throw bad("delay must be a duration")
        book.published.push({
          type,
          data,
          ...(stream_id === undefined ? {} : { stream_id }),
          ...(delay === undefined ? {} : { delay })
        })
        return published(type, stream_id ?? around.freshId())
      }
    },
    call: async (fn, args) => {
      if (typeof fn !== "string") throw bad("svc.call takes a string, the function, and its args")
      checkOpen(book)
      checkReference(around, fn)
      book.calls.push(asJson({ fn, args: listOf(args) }))
      const { event_id, stream_id } = published("svc:call", run.stream_id)
      return { event_id, stream_id }
    },
    invoke: async (fn, args) => Reflect.apply(found(around, fn), undefined, listOf(args)),
    schedules: {
      create: async (schedule) => {
        if (typeof schedule !== "object" || schedule === null) {
          throw bad("svc.schedules.create takes an object with fn, args and schedule")
        }
        checkOpen(book)
        const asked = asJson(schedule)
        if (typeof asked.fn !== "string" || typeof asked.schedule !== "string") {
          throw new TypeError("A schedule has fn and schedule")
        }
        if (asked.args !== undefined && !Array.isArray(asked.args)) throw new TypeError("args must be a list")
        checkReference(around, asked.fn)
        const schedule_id = around.freshId()
        book.scheduled.push({ schedule_id, ...asked })
        return { schedule_id }
      },
      cancel: async (schedule) => {
        if (typeof schedule !== "object" || schedule === null || "id" in schedule === "fn" in schedule) {
          throw bad("svc.schedules.cancel takes an object with either id or fn")
        }
        checkOpen(book)
        book.cancelled.push(asJson(schedule))
      }
    },
    host: testHost(around.host, book, () => checkOpen(book)),
    stream: {
      emit: async (data_type, payload) => {
        if (typeof data_type !== "string" || data_type === "" || data_type.length > 256) {
          throw bad("svc.stream.emit takes the type of the data, 1 to 256 characters, and the payload")
        }
        checkOpen(book)
        const text = JSON.stringify(payload ?? null) ?? "null"
        if (new TextEncoder().encode(text).length > emittedBytesMax) {
          throw namedError("LimitExceeded", `svc.stream.emit takes at most ${emittedBytesMax} bytes of JSON`)
        }
        book.emitted.push({ data_type, payload: JSON.parse(text) })
      }
    },
    asset: async (name) => {
      if (typeof name !== "string") throw new TypeError("name must be a string")
      checkOpen(book)
      return assetOf(around.assets, name)
    },
    log: { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") }
  }
}

/** Rejects once the run has ended. */
export const checkOpen = (book: RunBook): void => {
  if (book.ended) throw namedError("RunEnded", "the run has ended")
}

const checkReference = ({ functions }: Surroundings, fn: string): void => {
  if (functions === null || functions.has(fn.slice(fn.indexOf(":") + 1))) return
  throw bad(`there is no function ${fn}`)
}

/** Without the functions of the build none is found. */
const found = ({ functions }: Surroundings, reference: string): AnyFunction => {
  const fn = functions?.get(reference)
  if (fn === undefined) throw namedError("FunctionNotFound", `the build exports no function ${reference}`)
  return fn
}

const bad = (reason: string): Error => namedError("BadRequest", reason)

const listOf = (args: unknown): ReadonlyArray<unknown> =>
  args === undefined ? [] : Array.isArray(args) ? args : [args]

/** What comes of a value on its way through JSON. */
const asJson = <A>(value: A): A => JSON.parse(JSON.stringify(value) ?? "null")

const textOf = (message: unknown): string =>
  typeof message === "string" ? message : (JSON.stringify(message) ?? String(message))

const isDuration = (value: unknown): boolean =>
  typeof value === "number" ? value >= 0 : typeof value === "string" && duration.test(value)
