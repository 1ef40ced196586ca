/** The SDK's server for one message of a client: its handlers run the functions of the service. */
import { Server } from "@modelcontextprotocol/sdk/server/index.js"
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  SetLevelRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema
} from "@modelcontextprotocol/sdk/types.js"
import { CfWorkerJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/cfworker-provider.js"
import { callCode, codeToolName, describeCodeTool, offersCode } from "./McpCode.ts"
import { describePrompt, describeResource, describeTemplate, describeTool, isTemplate } from "./McpDescriptions.ts"
import { type HandlerExtra, type McpCall, type McpHost, makeModelClient, type Outage } from "./McpExchange.ts"
import { callTool, complete, findResource, getPrompt, makeRunner, readResource } from "./McpRuns.ts"

/** A validator that is cheap to construct. The server requires one but never uses it. */
const jsonSchemaValidator = new CfWorkerJsonSchemaValidator()

export const makeServer = (host: McpHost, call: McpCall, onOutage: (outage: Outage) => void): Server => {
  const { service, session } = call
  const [hasResources, hasPrompts] = [service.resources.size > 0, service.prompts.size > 0]
  const capabilities = {
    tools: {},
    logging: {},
    ...(hasResources ? { resources: { subscribe: true } } : {}),
    ...(hasPrompts ? { prompts: {} } : {}),
    ...(hasResources || hasPrompts ? { completions: {} } : {})
  }
  const server = new Server({ name: service.service, version: host.version }, { capabilities, jsonSchemaValidator })
  const run = makeRunner(host, call, onOutage)
  const clientOf = (extra: HandlerExtra) => makeModelClient(host, session, extra)

  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [
      ...[...service.tools.values()].map(({ tool }) => describeTool(tool)),
      ...(offersCode(host, service) ? [describeCodeTool(service)] : [])
    ]
  }))
  server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) => {
    const args = params.arguments ?? {}
    return params.name === codeToolName && offersCode(host, service)
      ? callCode(host, service, run(extra), args, clientOf(extra))
      : callTool(host, service, run(extra), params.name, args, clientOf(extra))
  })
  server.setRequestHandler(SetLevelRequestSchema, async ({ params }, extra) => {
    if (session !== null) await run(extra)(host.sessions.setLevel(session, params.level))
    return {}
  })
  if (hasResources) addResources(server, host, call, run, clientOf)
  if (hasPrompts) {
    server.setRequestHandler(ListPromptsRequestSchema, () => ({
      prompts: [...service.prompts.values()].map(({ prompt }) => describePrompt(prompt))
    }))
    server.setRequestHandler(GetPromptRequestSchema, ({ params }, extra) =>
      getPrompt(host, service, run(extra), params.name, params.arguments ?? {}, clientOf(extra))
    )
  }
  if (hasResources || hasPrompts) {
    server.setRequestHandler(CompleteRequestSchema, ({ params }, extra) => complete(host, service, run(extra), params))
  }
  return server
}

const addResources = (
  server: Server,
  host: McpHost,
  { service, session }: McpCall,
  run: ReturnType<typeof makeRunner>,
  clientOf: (extra: HandlerExtra) => ReturnType<typeof makeModelClient>
): void => {
  const resources = [...service.resources.values()].map(({ resource }) => resource)
  server.setRequestHandler(ListResourcesRequestSchema, () => ({
    resources: resources.filter((each) => !isTemplate(each)).map(describeResource)
  }))
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
    resourceTemplates: resources.filter(isTemplate).map(describeTemplate)
  }))
  server.setRequestHandler(ReadResourceRequestSchema, ({ params }, extra) =>
    readResource(host, service, run(extra), params.uri, clientOf(extra))
  )
  server.setRequestHandler(SubscribeRequestSchema, async ({ params }, extra) => {
    findResource(service, params.uri)
    if (session !== null) await run(extra)(host.sessions.subscribe(session, params.uri))
    return {}
  })
  server.setRequestHandler(UnsubscribeRequestSchema, async ({ params }, extra) => {
    if (session !== null) await run(extra)(host.sessions.unsubscribe(session, params.uri))
    return {}
  })
}
