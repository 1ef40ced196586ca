/** The route that took a request, as its pattern: known inside, and noted for who counts outside. */
import { Context } from "effect"

export interface RouteNote {
  /** Such as `/v1/projects/:project_id_or_slug`; null while no route has taken the request. */
  path: string | null
}

export const CurrentRoute = Context.Reference<RouteNote>("@weft/http/metrics/CurrentRoute", {
  defaultValue: () => ({ path: null })
})
