/**
 * One message of a client and its responses, by the MCP SDK's server. Only the run of the message is kept between
 * messages, so every node can handle every message.
 */
import type { RequestHandlerExtra } from "@modelcontextprotocol/sdk/shared/protocol.js"
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  type JSONRPCMessage,
  ResultSchema,
  type ServerNotification,
  type ServerRequest
} from "@modelcontextprotocol/sdk/types.js"
import type { Evaluations, StoreUnavailable } from "@weft/core"
import type { SandboxUnavailable } from "@weft/core/adapter"
import {
  ClientRefused,
  type McpSessions,
  type ModelClient,
  mcpLogLevels,
  type ToolService,
  type Tools
} from "@weft/core/internal"
import { type Context, Effect, type Scope } from "effect"
import type { ArgumentValidator } from "./ArgumentValidator.ts"
import { makeServer } from "./McpServer.ts"
import type { McpSession } from "./McpSession.ts"
import { MessageTransport } from "./MessageTransport.ts"

export interface McpHost {
  readonly tools: Tools["Service"]
  readonly sessions: McpSessions["Service"]
  readonly validator: ArgumentValidator
  readonly version: string
  /** Runs the code of `run_code`; null if the host does not offer the tool. */
  readonly evaluations: Evaluations["Service"] | null
  readonly context: Context.Context<never>
}

export type Outage = StoreUnavailable | SandboxUnavailable

/** One request of a client. */
export interface McpCall {
  readonly service: ToolService
  readonly session: McpSession | null
  /** Unique in the cluster. */
  readonly requestId: string
}

export type HandlerExtra = RequestHandlerExtra<ServerRequest, ServerNotification>

/** The messages of the server to the client that result from one of the client. */
export interface Exchange {
  /** Yields the next message, or null after the last one. An outage before the response fails the effect. */
  readonly next: Effect.Effect<JSONRPCMessage | null, Outage>
}

/** Maximum time that a run waits for an answer of its client, in milliseconds. The timeout of its function is shorter. */
const answerMs = 3_600_000

/** Starts the exchange. The end of the scope cancels its run. */
export const openExchange = (
  host: McpHost,
  call: McpCall,
  message: JSONRPCMessage
): Effect.Effect<Exchange, never, Scope.Scope> =>
  Effect.gen(function* () {
    const encountered: { outage: Outage | null } = { outage: null }
    const transport = new MessageTransport(host.sessions, call.session, call.requestId)
    const server = makeServer(host, call, (outage) => {
      encountered.outage = outage
    })
    yield* Effect.acquireRelease(
      Effect.promise(() => server.connect(transport)),
      () => Effect.promise(() => server.close())
    )
    transport.onmessage?.(message)
    const next: Exchange["next"] = Effect.suspend(() => {
      const taken = transport.take()
      if (taken !== undefined) {
        return encountered.outage !== null && "error" in taken ? encountered.outage : Effect.succeed(taken)
      }
      if (transport.isDone) return Effect.succeed(null)
      return Effect.andThen(
        Effect.callback<void>((resume) => transport.onceReady(() => resume(Effect.void))),
        next
      )
    })
    return { next }
  })

/** Returns the client as runs see it. */
export const makeModelClient = (
  { sessions, context }: McpHost,
  session: McpSession | null,
  extra: HandlerExtra
): ModelClient => {
  const send = (notification: ServerNotification): void => {
    // It fails only if the exchange has ended.
    extra.sendNotification(notification).catch(() => undefined)
  }
  const token = extra._meta?.progressToken
  const isWanted = (level: (typeof mcpLogLevels)[number]): boolean =>
    session === null || mcpLogLevels.indexOf(level) >= mcpLogLevels.indexOf(sessions.level(session))
  return {
    supports: session?.supports ?? new Set(),
    log: (params) => {
      if (isWanted(params.level)) send({ method: "notifications/message", params })
    },
    progress: (progress) => {
      if (token !== undefined) {
        send({ method: "notifications/progress", params: { ...progress, progressToken: token } })
      }
    },
    request: (request) =>
      Effect.tryPromise({
        try: (signal) =>
          extra.sendRequest(
            request.method === "sampling/createMessage"
              ? CreateMessageRequestSchema.parse(request)
              : ElicitRequestSchema.parse(request),
            ResultSchema,
            { signal, timeout: answerMs }
          ),
        catch: (error) =>
          new ClientRefused({ message: error instanceof Error ? error.message.slice(0, 1000) : "The client failed" })
      }).pipe(Effect.provideContext(context))
  }
}
