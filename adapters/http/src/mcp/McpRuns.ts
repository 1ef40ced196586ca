/** Handlers of messages that run functions. They throw the protocol's errors. */
import {
  type CallToolResult,
  type CompleteRequest,
  type CompleteResult,
  ErrorCode,
  type GetPromptResult,
  McpError,
  type ReadResourceResult
} from "@modelcontextprotocol/sdk/types.js"
import type { BadRequest, ContentDamaged, Forbidden } from "@weft/core"
import { type Build, JsonText } from "@weft/core/adapter"
import {
  type Completion,
  type DeployedResource,
  type DeployedTool,
  type ModelClient,
  matchUri,
  type ToolService,
  type Tools
} from "@weft/core/internal"
import { Cause, Effect, Exit } from "effect"
import { isOutage, toFailure } from "../responses/Failure.ts"
import type { HandlerExtra, McpCall, McpHost, Outage } from "./McpExchange.ts"
import { failedCall, resourceNotFound, toPromptResult, toResourceResult, toToolResult, toValues } from "./McpResults.ts"
import { takeMcpTurn } from "./McpTurn.ts"

type RunFailure = Effect.Error<ReturnType<Tools["Service"]["call"]>> | BadRequest | Forbidden | ContentDamaged

/** Runs an effect for a message, until the client cancels it or disconnects. */
export type Run = <A>(effect: Effect.Effect<A, RunFailure>) => Promise<A>

export const makeRunner =
  ({ sessions, context }: McpHost, { session }: McpCall, onOutage: (outage: Outage) => void) =>
  ({ signal, requestId }: HandlerExtra): Run =>
  async (effect) => {
    const cancelled = new AbortController()
    const stop =
      session === null
        ? () => undefined
        : sessions.onCancelled(session, JSON.stringify(requestId), () => cancelled.abort())
    const exit = await Effect.runPromiseExitWith(context)(effect, {
      signal: AbortSignal.any([signal, cancelled.signal])
    })
    stop()
    if (Exit.isSuccess(exit)) return exit.value
    const error = Cause.findErrorOption(exit.cause)
    if (error._tag === "Some" && isOutage(error.value)) onOutage(error.value)
    const failure = error._tag === "Some" ? toFailure(error.value) : null
    if (failure === null && !Cause.hasInterruptsOnly(exit.cause)) {
      await Effect.runPromiseWith(context)(Effect.logError("a tool call failed", exit.cause))
    }
    const code = failure?.code === "bad_request" ? ErrorCode.InvalidParams : ErrorCode.InternalError
    throw new McpError(code, failure?.message ?? "The call could not be completed")
  }

export const callTool = async (
  { tools, validator }: McpHost,
  service: ToolService,
  run: Run,
  name: string,
  args: Record<string, unknown>,
  client: ModelClient
): Promise<CallToolResult> => {
  const deployed = service.tools.get(name)
  if (deployed === undefined) throw new McpError(ErrorCode.InvalidParams, `There is no tool ${JSON.stringify(name)}`)
  return run(
    Effect.gen(function* () {
      yield* takeMcpTurn(service.caller.env_id)
      const text = JsonText.make(JSON.stringify(args), { disableChecks: true })
      const fault = yield* validator.validate(deployed, text)
      if (fault !== null) return failedCall(`The arguments are not valid: ${fault}`)
      const result = toToolResult(yield* tools.call(service, deployed, text, client))
      return yield* checkOutput(validator, deployed, result)
    })
  )
}

/** Replaces a result that does not match the tool's output schema. */
const checkOutput = (
  validator: McpHost["validator"],
  deployed: DeployedTool,
  result: CallToolResult
): Effect.Effect<CallToolResult> => {
  if (deployed.tool.output === undefined || result.isError === true) return Effect.succeed(result)
  const { structuredContent } = result
  if (structuredContent === undefined) {
    return Effect.succeed(failedCall("The result is not valid: a tool with `output` must return an object"))
  }
  return Effect.map(validator.validateOutput(deployed, JSON.stringify(structuredContent)), (fault) =>
    fault === null ? result : failedCall(`The result is not valid: ${fault}`)
  )
}

interface FoundResource {
  readonly deployed: DeployedResource
  readonly params: Readonly<Record<string, string>>
}

/** Maximum characters of a URI. */
const uriLengthMax = 1024

/** Returns the resource with this URI, or the first whose template matches it. */
export const findResource = (service: ToolService, uri: string): FoundResource => {
  const exact = service.resources.get(uri)
  if (exact !== undefined) return { deployed: exact, params: {} }
  if (uri.length <= uriLengthMax) {
    for (const deployed of service.resources.values()) {
      const params = matchUri(deployed.resource.uri, uri)
      if (params !== null) return { deployed, params }
    }
  }
  throw new McpError(resourceNotFound, "Resource not found", { uri: uri.slice(0, uriLengthMax) })
}

export const readResource = async (
  { tools }: McpHost,
  service: ToolService,
  run: Run,
  uri: string,
  client: ModelClient
): Promise<ReadResourceResult> => {
  const { deployed, params } = findResource(service, uri)
  return toResourceResult(await run(tools.read(service, deployed, uri, params, client)), deployed.resource, uri)
}

export const getPrompt = async (
  { tools }: McpHost,
  service: ToolService,
  run: Run,
  name: string,
  given: Readonly<Record<string, string>>,
  client: ModelClient
): Promise<GetPromptResult> => {
  const deployed = findPrompt(service, name)
  const declared = deployed.prompt.arguments
  const missing = declared.find((argument) => argument.required && !Object.hasOwn(given, argument.name))
  if (missing !== undefined) {
    throw new McpError(ErrorCode.InvalidParams, `The prompt needs the argument ${JSON.stringify(missing.name)}`)
  }
  const args = Object.fromEntries(
    Object.entries(given).filter(([key]) => declared.some((argument) => argument.name === key))
  )
  return toPromptResult(await run(tools.prompt(service, deployed, args, client)), deployed.prompt)
}

const findPrompt = (service: ToolService, name: string) => {
  const deployed = service.prompts.get(name)
  if (deployed === undefined) throw new McpError(ErrorCode.InvalidParams, `There is no prompt ${JSON.stringify(name)}`)
  return deployed
}

/** Maximum values of a completion, by the protocol. */
const valuesMax = 100

export const complete = async (
  { tools }: McpHost,
  service: ToolService,
  run: Run,
  { ref, argument, context }: CompleteRequest["params"]
): Promise<CompleteResult> => {
  const found = findCompletion(service, ref, argument.name)
  if (found === null) return toCompletion([])
  const { build, completion } = found
  const values =
    typeof completion === "string"
      ? toValues(
          await run(
            tools.complete(service, build, completion, { value: argument.value, others: context?.arguments ?? {} })
          )
        )
      : completion.filter((value) => value.toLowerCase().startsWith(argument.value.toLowerCase()))
  return toCompletion(values)
}

const toCompletion = (values: ReadonlyArray<string>): CompleteResult => ({
  completion: { values: values.slice(0, valuesMax), total: values.length, hasMore: values.length > valuesMax }
})

/** Returns the completion of an argument of a prompt, or of a variable of a template; null if it has none. */
const findCompletion = (
  service: ToolService,
  ref: CompleteRequest["params"]["ref"],
  name: string
): { readonly build: Build; readonly completion: Completion } | null => {
  if (ref.type === "ref/prompt") {
    const { build, prompt } = findPrompt(service, ref.name)
    const completion = prompt.arguments.find((argument) => argument.name === name)?.complete
    return completion === undefined ? null : { build, completion }
  }
  const deployed = service.resources.get(ref.uri)
  if (deployed === undefined) throw new McpError(ErrorCode.InvalidParams, "There is no such resource template")
  const { build, resource } = deployed
  const completion = Object.hasOwn(resource.complete, name) ? resource.complete[name] : undefined
  return completion === undefined ? null : { build, completion }
}
