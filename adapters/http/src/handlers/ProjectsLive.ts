/** Handlers for `ProjectsApi`: one service call each, no decisions. */
import { toPageRequest, WeftApi } from "@weft/api"
import { Projects } from "@weft/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { listing } from "./Listing.ts"

export const ProjectsLive = HttpApiBuilder.group(
  WeftApi,
  "projects",
  Effect.fnUntraced(function* (handlers) {
    const projects = yield* Projects
    return handlers.handleAll({
      list: ({ query }) => {
        const page = toPageRequest(query)
        return Effect.map(projects.list(page), listing(page))
      },
      create: ({ payload }) => projects.create({ name: payload.name }),
      get: ({ params }) => projects.get(params.project_id_or_slug),
      update: ({ params, payload }) => projects.update(params.project_id_or_slug, { name: payload.name }),
      remove: ({ params }) => projects.remove(params.project_id_or_slug)
    })
  })
)
