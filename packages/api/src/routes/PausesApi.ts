/** Pauses of functions, projects and the environment. */
import { PauseId } from "@weft/core/adapter"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { requires } from "../access/EndpointPermission.ts"
import { List, Single } from "../envelope/Envelope.ts"
import { NotFoundError } from "../errors/ErrorSchemas.ts"
import { NewPauseRecord, PauseRecord, PauseStateRecord } from "../records/PauseRecords.ts"
import { pathId } from "../records/Uuid.ts"
import { Authenticated, Permitted } from "./Authentication.ts"
import { extension, tag } from "./Documentation.ts"
import { pageQuery } from "./PageQuery.ts"

export class PausesApi extends HttpApiGroup.make("pauses")
  .add(
    HttpApiEndpoint.get("list", "/v1/pauses", { query: pageQuery, success: List("PauseList", PauseRecord) })
      .annotateMerge(extension("List the active pauses, newest first"))
      .annotateMerge(requires({ type: "build", action: "read", on: "resource" })),
    HttpApiEndpoint.post("create", "/v1/pauses", {
      payload: NewPauseRecord,
      success: Single("PauseResponse", PauseRecord).pipe(HttpApiSchema.status(201)),
      error: NotFoundError
    })
      .annotateMerge(
        extension(
          "Pause a function, a project or the environment: deliveries are kept, and runs that have begun continue. If it is paused already, changes `schedules`"
        )
      )
      .annotateMerge(requires({ type: "build", action: "execute", on: "body", audit: "pause.create" })),
    HttpApiEndpoint.get("get", "/v1/pauses/:pause_id", {
      params: { pause_id: pathId(PauseId) },
      success: Single("PauseStateResponse", PauseStateRecord),
      error: NotFoundError
    })
      .annotateMerge(extension("Get an active pause with the number of runs that have not ended"))
      .annotateMerge(requires({ type: "build", action: "read", on: "resource" })),
    HttpApiEndpoint.delete("remove", "/v1/pauses/:pause_id", {
      params: { pause_id: pathId(PauseId) },
      success: HttpApiSchema.NoContent,
      error: NotFoundError
    })
      .annotateMerge(extension("Resume: the kept deliveries are due at once"))
      .annotateMerge(requires({ type: "build", action: "execute", on: "resource", audit: "pause.end" }))
  )
  .middleware(Permitted)
  .middleware(Authenticated)
  .annotateMerge(tag("Pauses", "Pauses of functions, projects and the environment")) {}
