/** `Expect: 100-continue`: a client that waits before it sends its body is told to go on when somebody reads it. */
import type { IncomingMessage, ServerResponse } from "node:http"

/**
 * To be called before the request is answered. An answer that comes without reading the body ends the connection:
 * nobody could say whether what follows on it is the body or another request.
 */
export const continueOnRead = (request: IncomingMessage, response: ServerResponse): void => {
  const { shouldKeepAlive } = response
  response.shouldKeepAlive = false
  const onListener = (event: string | symbol): void => {
    if (event !== "data" && event !== "readable") return
    request.off("newListener", onListener)
    if (response.headersSent) return
    response.shouldKeepAlive = shouldKeepAlive
    response.writeContinue()
  }
  request.on("newListener", onListener)
}
