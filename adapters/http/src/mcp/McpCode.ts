/**
 * The tool `run_code`: a model writes code against the other tools of the service, instead of one message per call.
 *
 * The code runs as an evaluation with exactly the rights of the caller. Each call of a tool is a run of its own.
 */
import { type CallToolResult, ErrorCode, McpError, type Tool as McpTool } from "@modelcontextprotocol/sdk/types.js"
import { Caller } from "@weft/core"
import { type HostCall, type HostCallRefused, type LogEntry, toJsonText } from "@weft/core/adapter"
import { allows, hostCallRefused, type ModelClient, type RunEnd, type ToolService } from "@weft/core/internal"
import { Effect } from "effect"
import type { McpHost } from "./McpExchange.ts"
import type { Run } from "./McpRuns.ts"
import { declareTools } from "./ToolDeclarations.ts"

export const codeToolName = "run_code"

/** Begin of the names with which the code calls tools. */
const prefix = "host.tools."

/** Binds the variable of the declarations. It is on the first line, so that errors name the lines of the model. */
const binding = "const tools = svc.host.tools; "

/** Seconds that code may take. */
const timeout = 60

/** True if the service has the tool for this caller. A tool of the tenant with the same name has precedence. */
export const offersCode = ({ evaluations }: McpHost, { caller, tools }: ToolService): boolean =>
  evaluations !== null && !tools.has(codeToolName) && allows(caller.permissions, "eval", "*", "execute")

export const describeCodeTool = ({ tools }: ToolService): McpTool => ({
  name: codeToolName,
  title: "Run code",
  description: [
    "Runs TypeScript and returns its result and its log. Use it to combine several tools, to repeat calls, or to filter long results.",
    "The code is the body of an async function: `return` the result as JSON. `console.log` writes to the log. There are no imports.",
    declareTools([...tools.values()].map(({ tool }) => tool))
  ].join("\n\n"),
  inputSchema: {
    type: "object",
    properties: { code: { type: "string", description: "Body of an async function in TypeScript" } },
    required: ["code"],
    additionalProperties: false
  }
})

export const callCode = async (
  host: McpHost,
  service: ToolService,
  run: Run,
  args: Record<string, unknown>,
  client: ModelClient
): Promise<CallToolResult> => {
  const { code } = args
  const { evaluations } = host
  if (typeof code !== "string" || evaluations === null)
    throw new McpError(ErrorCode.InvalidParams, "The argument `code` must be a string")
  const gate = (call: HostCall) => (call.op.startsWith(prefix) ? useTool(host, service, call, client) : call)
  const evaluated = evaluations
    .evaluate({ source: binding + code, timeout }, { gate })
    .pipe(Effect.provideService(Caller, service.caller))
  return toCodeResult(await run(evaluated))
}

const refused = (name: string, message: string): Effect.Effect<never, HostCallRefused> =>
  Effect.fail(hostCallRefused(name, message))

/** Calls a tool for the code, with checked arguments. */
const useTool = Effect.fnUntraced(function* (
  { tools, validator }: McpHost,
  service: ToolService,
  { op, payload }: HostCall,
  client: ModelClient
) {
  const name = op.slice(prefix.length)
  const deployed = service.tools.get(name)
  if (deployed === undefined)
    return yield* refused("NotFound", `There is no tool ${JSON.stringify(name.slice(0, 128))}`)
  const text = payload === "" ? "{}" : payload
  const fault = yield* validator.validate(deployed, text)
  if (fault !== null) return yield* refused("TypeError", `The arguments of ${name} are not valid: ${fault}`)
  // Serialized again, because the text becomes a part of other JSON text.
  const args = toJsonText(JSON.parse(text))
  const answer = yield* Effect.catch(tools.call(service, deployed, args, client), (error) =>
    refused(error._tag, error.message)
  )
  return answer._tag === "Returned" ? answer.output : yield* refused(answer.name, answer.message)
})

const toCodeResult = ({ run, logs }: RunEnd): CallToolResult => {
  // The first entry is that of the request.
  const lines = logs.slice(1).map(formatLine)
  const log = lines.length === 0 ? [] : [{ type: "text" as const, text: `Log:\n${lines.join("\n")}` }]
  const result = run.result ?? "null"
  return run.status === "succeeded"
    ? {
        content: [{ type: "text", text: result }, ...log],
        structuredContent: { result: JSON.parse(result), log: lines }
      }
    : { isError: true, content: [{ type: "text", text: result }, ...log] }
}

const formatLine = ({ level, message, data }: LogEntry): string =>
  `${level}: ${message}${data === null ? "" : ` ${data}`}`
