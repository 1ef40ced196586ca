/**
 * Everything that can go wrong and that a caller can act on: one class per reaction.
 *
 * `code` is the stable name of the specification (section Errors); the HTTP layer adds the status.
 * A mistake of ours, such as a syntax error in our own SQL, is a defect and never appears here.
 *
 * | Error               | Code                    | Reaction                                  |
 * | ------------------- | ----------------------- | ----------------------------------------- |
 * | Unauthorized        | unauthorized            | present a valid credential                |
 * | Forbidden           | forbidden               | use a credential with the permission      |
 * | PermissionEscalation| permission_escalation   | ask for less                              |
 * | PlanRequired        | plan_required           | upgrade the plan                          |
 * | DomainLimitReached  | domain_limit_reached    | remove a domain or upgrade the plan       |
 * | NotFound            | not_found               | do not retry                              |
 * | BadRequest          | bad_request             | mend the input                            |
 * | DomainExists        | domain_exists           | use another domain                        |
 * | SessionLimitExceeded| session_limit_exceeded  | revoke sessions, or let some expire       |
 * | RateLimited         | rate_limit_exceeded     | wait `retryAfterSeconds`, then retry      |
 * | StoreUnavailable    | internal_server_error   | retry with back-off                       |
 * | FunctionFailed      | internal_server_error   | see the run's result                      |
 */
import { Schema } from "effect"

/** The credential is missing, unknown, disabled, revoked or expired. Deliberately says no more than that. */
export class Unauthorized extends Schema.TaggedError<Unauthorized>()("Unauthorized", {}) {
  readonly code = "unauthorized"
  override get message(): string {
    return "The credential is missing or not valid"
  }
}

/** The caller is known but lacks `permission`, written as `type:path action`. */
export class Forbidden extends Schema.TaggedError<Forbidden>()("Forbidden", { permission: Schema.String }) {
  readonly code = "forbidden"
  override get message(): string {
    return `This credential lacks the permission ${this.permission}`
  }
}

/** The requested permissions exceed the creator's. `permission` is the first one that does. */
export class PermissionEscalation extends Schema.TaggedError<PermissionEscalation>()("PermissionEscalation", {
  permission: Schema.String
}) {
  readonly code = "permission_escalation"
  override get message(): string {
    return `The permission ${this.permission} exceeds those of the creating credential`
  }
}

/** The organization's plan does not include what was asked for. */
export class PlanRequired extends Schema.TaggedError<PlanRequired>()("PlanRequired", { reason: Schema.String }) {
  readonly code = "plan_required"
  override get message(): string {
    return this.reason
  }
}

/** The organization has as many custom domains as its plan allows. */
export class DomainLimitReached extends Schema.TaggedError<DomainLimitReached>()("DomainLimitReached", {
  limit: Schema.Int
}) {
  readonly code = "domain_limit_reached"
  override get message(): string {
    return `The plan allows ${this.limit} custom domains`
  }
}

/** The host name is registered already, here or in another environment. */
export class DomainExists extends Schema.TaggedError<DomainExists>()("DomainExists", {}) {
  readonly code = "domain_exists"
  override get message(): string {
    return "The domain is already registered"
  }
}

/** The API key has as many active sessions as it may. */
export class SessionLimitExceeded extends Schema.TaggedError<SessionLimitExceeded>()("SessionLimitExceeded", {
  limit: Schema.Int
}) {
  readonly code = "session_limit_exceeded"
  override get message(): string {
    return `An API key may have ${this.limit} active sessions`
  }
}

/** There is no such `resource` in the caller's environment; one of another environment counts as none. */
export class NotFound extends Schema.TaggedError<NotFound>()("NotFound", { resource: Schema.String }) {
  readonly code = "not_found"
  override get message(): string {
    return `There is no such ${this.resource}`
  }
}

/**
 * The input is at fault. `reason` names the field and what is wrong with it, for the person who sent it,
 * and never quotes the body.
 */
export class BadRequest extends Schema.TaggedError<BadRequest>()("BadRequest", { reason: Schema.String }) {
  readonly code = "bad_request"
  override get message(): string {
    return this.reason
  }
}

/** Too much at once; the same request succeeds after `retryAfterSeconds` (an integer, at least 1). */
export class RateLimited extends Schema.TaggedError<RateLimited>()("RateLimited", { retryAfterSeconds: Schema.Int }) {
  readonly code = "rate_limit_exceeded"
  override get message(): string {
    return `Too many requests: retry after ${this.retryAfterSeconds} s`
  }
}

/** The store did not answer `operation`. `cause` is for our logs and never leaves the process. */
export class StoreUnavailable extends Schema.TaggedError<StoreUnavailable>()("StoreUnavailable", {
  operation: Schema.String,
  cause: Schema.Defect()
}) {
  readonly code = "internal_server_error"
  override get message(): string {
    return `The store did not answer ${this.operation}`
  }
}

/** A webhook's function failed. The caller learns no more; its author finds the reason in the run's result. */
export class FunctionFailed extends Schema.TaggedError<FunctionFailed>()("FunctionFailed", { run_id: Schema.String }) {
  readonly code = "internal_server_error"
  override get message(): string {
    return `The function failed in run ${this.run_id}`
  }
}

/**
 * The items of a page are larger together than one answer may be, by what callers put into them.
 * Stores fail with it; services turn it into a `BadRequest` that names `limit`.
 */
export class PageTooLarge extends Schema.TaggedError<PageTooLarge>()("PageTooLarge", { bytes: Schema.Int }) {
  override get message(): string {
    return `The items of the page have ${this.bytes} bytes together`
  }
}

/**
 * A value that must be unique is in use: `what` names the field ("project name").
 * Stores fail with it; services turn it into the `BadRequest` of the specification.
 */
export class Taken extends Schema.TaggedError<Taken>()("Taken", { what: Schema.String }) {
  override get message(): string {
    return `The ${this.what} is already in use`
  }
}
