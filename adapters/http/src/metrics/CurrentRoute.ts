/** The route that took a request, as its pattern: known inside, and noted for who counts outside. */
import { Context, Effect } from "effect"

export interface RouteNote {
  /** Such as `/v1/projects/:project_id_or_slug`; null while no route has taken the request. */
  path: string | null
}

export const CurrentRoute = Context.Reference<RouteNote>("@weft/http/metrics/CurrentRoute", {
  defaultValue: () => ({ path: null })
})

/** Notes the route of the request that the running fiber answers. */
export const noteRoute = (path: string): Effect.Effect<void> =>
  Effect.map(CurrentRoute, (note) => {
    note.path = path
  })
