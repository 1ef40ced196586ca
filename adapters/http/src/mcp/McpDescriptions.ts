/** Entries of a service as clients list them. */
import type {
  Prompt as McpPrompt,
  Resource as McpResource,
  ResourceTemplate as McpResourceTemplate,
  Tool as McpTool
} from "@modelcontextprotocol/sdk/types.js"
import type { Prompt, Resource, Tool } from "@weft/core/adapter"
import { readVariables } from "@weft/core/internal"
import { isObject } from "./McpResults.ts"

export const isTemplate = ({ uri }: Resource): boolean => (readVariables(uri) ?? []).length > 0

export const describeTool = ({ name, title, description, input, output, annotations }: Tool): McpTool => ({
  name,
  ...(title === undefined ? {} : { title }),
  description,
  inputSchema: toObjectSchema(input),
  ...(output === undefined ? {} : { outputSchema: toObjectSchema(output) }),
  ...(annotations === undefined ? {} : { annotations })
})

/** The protocol requires `type: "object"`, which the schema of a tool may omit. */
const toObjectSchema = (schema: unknown): McpTool["inputSchema"] => ({
  ...(isObject(schema) ? schema : {}),
  type: "object"
})

const describe = ({ name, title, description, mime_type }: Resource) => ({
  name,
  ...(title === undefined ? {} : { title }),
  ...(description === "" ? {} : { description }),
  ...(mime_type === undefined ? {} : { mimeType: mime_type })
})

export const describeResource = (resource: Resource): McpResource => ({ uri: resource.uri, ...describe(resource) })

export const describeTemplate = (resource: Resource): McpResourceTemplate => ({
  uriTemplate: resource.uri,
  ...describe(resource)
})

export const describePrompt = ({ name, title, description, arguments: args }: Prompt): McpPrompt => ({
  name,
  ...(title === undefined ? {} : { title }),
  ...(description === "" ? {} : { description }),
  arguments: args.map(({ complete, ...argument }) => argument)
})
