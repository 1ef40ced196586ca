/** The codes of failures. Generated from the definition of the API: `npm run generate -w packages/client`. */
export type ErrorCode =
  | "unauthorized"
  | "forbidden"
  | "permission_escalation"
  | "plan_required"
  | "domain_limit_reached"
  | "not_found"
  | "bad_request"
  | "domain_exists"
  | "session_limit_exceeded"
  | "rate_limit_exceeded"
  | "internal_server_error"
