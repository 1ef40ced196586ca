/** Recordings of runs: their input, their host calls and their results. */
import { RunId } from "@weft/core/adapter"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { requires } from "../access/EndpointPermission.ts"
import { List, Single } from "../envelope/Envelope.ts"
import { NotFoundError } from "../errors/ErrorSchemas.ts"
import { RecordingRecord, RunRecordingRecord } from "../records/RecordingRecords.ts"
import { pathId } from "../records/Uuid.ts"
import { Authenticated, Permitted } from "./Authentication.ts"
import { extension, tag } from "./Documentation.ts"
import { pageQuery } from "./PageQuery.ts"
import { TimeRange } from "./TimeRange.ts"

const permission = { type: "recording", action: "read", on: "resource", audit: "recording.read" } as const

export class RecordingsApi extends HttpApiGroup.make("recordings")
  .add(
    HttpApiEndpoint.get("list", "/v1/recordings", {
      query: {
        ...pageQuery,
        project: Schema.optionalKey(
          Schema.String.annotate({
            description: "Only recordings of the project with this id, or with this name at that time",
            examples: ["shop"]
          })
        ),
        fn: Schema.optionalKey(
          Schema.String.annotate({
            description: "Only recordings of this function, `ns/var` or `project:ns/var`",
            examples: ["orders/charge"]
          })
        ),
        time_range: Schema.optionalKey(TimeRange)
      },
      success: List("RecordingList", RecordingRecord)
    })
      .annotateMerge(extension("List recordings without their contents, those of the newest runs first"))
      .annotateMerge(requires(permission)),
    HttpApiEndpoint.get("get", "/v1/runs/:run_id/recording", {
      params: { run_id: pathId(RunId) },
      success: Single("RunRecordingResponse", RunRecordingRecord),
      error: NotFoundError
    })
      .annotateMerge(extension("Get the recording of a run; each read has an entry in the audit log"))
      .annotateMerge(requires(permission))
  )
  .middleware(Permitted)
  .middleware(Authenticated)
  .annotateMerge(tag("Recordings", "Recorded runs, to replay them elsewhere")) {}
