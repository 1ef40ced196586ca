/** Functions that answer HTTP requests. */
import type { AnyEvents, Catalogue } from "./Event.ts"
import { type Auth, type Endpoint, type Terms, withMeta } from "./Meta.ts"
import type { InferInput, InferOutput, Issue, StandardSchemaV1, Unchecked } from "./StandardSchema.ts"
import type { Caller, Svc, WebhookSvc } from "./Svc.ts"
import { attempt, textOf } from "./validate.ts"
import type { Query, RequestAuth, WebhookRequest, WebhookResult } from "./WebhookRequest.ts"

/** Stands for the schema of a query where there is none. */
export type AnyQuery = StandardSchemaV1<Query, Query>

export interface WebhookOptions<Body extends StandardSchemaV1, Q extends StandardSchemaV1, A extends Auth>
  extends Endpoint,
    Terms {
  /** Checks the body. What is not so is answered with 400, and the function is not called. */
  readonly body?: Body
  /** Checks the query in the same way; its values are text. */
  readonly query?: Q
  readonly auth?: A
  /** Headers to mask in logs, beyond those that always are. */
  readonly "secret-headers"?: ReadonlyArray<string>
}

export interface WebhookMeta extends Terms {
  readonly webhook: Endpoint
  readonly "secret-headers"?: ReadonlyArray<string>
}

/** The answer to a request whose body or query is not as its schema says. */
export interface Refusal {
  readonly status: 400
  readonly body: {
    readonly error: {
      readonly code: "bad_request"
      readonly message: string
    }
  }
}

/** As the runtime calls it. */
export interface Webhook<In extends WebhookRequest<unknown, unknown>, Result, S extends Svc = WebhookSvc> {
  (request: In, svc: S): Promise<Result>
  readonly meta: WebhookMeta
}

/** The request that the function gets: with `auth: "required"` somebody has made it. */
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
 * A function that answers HTTP requests:
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
  const { body, query, timeout, "secret-headers": secret, ...endpoint } = options
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
  return withMeta(run, { webhook: endpoint, timeout, "secret-headers": secret })
}

const refusal = (what: string, issues: ReadonlyArray<Issue>): Refusal => ({
  status: 400,
  body: { error: { code: "bad_request", message: `The ${what} is not as expected: ${textOf(issues)}` } }
})
