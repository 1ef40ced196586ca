/**
 * Timeouts for the bodies of requests.
 *
 * Node limits the time of a whole request. A large file on a slow connection exceeds that limit although it makes
 * progress. So Node's limit is off, and this one applies to all requests except file transfers. In addition, no body may
 * pause for long.
 */
import type { IncomingMessage, ServerResponse } from "node:http"

export interface BodyTimeout {
  readonly watch: (request: IncomingMessage, response: ServerResponse) => void
  readonly close: () => void
}

export interface BodyTimeoutOptions {
  /** Maximum time without a byte of a body while the server reads, in milliseconds. */
  readonly idleMs: number
  /**
   * Maximum time of a request that is no file transfer, in milliseconds. Also the maximum time of a transfer whose
   * response is already sent.
   */
  readonly requestMs: number
  readonly onTimeout: (request: IncomingMessage, response: ServerResponse) => void
}

interface PendingBody {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly startedAt: number
  bytesRead: number
  progressAt: number
}

export const makeBodyTimeout = ({ idleMs, requestMs, onTimeout }: BodyTimeoutOptions): BodyTimeout => {
  const pending = new Set<PendingBody>()

  const hasTimedOut = (body: PendingBody, now: number): boolean => {
    const { request, response } = body
    // While the server does not read, or received bytes wait for it to read them, the client is not late.
    const isWaiting = request.socket.isPaused() || request.readableLength > 0
    if (request.socket.bytesRead !== body.bytesRead || isWaiting) {
      body.bytesRead = request.socket.bytesRead
      body.progressAt = now
    }
    if (now - body.progressAt >= idleMs) return true
    return now - body.startedAt >= requestMs && (response.writableEnded || !isFileTransfer(request))
  }
  const abortLate = (): void => {
    const now = performance.now()
    for (const body of pending) {
      const { request, response } = body
      const isDone = request.complete || request.destroyed
      if (!isDone && !hasTimedOut(body, now)) continue
      pending.delete(body)
      if (!isDone) onTimeout(request, response)
    }
  }
  const timer = setInterval(abortLate, Math.min(idleMs / 4, 5000)).unref()

  return {
    watch: (request, response) => {
      if (!hasBody(request)) return
      const now = performance.now()
      const body = { request, response, startedAt: now, bytesRead: request.socket.bytesRead, progressAt: now }
      pending.add(body)
      request.once("close", () => pending.delete(body))
    },
    close: () => clearInterval(timer)
  }
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0

const isFileTransfer = ({ method, url = "" }: IncomingMessage): boolean =>
  method === "PUT" && (url.startsWith("/v1/files/upload/") || url.startsWith("/v1/files/uploads/"))
