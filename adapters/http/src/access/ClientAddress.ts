/** Who a request comes from, for the audit log. */
import { Option } from "effect"
import type { HttpServerRequest } from "effect/http"

/**
 * The address at the other end of the connection. Behind a proxy, the last address of `X-Forwarded-For`: that one the
 * proxy added, what stands before it the client may have made up. Null where it is not known.
 */
export const clientAddress = (request: HttpServerRequest.HttpServerRequest, trustProxy: boolean): string | null => {
  const forwarded = trustProxy ? request.headers["x-forwarded-for"]?.split(",").at(-1)?.trim() : undefined
  return forwarded === undefined || forwarded === "" ? Option.getOrNull(request.remoteAddress) : forwarded
}
