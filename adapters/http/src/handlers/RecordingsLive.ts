/** Handlers for `RecordingsApi`: one service call each, no decisions. */
import { toPageRequest, toRecordingRecord, WeftApi } from "@weft/api"
import { Recordings } from "@weft/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { recordingText } from "../responses/RawRecord.ts"
import { respondSingle } from "../responses/RawResponses.ts"
import { listing } from "./Listing.ts"

export const RecordingsLive = HttpApiBuilder.group(
  WeftApi,
  "recordings",
  Effect.fnUntraced(function* (handlers) {
    const recordings = yield* Recordings
    return handlers.handleAll({
      list: ({ query: { time_range, project, fn, ...range } }) => {
        const page = toPageRequest(range)
        const query = {
          ...(project === undefined ? {} : { project }),
          ...(fn === undefined ? {} : { fn }),
          ...(time_range === undefined ? {} : { within: time_range })
        }
        return Effect.map(recordings.list(page, query), ({ items, total }) =>
          listing(page)({ items: items.map(toRecordingRecord), total })
        )
      },
      get: ({ params }) =>
        Effect.flatMap(recordings.get(params.run_id), (recording) => respondSingle(recording, recordingText))
    })
  })
)
