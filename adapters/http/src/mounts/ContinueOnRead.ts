/** Support for `Expect: 100-continue`: sends `100 Continue` when the server starts to read the body. */
import type { IncomingMessage, ServerResponse } from "node:http"

/**
 * Sends `100 Continue` on the first read. To be called before the request is handled. A response without a read closes
 * the connection, because the next bytes could be the body or another request.
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
