/**
 * Errors that a caller can act on: one class per reaction.
 *
 * `code` is the stable name in the specification (section Errors). The HTTP layer adds the status.
 * A bug in Weft, such as a syntax error in its SQL, is a defect and has no class here.
 *
 * | Error               | Code                    | Reaction                                  |
 * | ------------------- | ----------------------- | ----------------------------------------- |
 * | Unauthorized        | unauthorized            | send a valid credential                   |
 * | Forbidden           | forbidden               | use a credential with the permission      |
 * | PermissionEscalation| permission_escalation   | request fewer permissions                 |
 * | PlanRequired        | plan_required           | upgrade the plan                          |
 * | DomainLimitReached  | domain_limit_reached    | remove a domain or upgrade the plan       |
 * | NotFound            | not_found               | do not retry                              |
 * | BadRequest          | bad_request             | correct the input                         |
 * | DomainExists        | domain_exists           | use another domain                        |
 * | TokenCompleted      | token_completed         | do not retry: the first completion counts |
 * | TokenExpired        | token_expired           | do not retry                              |
 * | Busy                | busy                    | wait for the earlier request, then retry  |
 * | SessionLimitExceeded| session_limit_exceeded  | revoke sessions, or wait until some expire|
 * | RateLimited         | rate_limit_exceeded     | wait `retryAfterSeconds`, then retry      |
 * | Paused              | paused                  | retry after the pause                     |
 * | DeploymentRefused   | deployment_refused      | change the build, or ask the host         |
 * | CanaryActive        | canary_active           | promote or end the canary, or replace it  |
 * | StoreUnavailable    | internal_server_error   | retry with back-off                       |
 * | ContentDamaged      | internal_server_error   | upload it again, or restore a backup      |
 * | FunctionFailed      | internal_server_error   | see the run's result                      |
 */
import { Schema } from "effect"

/** The credential is missing, unknown, disabled, revoked or expired. Deliberately does not say which. */
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

/** The organization's plan does not include the requested feature. */
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

/** The token of a durable run was completed before, at `completed_at`: an ISO 8601 time. */
export class TokenCompleted extends Schema.TaggedError<TokenCompleted>()("TokenCompleted", {
  completed_at: Schema.String
}) {
  readonly code = "token_completed"
  override get message(): string {
    return `The token was completed at ${this.completed_at}`
  }
}

/** The token of a durable run can no longer be completed. `reason` says why. */
export class TokenExpired extends Schema.TaggedError<TokenExpired>()("TokenExpired", { reason: Schema.String }) {
  readonly code = "token_expired"
  override get message(): string {
    return this.reason
  }
}

/** The resource handles another request. `reason` says which resource and what to do. */
export class Busy extends Schema.TaggedError<Busy>()("Busy", { reason: Schema.String }) {
  readonly code = "busy"
  override get message(): string {
    return this.reason
  }
}

/** The API key has reached its maximum of active sessions. */
export class SessionLimitExceeded extends Schema.TaggedError<SessionLimitExceeded>()("SessionLimitExceeded", {
  limit: Schema.Int
}) {
  readonly code = "session_limit_exceeded"
  override get message(): string {
    return `An API key may have ${this.limit} active sessions`
  }
}

/** The caller's environment has no such `resource`. Resources of other environments count as missing. */
export class NotFound extends Schema.TaggedError<NotFound>()("NotFound", { resource: Schema.String }) {
  readonly code = "not_found"
  override get message(): string {
    return `There is no such ${this.resource}`
  }
}

/**
 * The input is invalid. `reason` names the field and the fault, for the author of the request, and never quotes
 * the body.
 */
export class BadRequest extends Schema.TaggedError<BadRequest>()("BadRequest", { reason: Schema.String }) {
  readonly code = "bad_request"
  override get message(): string {
    return this.reason
  }
}

/**
 * Rate limit exceeded. The same request may succeed after `retryAfterSeconds` (an integer, at least 1). `reason` names a
 * limit other than the rate of requests.
 */
export class RateLimited extends Schema.TaggedError<RateLimited>()("RateLimited", {
  retryAfterSeconds: Schema.Int,
  reason: Schema.optionalKey(Schema.String)
}) {
  readonly code = "rate_limit_exceeded"
  override get message(): string {
    return this.reason ?? `Too many requests: retry after ${this.retryAfterSeconds} s`
  }
}

/** The function is paused, with its project or its environment, and starts no run. `reason` says what and since when. */
export class Paused extends Schema.TaggedError<Paused>()("Paused", { reason: Schema.String }) {
  readonly code = "paused"
  override get message(): string {
    return this.reason
  }
}

/** The host's policy refuses the build. `reason` is the text of the policy. */
export class DeploymentRefused extends Schema.TaggedError<DeploymentRefused>()("DeploymentRefused", {
  reason: Schema.String
}) {
  readonly code = "deployment_refused"
  override get message(): string {
    return this.reason
  }
}

/** A canary of the project is active, so that another deployment needs `replace`. `reason` names its build. */
export class CanaryActive extends Schema.TaggedError<CanaryActive>()("CanaryActive", { reason: Schema.String }) {
  readonly code = "canary_active"
  override get message(): string {
    return this.reason
  }
}

/** The store did not answer `operation`. `cause` is for the log of the node and is never sent to callers. */
export class StoreUnavailable extends Schema.TaggedError<StoreUnavailable>()("StoreUnavailable", {
  operation: Schema.String,
  cause: Schema.Defect()
}) {
  readonly code = "internal_server_error"
  override get message(): string {
    return `The store did not answer ${this.operation}`
  }
}

/** The stored bytes of the resource differ from those that were written. Nobody receives them. */
export class ContentDamaged extends Schema.TaggedError<ContentDamaged>()("ContentDamaged", {
  resource: Schema.String
}) {
  readonly code = "internal_server_error"
  override get message(): string {
    return `The stored bytes of this ${this.resource} are damaged: upload it again, or ask the operator to restore them`
  }
}

/** A webhook's function failed. The response has no details; the author finds the reason in the run's result. */
export class FunctionFailed extends Schema.TaggedError<FunctionFailed>()("FunctionFailed", { run_id: Schema.String }) {
  readonly code = "internal_server_error"
  override get message(): string {
    return `The function failed in run ${this.run_id}`
  }
}

/**
 * A value that must be unique is in use. `what` names the field ("project name").
 * Stores fail with it; services convert it to the `BadRequest` of the specification.
 */
export class Taken extends Schema.TaggedError<Taken>()("Taken", { what: Schema.String }) {
  override get message(): string {
    return `The ${this.what} is already in use`
  }
}
