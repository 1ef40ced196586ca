/**
 * Transport of the MCP SDK for one request of a client. Messages to the client wait in a bounded queue. The response is
 * the last one.
 */
import type { Transport, TransportSendOptions } from "@modelcontextprotocol/sdk/shared/transport.js"
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  JSONRPCResponseSchema
} from "@modelcontextprotocol/sdk/types.js"
import type { McpSessions } from "@weft/core/internal"
import type { McpSession } from "./McpSession.ts"

/** Maximum messages of a call that wait for a slow client. Further notifications are dropped. */
const queuedMax = 256
/** Maximum characters of a client's answer to a request of a run. */
const answerLengthMax = 1024 * 1024

export class MessageTransport implements Transport {
  onmessage?: Transport["onmessage"]
  onclose?: () => void

  readonly #sessions: McpSessions["Service"]
  readonly #session: McpSession | null
  /** Prefix of the ids of requests to the client, unique in the cluster. */
  readonly #unique: string
  readonly #queue: Array<JSONRPCMessage> = []
  readonly #expected: Array<() => void> = []
  #wake: (() => void) | null = null
  #hasEnded = false

  constructor(sessions: McpSessions["Service"], session: McpSession | null, unique: string) {
    this.#sessions = sessions
    this.#session = session
    this.#unique = unique
  }

  async start(): Promise<void> {}

  async send(message: JSONRPCMessage, _options?: TransportSendOptions): Promise<void> {
    if (this.#hasEnded) return
    if (isJSONRPCNotification(message)) {
      if (this.#queue.length < queuedMax) this.#push(message)
    } else if (isJSONRPCRequest(message)) this.#push(this.#expectAnswer(message))
    else {
      this.#push(message)
      this.#hasEnded = true
    }
  }

  async close(): Promise<void> {
    this.#hasEnded = true
    for (const stop of this.#expected.splice(0)) stop()
    this.#wake?.()
    this.onclose?.()
  }

  /** Removes the oldest message; undefined if none waits. */
  take(): JSONRPCMessage | undefined {
    return this.#queue.shift()
  }

  /** True if no further message follows. */
  get isDone(): boolean {
    return this.#hasEnded && this.#queue.length === 0
  }

  /** Calls `wake` once when a message arrives or the transport closes. */
  onceReady(wake: () => void): void {
    this.#wake = () => {
      this.#wake = null
      wake()
    }
  }

  #push(message: JSONRPCMessage): void {
    this.#queue.push(message)
    this.#wake?.()
  }

  /** Returns the request with an id that is unique in the cluster: the answer comes in another request of the client. */
  #expectAnswer(request: JSONRPCRequest): JSONRPCRequest {
    const id = `${this.#unique}.${request.id}`
    if (this.#session !== null) {
      const receive = (answer: unknown): void => this.onmessage?.(toResponse(request, answer))
      this.#expected.push(this.#sessions.expectAnswer(this.#session, id, receive))
    }
    return { ...request, id }
  }
}

/** Returns the client's answer with the id of the request, or an error in place of an answer that is not valid. */
const toResponse = ({ id }: JSONRPCRequest, answer: unknown): JSONRPCMessage => {
  const parsed = JSONRPCResponseSchema.safeParse(answer)
  if (!parsed.success) return failed(id, "The answer is not a JSON-RPC response")
  return JSON.stringify(parsed.data).length > answerLengthMax
    ? failed(id, `The answer has more than ${answerLengthMax} characters`)
    : { ...parsed.data, id }
}

const failed = (id: JSONRPCRequest["id"], message: string): JSONRPCMessage => ({
  jsonrpc: "2.0",
  id,
  error: { code: -32603, message }
})
