/**
 * Session ids of MCP clients. The id contains the capabilities that the client declared, because messages may reach any
 * node and a node keeps nothing of `initialize`. Clients only describe themselves, so the id needs no signature.
 */
import type { McpRequest, SessionRef } from "@weft/core/internal"

export interface McpSession extends SessionRef {
  /** Methods of the requests that the client supports. */
  readonly supports: ReadonlySet<McpRequest["method"]>
}

const methods = { s: "sampling/createMessage", e: "elicitation/create" } as const

/** Maximum characters of a session id. */
const idLengthMax = 128

/** Returns the id of a new session. `body` is the message `initialize`, which is untrusted. */
export const newSessionId = (unique: string, body: unknown): string => {
  const capabilities = fieldOf(fieldOf(body, "params"), "capabilities")
  const elicitation = fieldOf(capabilities, "elicitation")
  // Clients of before 2025-11-25 declare no modes and support forms.
  const hasForms = isObject(elicitation) && (Object.keys(elicitation).length === 0 || "form" in elicitation)
  return `${unique}.${isObject(fieldOf(capabilities, "sampling")) ? "s" : ""}${hasForms ? "e" : ""}`
}

/** Returns the session of the header `mcp-session-id`, or null for an id that is too long. */
export const readSession = (id: string, { env_id, key }: SessionRef): McpSession | null => {
  if (id.length > idLengthMax) return null
  const [, flags = ""] = id.split(".")
  const supports = new Set([...(flags.includes("s") ? [methods.s] : []), ...(flags.includes("e") ? [methods.e] : [])])
  return { env_id, key: `${key} ${id}`, supports }
}

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const fieldOf = (value: unknown, name: string): unknown =>
  isObject(value) && Object.hasOwn(value, name) ? Object.entries(value).find(([key]) => key === name)?.[1] : undefined
