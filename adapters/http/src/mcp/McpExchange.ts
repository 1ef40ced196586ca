/**
 * One message of a client and its response, by the MCP SDK's server. No state is kept between messages, so every node
 * can handle every message.
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
import type { StoreUnavailable } from "@weft/core"
import type { SandboxUnavailable, Tool } from "@weft/core/adapter"
import type { ToolAnswer, ToolService, Tools } from "@weft/core/internal"
import { Cause, type Context, Effect, Exit } from "effect"
import { isOutage, toFailure } from "../responses/Failure.ts"
import type { ActiveToolCalls } from "./ActiveToolCalls.ts"
import type { ArgumentValidator } from "./ArgumentValidator.ts"

export interface McpHost {
  readonly tools: Tools["Service"]
  readonly validator: ArgumentValidator
  readonly activeCalls: ActiveToolCalls
  readonly version: string
  readonly context: Context.Context<never>
}

/** A validator that is cheap to construct. The server requires one but never uses it. */
const jsonSchemaValidator = new CfWorkerJsonSchemaValidator()

type Outage = StoreUnavailable | SandboxUnavailable

/**
 * Handles a POST whose body was read. `client` identifies the client, or is null. An outage fails the effect, so that it
 * gets the same response as on other routes.
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
      const encountered: { outage: Outage | null } = { outage: null }
      const onOutage = (outage: Outage): void => {
        encountered.outage = outage
      }
      const server = yield* Effect.acquireRelease(
        Effect.sync(() => makeServer(host, service, client, onOutage)),
        // Aborts calls whose client disconnected.
        (opened) => Effect.promise(() => opened.close())
      )
      const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
      yield* Effect.promise(() => server.connect(transport))
      const response = yield* Effect.promise(() => transport.handleRequest(request, { parsedBody }))
      const body = yield* Effect.promise(() => response.text())
      if (encountered.outage !== null) return yield* encountered.outage
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
    host.activeCalls.run(client, requestId, (cancelled) =>
      callTool(host, service, params.name, params.arguments ?? {}, AbortSignal.any([signal, cancelled]), onOutage)
    )
  )
  server.setNotificationHandler(CancelledNotificationSchema, ({ params }) =>
    host.activeCalls.cancel(client, params.requestId)
  )
  return server
}

const describe = ({ name, description, input }: Tool): McpTool => ({
  name,
  description,
  // The protocol requires `type: "object"`, which the schema of a tool may omit.
  inputSchema: {
    ...(typeof input === "object" && input !== null && !Array.isArray(input) ? input : {}),
    type: "object"
  }
})

const callTool = async (
  { tools, validator, context }: McpHost,
  service: ToolService,
  name: string,
  args: Record<string, unknown>,
  signal: AbortSignal,
  onOutage: (outage: Outage) => void
): Promise<CallToolResult> => {
  const deployed = service.tools.get(name)
  if (deployed === undefined) throw new McpError(ErrorCode.InvalidParams, `There is no tool ${JSON.stringify(name)}`)
  // The arguments are serialized and parsed again, so that they contain plain JSON values only.
  const text = JSON.stringify(args)
  const work = Effect.flatMap(validator.validate(deployed, text), (fault) =>
    fault === null
      ? Effect.map(tools.call(service, deployed, JSON.parse(text)), toResult)
      : Effect.succeed(failed(`The arguments are not valid: ${fault}`))
  )
  const exit = await Effect.runPromiseExitWith(context)(work, { signal })
  if (Exit.isSuccess(exit)) return exit.value
  const error = Cause.findErrorOption(exit.cause)
  if (error._tag === "Some" && isOutage(error.value)) onOutage(error.value)
  const failure = error._tag === "Some" ? toFailure(error.value) : null
  if (failure === null && !Cause.hasInterruptsOnly(exit.cause)) {
    await Effect.runPromiseWith(context)(Effect.logError("a tool call failed", exit.cause))
  }
  throw new McpError(ErrorCode.InternalError, failure?.message ?? "The call could not be completed")
}

const toResult = (answer: ToolAnswer): CallToolResult => {
  if (answer._tag === "Failed") return failed(`${answer.name}: ${answer.message}`)
  const value: unknown = JSON.parse(answer.output)
  const content: CallToolResult["content"] = [{ type: "text", text: answer.output }]
  return isObject(value) ? { content, structuredContent: value } : { content }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const failed = (text: string): CallToolResult => ({ isError: true, content: [{ type: "text", text }] })
