/** Schedules that events created. Endpoints of builds list the schedules of builds. */
import { ScheduleId } from "@weft/core/adapter"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { requires } from "../access/EndpointPermission.ts"
import { List } from "../envelope/Envelope.ts"
import { NotFoundError } from "../errors/ErrorSchemas.ts"
import { DynamicScheduleRecord, UpcomingTicksRecord } from "../records/ScheduleRecords.ts"
import { pathId } from "../records/Uuid.ts"
import { Authenticated, Permitted } from "./Authentication.ts"
import { extension, tag } from "./Documentation.ts"
import { digits, pageQuery } from "./PageQuery.ts"

export class SchedulesApi extends HttpApiGroup.make("schedules")
  .add(
    HttpApiEndpoint.get("list", "/v1/schedules", {
      query: pageQuery,
      success: List("DynamicScheduleList", DynamicScheduleRecord)
    })
      .annotateMerge(extension("List the schedules that events created, newest first"))
      .annotateMerge(requires({ type: "build", action: "read", on: "resource" })),
    HttpApiEndpoint.get("upcoming", "/v1/schedules/ticks", {
      query: {
        ...pageQuery,
        days: digits(/^(?:[1-9]|[12][0-9]|3[01])$/, "must be an integer from 1 to 31", {
          type: "integer",
          minimum: 1,
          maximum: 31,
          default: 7,
          description: "Days of the period from now"
        })
      },
      success: List("UpcomingTicksList", UpcomingTicksRecord)
    })
      .annotateMerge(extension("List all schedules, also those of builds, by their next tick, with their next ticks"))
      .annotateMerge(requires({ type: "build", action: "read", on: "resource" })),
    HttpApiEndpoint.delete("remove", "/v1/schedules/:schedule_id", {
      params: { schedule_id: pathId(ScheduleId) },
      success: HttpApiSchema.NoContent,
      error: NotFoundError
    })
      .annotateMerge(extension("Delete a schedule that an event created"))
      .annotateMerge(requires({ type: "build", action: "execute", on: "resource" }))
  )
  .middleware(Permitted)
  .middleware(Authenticated)
  .annotateMerge(tag("Schedules", "Schedules of functions that events created")) {}
