/** Data that MCP clients read. */
import type { AnyEvents, Catalogue } from "./Event.ts"
import type { ResourceRequest } from "./McpResult.ts"
import { type ResourceMeta, type Terms, withMeta } from "./Meta.ts"
import type { ResourceSvc } from "./Svc.ts"

export interface ResourceOptions extends ResourceMeta, Terms {}

/** The function as the runtime calls it. */
export interface Resource<Result, Events extends Catalogue = AnyEvents> {
  (request: ResourceRequest, svc: ResourceSvc<Events>): Promise<Result>
  readonly meta: Terms & { readonly resource: ResourceMeta }
}

/**
 * Defines data that MCP clients read by its URI. It returns a `ResourceResult`, or any other value, which is sent as JSON:
 *
 *     export const order = resource({ service: "crm", uri: "orders://{id}" }, ({ params }, svc) => …)
 */
export const resource = <Result>(
  { timeout, retention, ...options }: ResourceOptions,
  fn: (request: ResourceRequest, svc: ResourceSvc) => Result | Promise<Result>
): Resource<Result> =>
  withMeta(async (request: ResourceRequest, svc: ResourceSvc): Promise<Result> => fn(request, svc), {
    resource: options,
    timeout,
    retention
  })
