/** The endpoints that require a permission. */
import { HttpApi } from "effect/http-api"
import { Permitted } from "../routes/Authentication.ts"
import { WeftApi } from "../WeftApi.ts"
import { type EndpointPermission, permissionOf } from "./EndpointPermission.ts"

type Groups = (typeof WeftApi)["groups"]

type Names<Group extends keyof Groups & string> = `${Group}.${keyof Groups[Group]["endpoints"] & string}`

/** Group and name of an endpoint with a permission, such as `projects.list`. */
export type PermittedEndpoint = {
  [Group in Exclude<keyof Groups & string, "admin" | "links" | "status">]: Names<Group>
}[Exclude<keyof Groups & string, "admin" | "links" | "status">]

/** Returns the permissions of all endpoints behind the middleware `Permitted`. Throws if one has no annotation. */
export const permittedEndpoints = (): ReadonlyMap<string, EndpointPermission> => {
  const found = new Map<string, EndpointPermission>()
  HttpApi.reflect(WeftApi, {
    onGroup: () => undefined,
    onEndpoint: ({ group, endpoint, middleware }) => {
      const name = `${group.identifier}.${endpoint.identifier}`
      const permission = permissionOf(endpoint)
      const isPermitted = [...middleware].some(({ key }) => key === Permitted.key)
      if (isPermitted !== (permission !== null))
        throw new Error(`${name} needs both Permitted and requires, or neither`)
      if (permission !== null) found.set(name, permission)
    }
  })
  return found
}
