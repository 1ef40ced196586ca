/** The client address of a request, for the audit log. */
import { Option } from "effect"
import type { HttpServerRequest } from "effect/http"

/**
 * Returns the peer address of the connection, or null if it is unknown. Behind a trusted proxy, returns the last address
 * of `X-Forwarded-For`: the proxy added that one, and the client may have forged those before it.
 */
export const clientAddress = (request: HttpServerRequest.HttpServerRequest, trustProxy: boolean): string | null =>
  forwardedAddress(request.headers["x-forwarded-for"], trustProxy) ?? Option.getOrNull(request.remoteAddress)

/** Returns the last address of `X-Forwarded-For`, which a trusted proxy appended, or null. */
export const forwardedAddress = (header: string | undefined, trustProxy: boolean): string | null => {
  const last = trustProxy ? header?.split(",").at(-1)?.trim() : undefined
  return last === undefined || last === "" ? null : last
}
