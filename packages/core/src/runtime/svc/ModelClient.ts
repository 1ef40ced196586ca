/** The MCP client that waits for a run, as the calls of the run's code reach it. A transport implements it. */
import { type Effect, Schema } from "effect"

/** Severities of RFC 5424, ascending. */
export const mcpLogLevels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const
export type McpLogLevel = (typeof mcpLogLevels)[number]

export interface McpLogMessage {
  readonly level: McpLogLevel
  readonly data: Schema.Json
  readonly logger?: string
}

export interface McpProgress {
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

export type McpRequest =
  | { readonly method: "sampling/createMessage"; readonly params: Schema.JsonObject }
  | { readonly method: "elicitation/create"; readonly params: Schema.JsonObject }

export interface ModelClient {
  /** Methods of the requests that the client supports. */
  readonly supports: ReadonlySet<McpRequest["method"]>
  /** Sends a log message, unless the client is slow or has chosen a higher level. */
  readonly log: (message: McpLogMessage) => void
  /** Sends the progress of the call, if the client wants it and is not slow. */
  readonly progress: (progress: McpProgress) => void
  /** Sends a request and yields the client's answer, which is untrusted. */
  readonly request: (request: McpRequest) => Effect.Effect<unknown, ClientRefused>
}

/** The client answered with an error, or with a value that is not valid. */
export class ClientRefused extends Schema.TaggedError<ClientRefused>()("ClientRefused", { message: Schema.String }) {}

/** The run has no MCP client, or one that does not support the request. */
export class NotSupported extends Schema.TaggedError<NotSupported>()("NotSupported", { message: Schema.String }) {}
