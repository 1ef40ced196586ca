/** The route pattern that matched a request. Handlers set it, and the metrics around the app read it. */
import { Context } from "effect"

export interface MatchedRoute {
  /** Such as `/v1/projects/:project_id_or_slug`; null until a route matches. */
  path: string | null
}

export const CurrentRoute = Context.Reference<MatchedRoute>("@weft/http/metrics/CurrentRoute", {
  defaultValue: () => ({ path: null })
})
