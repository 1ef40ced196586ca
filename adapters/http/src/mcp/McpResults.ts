/** Results of functions as results of the protocol. The values come from tenants' code, so the SDK's schemas check them. */
import {
  type CallToolResult,
  CallToolResultSchema,
  ErrorCode,
  type GetPromptResult,
  GetPromptResultSchema,
  McpError,
  type ReadResourceResult,
  ReadResourceResultSchema
} from "@modelcontextprotocol/sdk/types.js"
import type { Prompt, Resource } from "@weft/core/adapter"
import type { ToolAnswer } from "@weft/core/internal"

/** Code of the protocol for a resource that does not exist. */
export const resourceNotFound = -32002

type Answer = ToolAnswer

/**
 * Returns the result of a tool call. An object whose only keys are those of `CallToolResult`, with a list `content`, is
 * the result itself. Any other value is returned as JSON text, and an object also as `structuredContent`.
 */
export const toToolResult = (answer: Answer): CallToolResult => {
  if (answer._tag === "Failed") return failedCall(`${answer.name}: ${answer.message}`)
  const value: unknown = JSON.parse(answer.output)
  if (isResultShaped(value)) {
    const parsed = CallToolResultSchema.safeParse(value)
    return parsed.success
      ? parsed.data
      : failedCall(`The function returned an invalid result: ${firstFault(parsed.error)}`)
  }
  const content: CallToolResult["content"] = [{ type: "text", text: answer.output }]
  return isObject(value) ? { content, structuredContent: value } : { content }
}

export const failedCall = (text: string): CallToolResult => ({ isError: true, content: [{ type: "text", text }] })

const resultKeys = ["content", "structuredContent", "isError", "_meta"]

const isResultShaped = (value: unknown): boolean =>
  isObject(value) &&
  Array.isArray(value.content) &&
  value.content.every((block) => isObject(block) && typeof block.type === "string") &&
  Object.keys(value).every((key) => resultKeys.includes(key))

/**
 * Returns the contents of a resource: text, `{ text }`, `{ blob }` in base64, or `{ contents }`. Any other value is JSON.
 * Null means that there is no such resource.
 */
export const toResourceResult = (answer: Answer, { mime_type }: Resource, uri: string): ReadResourceResult => {
  const value = valueOf(answer)
  if (value === null || value === undefined) throw new McpError(resourceNotFound, "Resource not found", { uri })
  const type = mime_type === undefined ? {} : { mimeType: mime_type }
  const parsed = ReadResourceResultSchema.safeParse(
    typeof value === "string"
      ? { contents: [{ uri, mimeType: "text/plain", ...type, text: value }] }
      : isObject(value) && Array.isArray(value.contents)
        ? value
        : isObject(value) && ("text" in value || "blob" in value)
          ? { contents: [{ uri, ...type, ...value }] }
          : { contents: [{ uri, mimeType: "application/json", ...type, text: JSON.stringify(value) }] }
  )
  return parsed.success ? parsed.data : reject(`The function returned invalid contents: ${firstFault(parsed.error)}`)
}

/** Returns a prompt: text of the user, a list of messages, or `{ messages }`. */
export const toPromptResult = (answer: Answer, { description }: Prompt): GetPromptResult => {
  const value = valueOf(answer)
  const messages = typeof value === "string" ? [{ role: "user", content: { type: "text", text: value } }] : value
  const described = description === "" ? {} : { description }
  const parsed = GetPromptResultSchema.safeParse(
    isObject(messages) ? { ...described, ...messages } : { ...described, messages }
  )
  return parsed.success ? parsed.data : reject(`The function returned an invalid prompt: ${firstFault(parsed.error)}`)
}

/** Returns the values that a function suggests. */
export const toValues = (answer: Answer): ReadonlyArray<string> => {
  const value = valueOf(answer)
  return Array.isArray(value) && value.every((each) => typeof each === "string")
    ? value
    : reject("The function must return an array of strings")
}

const valueOf = (answer: Answer): unknown =>
  answer._tag === "Failed" ? reject(`${answer.name}: ${answer.message}`) : JSON.parse(answer.output)

const reject = (message: string): never => {
  throw new McpError(ErrorCode.InternalError, message)
}

const firstFault = ({
  issues
}: {
  readonly issues: ReadonlyArray<{ readonly path: ReadonlyArray<PropertyKey>; readonly message: string }>
}) => {
  const [issue] = issues
  return issue === undefined ? "" : `${issue.path.map(String).join(".") || "it"}: ${issue.message}`
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
