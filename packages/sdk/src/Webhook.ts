/** Functions that respond to HTTP requests. */
import type { AnyEvents, Catalogue } from "./Event.ts"
import { type Auth, type Endpoint, type RequestTerms, withMeta } from "./Meta.ts"
import type { InferInput, InferOutput, Issue, StandardSchemaV1, Unchecked } from "./StandardSchema.ts"
import type { Caller, Svc, WebhookSvc } from "./Svc.ts"
import { attempt, formatIssues } from "./validate.ts"
import type { Query, RequestAuth, WebhookRequest, WebhookResult } from "./WebhookRequest.ts"

/** Placeholder for a missing schema of the query. */
export type AnyQuery = StandardSchemaV1<Query, Query>

export interface WebhookOptions<Body extends StandardSchemaV1, Q extends StandardSchemaV1, A extends Auth>
  extends Endpoint,
    RequestTerms {
  /** Validates the body. An invalid one returns 400 without calling the function. */
  readonly body?: Body
  /** Validates the query in the same way; its values are text. */
  readonly query?: Q
  readonly auth?: A
  /** Headers to mask in logs, in addition to those that are always masked. */
  readonly "secret-headers"?: ReadonlyArray<string>
}

export interface WebhookMeta extends RequestTerms {
  readonly webhook: Endpoint
  readonly "secret-headers"?: ReadonlyArray<string>
}

/** The response to a request with an invalid body or query. */
export interface Refusal {
  readonly status: 400
  readonly body: {
    readonly error: {
      readonly code: "bad_request"
      readonly message: string
    }
  }
}

/** The function as the runtime calls it. */
export interface Webhook<In extends WebhookRequest<unknown, unknown>, Result, S extends Svc = WebhookSvc> {
  (request: In, svc: S): Promise<Result>
  readonly meta: WebhookMeta
}

/** The request after validation. With `auth: "required"` it has a credential. */
export type Checked<Body, Q, A extends Auth> = WebhookRequest<Body, Q> &
  ([A] extends ["required"] ? { readonly auth: RequestAuth } : unknown)

export type CheckedSvc<Events extends Catalogue, A extends Auth> = WebhookSvc<Events> &
  ([A] extends ["required"] ? { readonly caller: Caller } : unknown)

export type Webhooks<Events extends Catalogue = AnyEvents> = <
  const Result extends WebhookResult,
  Body extends StandardSchemaV1 = Unchecked,
  Q extends StandardSchemaV1 = AnyQuery,
  const A extends Auth = "none"
>(
  options: WebhookOptions<Body, Q, A>,
  fn: (request: Checked<InferOutput<Body>, InferOutput<Q>, A>, svc: CheckedSvc<Events, A>) => Result | Promise<Result>
) => Webhook<Checked<InferInput<Body>, InferInput<Q>, A>, Result | Refusal, CheckedSvc<Events, A>>

/**
 * Defines a function that responds to HTTP requests:
 *
 *     export const hello = webhook({ service: "greeter", path: "/hello", method: "GET" }, (request, svc) => …)
 */
export const webhook: Webhooks = <Result, Body extends StandardSchemaV1, Q extends StandardSchemaV1, A extends Auth>(
  options: WebhookOptions<Body, Q, A>,
  fn: (
    request: Checked<InferOutput<Body>, InferOutput<Q>, A>,
    svc: CheckedSvc<AnyEvents, A>
  ) => Result | Promise<Result>
) => {
  const { body, query, timeout, retention, record, "secret-headers": secret, ...endpoint } = options
  const run = async (
    request: Checked<InferInput<Body>, InferInput<Q>, A>,
    svc: CheckedSvc<AnyEvents, A>
  ): Promise<Result | Refusal> => {
    const checkedBody = await attempt(body, request.body)
    if (checkedBody.issues !== undefined) return refusal("body", checkedBody.issues)
    const checkedQuery = await attempt(query, request.query)
    if (checkedQuery.issues !== undefined) return refusal("query", checkedQuery.issues)
    return fn({ ...request, body: checkedBody.value, query: checkedQuery.value }, svc)
  }
  return withMeta(run, { webhook: endpoint, timeout, retention, record, "secret-headers": secret })
}

const refusal = (what: string, issues: ReadonlyArray<Issue>): Refusal => ({
  status: 400,
  body: { error: { code: "bad_request", message: `The ${what} is not as expected: ${formatIssues(issues)}` } }
})
