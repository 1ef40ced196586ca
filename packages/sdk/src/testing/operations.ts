/** Methods of `svc` that make host calls. Generated from the table of operations: `npm run generate -w packages/core`. */
import type {
  McpElicited,
  McpElicitRequest,
  McpLogMessage,
  McpProgress,
  McpSample,
  McpSampleRequest,
  NewSchedule,
  Published,
  SvcOperations
} from "../SvcOperations.ts"
import { namedError } from "./failures.ts"
import { toArguments } from "./toArguments.ts"

const { parse, stringify } = JSON

/** Fakes of host calls of `svc`, by operation. */
export interface SvcFakes {
  readonly "context.get"?: (input: { readonly key: string }) => string | null | Promise<string | null>
  readonly "context.all"?: (
    input: object
  ) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>
  readonly "events.publish"?: (input: {
    readonly type: string
    readonly data: unknown
    readonly stream_id?: string | null
    readonly delay?: string | number | null
  }) => Published | Promise<Published>
  readonly call?: (input: {
    readonly fn: string
    readonly args?: ReadonlyArray<unknown>
  }) =>
    | { readonly event_id: string; readonly stream_id: string }
    | Promise<{ readonly event_id: string; readonly stream_id: string }>
  readonly "schedules.create"?: (
    input: NewSchedule
  ) => { readonly schedule_id: string } | Promise<{ readonly schedule_id: string }>
  readonly "schedules.cancel"?: (input: { readonly id?: string; readonly fn?: string }) => void | Promise<void>
  readonly "stream.emit"?: (input: { readonly data_type: string; readonly payload: unknown }) => void | Promise<void>
  readonly "mcp.log"?: (input: McpLogMessage) => void | Promise<void>
  readonly "mcp.progress"?: (input: McpProgress) => void | Promise<void>
  readonly "mcp.sample"?: (input: McpSampleRequest) => McpSample | Promise<McpSample>
  readonly "mcp.elicit"?: (input: McpElicitRequest) => McpElicited | Promise<McpElicited>
  readonly "mcp.updated"?: (input: { readonly uri: string }) => void | Promise<void>
}

/** Returns the methods. `call` makes a host call; JSON text in and out. */
export const makeMethods = (call: (op: string, payload: string) => Promise<string>): SvcOperations => ({
  context: {
    get: async (key) => {
      if (typeof key !== "string") {
        throw namedError("BadRequest", "svc.context.get takes a string, the key")
      }
      return parse(await call("context.get", stringify({ key })))
    },
    all: async () => {
      return parse(await call("context.all", "{}"))
    }
  },
  events: {
    publish: async (event) => {
      if (typeof event !== "object" || event === null) {
        throw namedError("BadRequest", "svc.events.publish takes an object with type and data")
      }
      return parse(await call("events.publish", stringify(event)))
    }
  },
  call: async (fn, args) => {
    if (typeof fn !== "string") {
      throw namedError("BadRequest", "svc.call takes a string, the function, and its args")
    }
    return parse(await call("call", stringify({ fn, args: toArguments(args) })))
  },
  schedules: {
    create: async (schedule) => {
      if (typeof schedule !== "object" || schedule === null) {
        throw namedError("BadRequest", "svc.schedules.create takes an object with fn, args and schedule")
      }
      return parse(await call("schedules.create", stringify(schedule)))
    },
    cancel: async (schedule) => {
      if (typeof schedule !== "object" || schedule === null) {
        throw namedError("BadRequest", "svc.schedules.cancel takes an object with id or fn")
      }
      await call("schedules.cancel", stringify(schedule))
    }
  },
  stream: {
    emit: async (data_type, payload) => {
      if (typeof data_type !== "string") {
        throw namedError("BadRequest", "svc.stream.emit takes a string, the type of the data, and the payload")
      }
      await call("stream.emit", stringify({ data_type, payload: payload ?? null }))
    }
  },
  mcp: {
    log: async (message) => {
      if (typeof message !== "object" || message === null) {
        throw namedError("BadRequest", "svc.mcp.log takes an object with level and data")
      }
      await call("mcp.log", stringify(message))
    },
    progress: async (progress) => {
      if (typeof progress !== "object" || progress === null) {
        throw namedError("BadRequest", "svc.mcp.progress takes an object with progress")
      }
      await call("mcp.progress", stringify(progress))
    },
    sample: async (request) => {
      if (typeof request !== "object" || request === null) {
        throw namedError("BadRequest", "svc.mcp.sample takes an object with messages and maxTokens")
      }
      return parse(await call("mcp.sample", stringify(request)))
    },
    elicit: async (request) => {
      if (typeof request !== "object" || request === null) {
        throw namedError("BadRequest", "svc.mcp.elicit takes an object with message and requestedSchema")
      }
      return parse(await call("mcp.elicit", stringify(request)))
    },
    updated: async (uri) => {
      if (typeof uri !== "string") {
        throw namedError("BadRequest", "svc.mcp.updated takes a string, the URI of the resource")
      }
      await call("mcp.updated", stringify({ uri }))
    }
  }
})
