/** Messages of clients. The SDK's schemas read them. */
import {
  CancelledNotificationSchema,
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  JSONRPCMessageSchema,
  type JSONRPCRequest,
  SUPPORTED_PROTOCOL_VERSIONS
} from "@modelcontextprotocol/sdk/types.js"
import { JsonText } from "@weft/core/adapter"

export type ClientMessage =
  | { readonly _tag: "Request"; readonly message: JSONRPCRequest }
  /** The answer to a request of a run. */
  | { readonly _tag: "Answer"; readonly id: string; readonly text: JsonText }
  /** The cancellation of an earlier request, whose id is JSON text. */
  | { readonly _tag: "Cancelled"; readonly id: string }
  /** A notification without effect. */
  | { readonly _tag: "Notification" }
  | { readonly _tag: "Invalid"; readonly reason: string }

/** Reads a message. `version` is the header `mcp-protocol-version`. */
export const parseMessage = (body: unknown, version: string | undefined): ClientMessage => {
  if (version !== undefined && !SUPPORTED_PROTOCOL_VERSIONS.includes(version)) {
    return invalid(`The header mcp-protocol-version must be one of ${SUPPORTED_PROTOCOL_VERSIONS.join(", ")}`)
  }
  const parsed = JSONRPCMessageSchema.safeParse(body)
  if (!parsed.success) return invalid("The body must be a JSON-RPC 2.0 message")
  const message = parsed.data
  if (isJSONRPCRequest(message)) return { _tag: "Request", message }
  if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) {
    const text = JsonText.make(JSON.stringify(message), { disableChecks: true })
    return { _tag: "Answer", id: String(message.id), text }
  }
  const cancelled = CancelledNotificationSchema.safeParse(message)
  return cancelled.success
    ? { _tag: "Cancelled", id: JSON.stringify(cancelled.data.params.requestId ?? null) }
    : { _tag: "Notification" }
}

const invalid = (reason: string): ClientMessage => ({ _tag: "Invalid", reason })
