/** Choice between a response and a stream of messages, by the header `Accept`. */
import type { HttpServerRequest } from "effect/http"

/** True if the client asks for Server-Sent Events. */
export const acceptsEvents = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  headers.accept?.split(",").some((type) => type.trim().startsWith("text/event-stream")) ?? false
