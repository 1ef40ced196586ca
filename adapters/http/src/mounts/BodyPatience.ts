/**
 * How long a server waits for the bodies of requests.
 *
 * Node bounds the time of a whole request, which a large file on a slow line exceeds though it makes progress. So
 * Node's bound is off, and here it is for all but transfers of files; any body is bound not to pause for long.
 */
import type { IncomingMessage, ServerResponse } from "node:http"

export interface BodyPatience {
  readonly watch: (request: IncomingMessage, response: ServerResponse) => void
  readonly close: () => void
}

export interface PatienceOptions {
  /** How long no byte of a body may come in while the server would take some, in milliseconds. */
  readonly idleMs: number
  /** How long a request may take that is no transfer, and how long a body may trickle in that nobody wants any more. */
  readonly wholeMs: number
  readonly cut: (request: IncomingMessage, response: ServerResponse) => void
}

interface Awaited {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly since: number
  bytesRead: number
  movedAt: number
}

export const makeBodyPatience = ({ idleMs, wholeMs, cut }: PatienceOptions): BodyPatience => {
  const awaited = new Set<Awaited>()

  const isLate = (one: Awaited, now: number): boolean => {
    const { request, response } = one
    // A body that waits to be taken keeps its sender waiting, who is not to be blamed.
    if (request.socket.bytesRead !== one.bytesRead || request.readableLength > 0) {
      one.bytesRead = request.socket.bytesRead
      one.movedAt = now
    }
    if (now - one.movedAt >= idleMs) return true
    return now - one.since >= wholeMs && (response.writableEnded || !isTransfer(request))
  }
  const look = (): void => {
    const now = performance.now()
    for (const one of awaited) {
      const { request, response } = one
      const isOver = request.complete || request.destroyed
      if (!isOver && !isLate(one, now)) continue
      awaited.delete(one)
      if (!isOver) cut(request, response)
    }
  }
  const timer = setInterval(look, Math.min(idleMs / 4, 5000)).unref()

  return {
    watch: (request, response) => {
      if (!hasBody(request)) return
      const now = performance.now()
      const one = { request, response, since: now, bytesRead: request.socket.bytesRead, movedAt: now }
      awaited.add(one)
      request.once("close", () => awaited.delete(one))
    },
    close: () => clearInterval(timer)
  }
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0

const isTransfer = ({ method, url = "" }: IncomingMessage): boolean =>
  method === "PUT" && (url.startsWith("/v1/files/upload/") || url.startsWith("/v1/files/uploads/"))
