/** Schedules that events have made. Those of builds are with the builds. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { List } from "../envelope/Envelope.ts"
import { NotFoundError } from "../errors/ErrorSchemas.ts"
import { DynamicScheduleRecord } from "../records/ScheduleRecords.ts"
import { Authenticated, Permitted } from "./Authentication.ts"
import { extension, tag } from "./Documentation.ts"
import { pageQuery } from "./PageQuery.ts"

export class SchedulesApi extends HttpApiGroup.make("schedules")
  .add(
    HttpApiEndpoint.get("list", "/v1/schedules", {
      query: pageQuery,
      success: List("DynamicScheduleList", DynamicScheduleRecord)
    }).annotateMerge(extension("List the schedules that events have made, newest first")),
    HttpApiEndpoint.delete("remove", "/v1/schedules/:schedule_id", {
      params: { schedule_id: Schema.String },
      success: HttpApiSchema.NoContent,
      error: NotFoundError
    }).annotateMerge(extension("End a schedule that an event has made"))
  )
  .middleware(Permitted)
  .middleware(Authenticated)
  .annotateMerge(tag("Schedules", "Functions that run at times that an event has set")) {}
