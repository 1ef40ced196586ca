/** Handlers for `RunsApi`: one service call each, no decisions. */
import { toPageRequest, toRunRecord, WeftApi } from "@weft/api"
import { Caller, RunControl, RunStatistics, Runs, Tokens } from "@weft/core"
import { Duration, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { inPreviewText, runText, runWithUsageText } from "../responses/RawRecord.ts"
import { respondList, respondSingle, respondSteps } from "../responses/RawResponses.ts"
import { toBegunRun } from "./BegunRun.ts"
import { listing } from "./Listing.ts"

export const RunsLive = HttpApiBuilder.group(
  WeftApi,
  "runs",
  Effect.fnUntraced(function* (handlers) {
    const runs = yield* Runs
    const statistics = yield* RunStatistics
    const control = yield* RunControl
    const tokens = yield* Tokens
    return handlers.handleAll({
      list: ({ query: { time_range, include, limit, offset, preview: _, ...query } }) => {
        const page = toPageRequest({
          ...(limit === undefined ? {} : { limit }),
          ...(offset === undefined ? {} : { offset })
        })
        const filter = { ...query, ...(time_range === undefined ? {} : { within: time_range }) }
        const toText = include === undefined ? runText : runWithUsageText
        return Effect.flatMap(Caller, ({ preview }) =>
          Effect.flatMap(runs.list(page, filter), (found) =>
            respondList(listing(page)(found), inPreviewText(preview, toText))
          )
        )
      },
      stats: () => runs.stats,
      activity: ({ query }) => runs.activity(query.time_range ?? Duration.hours(1)),
      series: ({ query: { step, ...query } }) =>
        statistics.series(step === undefined ? query : { ...query, stepMs: step }),
      get: ({ params }) =>
        Effect.flatMap(Caller, ({ preview }) =>
          Effect.flatMap(runs.get(params.run_id), (run) => respondSingle(run, inPreviewText(preview, runText)))
        ),
      logs: ({ params, query }) => {
        const page = toPageRequest(query)
        return Effect.map(runs.logs(params.run_id, page), listing(page))
      },
      steps: ({ params, query }) => {
        const page = toPageRequest(query)
        return Effect.flatMap(runs.steps(params.run_id, page), ({ waits, ...found }) =>
          respondSteps(listing(page)(found), waits)
        )
      },
      usage: ({ params }) => runs.get(params.run_id),
      cancel: ({ params, payload }) => Effect.map(control.cancel(params.run_id, payload?.cleanup), toRunRecord),
      wake: ({ params }) => Effect.map(control.wake(params.run_id), toRunRecord),
      cancelAll: ({ query: { type, time_range, event_id } }) => {
        const filter = {
          ...(type === undefined ? {} : { type }),
          ...(time_range === undefined ? {} : { within: time_range }),
          ...(event_id === undefined ? {} : { eventId: event_id })
        }
        return Effect.map(control.cancelAll(filter), (cancelled) => ({ cancelled }))
      },
      completeToken: ({ params, payload }) => tokens.completeNamed(params.run_id, params.name, payload.data),
      replay: ({ params, query, payload }) =>
        Effect.map(control.replay(params.run_id, query.build, query.from, payload?.event_data), toBegunRun)
    })
  })
)
