/**
 * The middlewares that endpoints name: who is asking, whether they may, and what a failure looks like.
 *
 * Declared here because they shape the document and the typed client; the server implements them.
 */
import type { Caller } from "@weft/core"
import { HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"
import {
  BadRequestError,
  ForbiddenError,
  NotFoundError,
  RateLimitedError,
  UnauthorizedError,
  UnavailableError
} from "../errors/ErrorSchemas.ts"

/** Turns the bearer token into the `Caller`. Outside of `Permitted`: 401 comes before 429, and that before 403. */
export class Authenticated extends HttpApiMiddleware.Service<Authenticated, { provides: Caller }>()(
  "@weft/api/Authenticated",
  {
    requiredForClient: true,
    error: [UnauthorizedError, RateLimitedError, UnavailableError],
    security: { bearer: HttpApiSecurity.bearer }
  }
) {}

/** Refuses, before anything is decoded, a caller that cannot have the permission whatever the request says. */
export class Permitted extends HttpApiMiddleware.Service<Permitted, { requires: Caller }>()("@weft/api/Permitted", {
  error: ForbiddenError
}) {}

/** The host's own token for the routes under `/admin`. A server without one has no such routes. */
export class AdminAuthenticated extends HttpApiMiddleware.Service<AdminAuthenticated>()(
  "@weft/api/AdminAuthenticated",
  {
    requiredForClient: true,
    error: [UnauthorizedError, NotFoundError],
    security: { adminBearer: HttpApiSecurity.bearer }
  }
) {}

/** Turns every failure into its envelope. The outermost middleware of every endpoint. */
export class Enveloped extends HttpApiMiddleware.Service<Enveloped>()("@weft/api/Enveloped", {
  error: [BadRequestError, RateLimitedError, UnavailableError]
}) {}
