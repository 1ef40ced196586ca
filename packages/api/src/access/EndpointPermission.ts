/** Permissions of endpoints (decisions section 3), as annotations for the server and the OpenAPI document. */
import { type Action, type AuditAction, isUuid, type ResourceType, toIdOrName } from "@weft/core/adapter"
import { Context } from "effect"
import { type HttpApiEndpoint, OpenApi } from "effect/http-api"

/** The permission that an endpoint requires. */
export interface EndpointPermission {
  readonly type: ResourceType
  readonly action: Action
  /** Alternative action, depending on the existing resource or on the body. */
  readonly or?: Action
  /** Additional permission, on the resource that the body names. */
  readonly also?: { readonly type: ResourceType; readonly action: Action }
  /**
   * Value that the path of the permission is compared with:
   * - `project`: the project in the URL.
   * - `body`: a field of the body, known when it is decoded.
   * - `resource`: the resource itself, known when it is loaded; lists are filtered.
   * - `path`: the path of a file in the URL, known when it is decoded.
   * - `stream`: the id of a stream in the URL; `all`: everything of the type.
   */
  readonly on: "project" | "body" | "resource" | "path" | "stream" | "all"
  /** Set if the endpoint rejects service keys and sessions with any permissions. */
  readonly callers?: "api-key"
  /** Action under which the audit log records callers without the permission. Completed actions are audited by core. */
  readonly audit?: AuditAction
}

const Required = Context.Reference<EndpointPermission | null>("@weft/api/access/EndpointPermission", {
  defaultValue: () => null
})

/** Annotates an endpoint with its permission, and adds the permission to the description of the operation. */
export const requires = (permission: EndpointPermission): Context.Context<never> =>
  Context.add(
    OpenApi.annotations({
      transform: (operation) => ({ ...operation, description: describe(operation.description, permission) })
    }),
    Required,
    permission
  )

/** Returns the permission of an endpoint, or null if it requires none. */
export const permissionOf = ({ annotations }: Pick<HttpApiEndpoint.Top, "annotations">): EndpointPermission | null =>
  Context.get(annotations, Required)

const targets: Readonly<Record<EndpointPermission["on"], string>> = {
  project: "the project",
  body: "the resource in the body",
  resource: "the resource",
  path: "the path",
  stream: "the stream",
  all: "all streams"
}

const describe = (description: unknown, { type, action, or, also, on, callers }: EndpointPermission): string => {
  const named = [action, ...(or === undefined ? [] : [or])].map((one) => `\`${type}: ${one}\``)
  const permission = `Needs the permission ${named.join(" or ")} on ${targets[on]}${
    also === undefined ? "" : `, and \`${also.type}: ${also.action}\``
  }.${callers === undefined ? "" : " For API keys only."}`
  return typeof description === "string" ? `${description}\n\n${permission}` : permission
}

/**
 * True if permissions on `granted` may cover the project in a URL. An id and a name may refer to the same project, which
 * only the service can decide. Two different names or two different ids cannot.
 */
export const mayCover = (granted: "all" | ReadonlyArray<string>, project: string): boolean =>
  granted === "all" || granted.some((path) => path === toIdOrName(project) || isUuid(path) !== isUuid(project))
