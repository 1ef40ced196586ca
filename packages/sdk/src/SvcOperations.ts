/** Methods of `svc` that make host calls. Types only. Generated from the table of operations: `npm run generate -w packages/core`. */
import type { AnyEvents, Catalogue } from "./Event.ts"
import type { AnyFunction, ArgsOf, NewEvent } from "./Svc.ts"

/** Result of `svc.events.publish`. */
export interface Published {
  readonly event_id: string
  readonly stream_id: string
  readonly event_type: string
}

/** Argument of `svc.schedules.create`. */
export interface NewSchedule {
  /** `ns/var`, or `project:ns/var`. */
  readonly fn: string
  readonly args?: ReadonlyArray<unknown>
  /** A cron expression, or for one run an ISO 8601 timestamp or a duration. */
  readonly schedule: string
  /** Time zone of a cron expression; UTC by default. */
  readonly timezone?: string
}

/** Argument of `svc.mcp.log`. */
export interface McpLogMessage {
  readonly level: "debug" | "info" | "notice" | "warning" | "error" | "critical" | "alert" | "emergency"
  readonly data: unknown
  /** Name of the part that logs. */
  readonly logger?: string
}

/** Argument of `svc.mcp.progress`. */
export interface McpProgress {
  /** Must increase with every call. */
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

/** Argument of `svc.mcp.sample`. */
export interface McpSampleRequest {
  readonly messages: ReadonlyArray<{
    readonly role: "user" | "assistant"
    readonly content:
      | { readonly type: "text"; readonly text: string }
      | { readonly type: "image" | "audio"; readonly data: string; readonly mimeType: string }
  }>
  readonly maxTokens: number
  readonly systemPrompt?: string
  readonly temperature?: number
  readonly stopSequences?: ReadonlyArray<string>
  readonly modelPreferences?: {
    readonly hints?: ReadonlyArray<{ readonly name: string }>
    readonly costPriority?: number
    readonly speedPriority?: number
    readonly intelligencePriority?: number
  }
  readonly includeContext?: "none" | "thisServer" | "allServers"
}

/** Result of `svc.mcp.sample`. */
export interface McpSample {
  readonly role: "user" | "assistant"
  readonly content:
    | { readonly type: "text"; readonly text: string }
    | { readonly type: "image" | "audio"; readonly data: string; readonly mimeType: string }
  readonly model: string
  readonly stopReason?: string
}

/** Argument of `svc.mcp.elicit`. */
export interface McpElicitRequest {
  /** Shown to the user. */
  readonly message: string
  /** The form: an object of primitive fields. */
  readonly requestedSchema: {
    readonly type: "object"
    readonly properties: Readonly<
      Record<
        string,
        | {
            readonly type: "string"
            readonly title?: string
            readonly description?: string
            readonly minLength?: number
            readonly maxLength?: number
            readonly format?: "email" | "uri" | "date" | "date-time"
            readonly enum?: ReadonlyArray<string>
            readonly enumNames?: ReadonlyArray<string>
            readonly oneOf?: ReadonlyArray<{ readonly const: string; readonly title: string }>
            readonly default?: string
          }
        | {
            readonly type: "number" | "integer"
            readonly title?: string
            readonly description?: string
            readonly minimum?: number
            readonly maximum?: number
            readonly default?: number
          }
        | {
            readonly type: "boolean"
            readonly title?: string
            readonly description?: string
            readonly default?: boolean
          }
        | {
            readonly type: "array"
            readonly title?: string
            readonly description?: string
            readonly minItems?: number
            readonly maxItems?: number
            readonly items: {
              readonly type?: "string"
              readonly enum?: ReadonlyArray<string>
              readonly anyOf?: ReadonlyArray<{ readonly const: string; readonly title: string }>
            }
            readonly default?: ReadonlyArray<string>
          }
      >
    >
    readonly required?: ReadonlyArray<string>
  }
}

/** Result of `svc.mcp.elicit`. */
export interface McpElicited {
  readonly action: "accept" | "decline" | "cancel"
  readonly content?: Readonly<Record<string, string | number | boolean | ReadonlyArray<string>>>
}

/** Methods of `svc` that make host calls. `Events` are the events that the project publishes. */
export interface SvcOperations<Events extends Catalogue = AnyEvents> {
  readonly context: {
    /** Returns a secret of the project, or null. */
    get(key: string): Promise<string | null>
    /** Returns all secrets of the project, by key. */
    all(): Promise<Readonly<Record<string, string>>>
  }
  readonly events: {
    /** Publishes an event, which is stored when the promise resolves. */
    publish(event: NewEvent<Events>): Promise<Published>
  }
  /**
   * Runs a function in the background. The call is stored when the promise resolves. The type of the function checks its
   * arguments: `svc.call<typeof charge>("billing/charge", [order])`.
   */
  call<F extends AnyFunction = AnyFunction>(
    fn: string,
    args?: ArgsOf<F>
  ): Promise<{ readonly event_id: string; readonly stream_id: string }>
  readonly schedules: {
    /** Creates a schedule of a function. */
    create(schedule: NewSchedule): Promise<{ readonly schedule_id: string }>
    /** Cancels one schedule, or all that were created for a function. */
    cancel(schedule: { readonly id: string } | { readonly fn: string }): Promise<void>
  }
  readonly stream: {
    /** Sends a message of at most 64 KiB JSON to the current subscribers of the run's stream. It is not stored. */
    emit(data_type: string, payload?: unknown): Promise<void>
  }
  readonly mcp: {
    /** Sends a log message of at most 16 KiB JSON to the MCP client that waits for the run. Without one it has no effect. */
    log(message: McpLogMessage): Promise<void>
    /** Reports progress to the MCP client that waits for the run, if it wants progress. */
    progress(progress: McpProgress): Promise<void>
    /** Asks the model of the MCP client that waits for the run. Rejects with `NotSupported` or `ClientRefused`. */
    sample(request: McpSampleRequest): Promise<McpSample>
    /** Asks the user of the MCP client that waits for the run. Accepted content matches the form. Rejects with `NotSupported` or `ClientRefused`. */
    elicit(request: McpElicitRequest): Promise<McpElicited>
    /** Notifies the MCP clients that subscribed to the resource. Any run may call it. */
    updated(uri: string): Promise<void>
  }
}
