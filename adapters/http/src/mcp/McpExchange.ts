/**
 * One message of a client and what it is answered, by the SDK's server. Nothing is kept between messages, so any node
 * answers any of them.
 */
import { Server } from "@modelcontextprotocol/sdk/server/index.js"
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js"
import {
  CallToolRequestSchema,
  type CallToolResult,
  CancelledNotificationSchema,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  type Tool as McpTool
} from "@modelcontextprotocol/sdk/types.js"
import { CfWorkerJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/cfworker-provider.js"
import type { SandboxUnavailable, StoreUnavailable, Tool, ToolAnswer, ToolService, Tools } from "@weft/core"
import { Cause, type Context, Effect, Exit } from "effect"
import { failureOf, isOutage } from "../answers/Failure.ts"
import type { RunningCalls } from "./RunningCalls.ts"
import type { SchemaChecks } from "./SchemaChecks.ts"

export interface McpHost {
  readonly tools: Tools["Service"]
  readonly checks: SchemaChecks
  readonly running: RunningCalls
  readonly version: string
  readonly context: Context.Context<never>
}

/** Only what clients ask to have checked would be, and nothing asks: a validator that costs nothing to make. */
const jsonSchemaValidator = new CfWorkerJsonSchemaValidator()

type Outage = StoreUnavailable | SandboxUnavailable

/**
 * Answers a POST whose body was read. `client` tells clients apart, where it is known. An outage is not the protocol's
 * to tell of: it is answered as everywhere.
 */
export const answerMessage = (
  host: McpHost,
  service: ToolService,
  client: string | null,
  request: Request,
  parsedBody: unknown
): Effect.Effect<Response, Outage> =>
  Effect.scoped(
    Effect.gen(function* () {
      const met: { outage: Outage | null } = { outage: null }
      const noteOutage = (outage: Outage): void => {
        met.outage = outage
      }
      const server = yield* Effect.acquireRelease(
        Effect.sync(() => makeServer(host, service, client, noteOutage)),
        // Ends what the client no longer waits for.
        (opened) => Effect.promise(() => opened.close())
      )
      const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
      yield* Effect.promise(() => server.connect(transport))
      const response = yield* Effect.promise(() => transport.handleRequest(request, { parsedBody }))
      const body = yield* Effect.promise(() => response.text())
      if (met.outage !== null) return yield* met.outage
      return new Response(body === "" ? null : body, response)
    })
  )

const makeServer = (
  host: McpHost,
  service: ToolService,
  client: string | null,
  onOutage: (outage: Outage) => void
): Server => {
  const server = new Server(
    { name: service.service, version: host.version },
    { capabilities: { tools: {} }, jsonSchemaValidator }
  )
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [...service.tools.values()].map(({ tool }) => describe(tool))
  }))
  server.setRequestHandler(CallToolRequestSchema, ({ params }, { signal, requestId }) =>
    host.running.during(client, requestId, (cancelled) =>
      callTool(host, service, params.name, params.arguments ?? {}, AbortSignal.any([signal, cancelled]), onOutage)
    )
  )
  server.setNotificationHandler(CancelledNotificationSchema, ({ params }) =>
    host.running.cancel(client, params.requestId)
  )
  return server
}

const describe = ({ name, description, input }: Tool): McpTool => ({
  name,
  description,
  // The protocol wants an object's schema; one that leaves the type open is closed by it.
  inputSchema: {
    ...(typeof input === "object" && input !== null && !Array.isArray(input) ? input : {}),
    type: "object"
  }
})

const callTool = async (
  { tools, checks, context }: McpHost,
  service: ToolService,
  name: string,
  args: Record<string, unknown>,
  signal: AbortSignal,
  onOutage: (outage: Outage) => void
): Promise<CallToolResult> => {
  const offered = service.tools.get(name)
  if (offered === undefined) throw new McpError(ErrorCode.InvalidParams, `There is no tool ${JSON.stringify(name)}`)
  // Came as JSON, and is made anew from it, so that nothing but JSON gets through.
  const text = JSON.stringify(args)
  const work = Effect.flatMap(checks.check(offered, text), (fault) =>
    fault === null
      ? Effect.map(tools.call(service, offered, JSON.parse(text)), resultOf)
      : Effect.succeed(failed(`The arguments are not valid: ${fault}`))
  )
  const exit = await Effect.runPromiseExitWith(context)(work, { signal })
  if (Exit.isSuccess(exit)) return exit.value
  const error = Cause.findErrorOption(exit.cause)
  if (error._tag === "Some" && isOutage(error.value)) onOutage(error.value)
  const failure = error._tag === "Some" ? failureOf(error.value) : null
  if (failure === null && !Cause.hasInterruptsOnly(exit.cause)) {
    await Effect.runPromiseWith(context)(Effect.logError("a tool call failed", exit.cause))
  }
  throw new McpError(ErrorCode.InternalError, failure?.message ?? "The call could not be completed")
}

const resultOf = (answer: ToolAnswer): CallToolResult => {
  if (answer._tag === "Failed") return failed(`${answer.name}: ${answer.message}`)
  const value: unknown = JSON.parse(answer.output)
  const content: CallToolResult["content"] = [{ type: "text", text: answer.output }]
  return isObject(value) ? { content, structuredContent: value } : { content }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const failed = (text: string): CallToolResult => ({ isError: true, content: [{ type: "text", text }] })
