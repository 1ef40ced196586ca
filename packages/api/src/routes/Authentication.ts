/**
 * Middlewares of endpoints: authentication, permission checks and the envelope of errors.
 *
 * They are declared here because the document and the typed client depend on them. The server implements them.
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

/** Turns the bearer token into the `Caller`. Runs before `Permitted`, so that 401 precedes 429, and 429 precedes 403. */
export class Authenticated extends HttpApiMiddleware.Service<Authenticated, { provides: Caller }>()(
  "@weft/api/Authenticated",
  {
    requiredForClient: true,
    error: [UnauthorizedError, RateLimitedError, UnavailableError],
    security: { bearer: HttpApiSecurity.bearer }
  }
) {}

/** Rejects callers without the permission before decoding the request, so that 403 precedes 400. */
export class Permitted extends HttpApiMiddleware.Service<Permitted, { requires: Caller }>()("@weft/api/Permitted", {
  error: [ForbiddenError, BadRequestError]
}) {}

/** Checks the admin token of the host for the routes under `/admin`. A server without one does not have these routes. */
export class AdminAuthenticated extends HttpApiMiddleware.Service<AdminAuthenticated>()(
  "@weft/api/AdminAuthenticated",
  {
    requiredForClient: true,
    error: [UnauthorizedError, NotFoundError],
    security: { adminBearer: HttpApiSecurity.bearer }
  }
) {}

/** Turns every error into its envelope. The outermost middleware of every endpoint. */
export class Enveloped extends HttpApiMiddleware.Service<Enveloped>()("@weft/api/Enveloped", {
  error: [BadRequestError, RateLimitedError, UnavailableError]
}) {}
