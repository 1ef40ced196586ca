/** Handlers for `OperationsApi`: one service call each, no decisions. */
import { toPageRequest, WeftApi } from "@weft/api"
import { type NewOperation, Operations } from "@weft/core"
import { type Duration, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { listing } from "./Listing.ts"

export const OperationsLive = HttpApiBuilder.group(
  WeftApi,
  "operations",
  Effect.fnUntraced(function* (handlers) {
    const operations = yield* Operations
    return handlers.handleAll({
      list: ({ query: { state, ...query } }) => {
        const page = toPageRequest(query)
        return Effect.map(operations.list(page, state), listing(page))
      },
      create: ({ payload: { dry_run, ...payload }, headers: { "idempotency-key": idempotencyKey } }) => {
        const input = { ...toInput(payload), ...(idempotencyKey === undefined ? {} : { idempotencyKey }) }
        return dry_run === true
          ? Effect.map(operations.preview(input), (matched) => ({ matched }))
          : operations.create(input)
      },
      get: ({ params }) => operations.get(params.operation_id),
      cancel: ({ params }) => operations.cancel(params.operation_id)
    })
  })
)

interface SentOperation extends Omit<NewOperation, "filter"> {
  readonly filter?: Omit<NonNullable<NewOperation["filter"]>, "eventId" | "eventType" | "within"> & {
    readonly event_id?: string
    readonly event_type?: string
    readonly time_range?: Duration.Duration
  }
}

const toInput = ({ filter: { event_id, event_type, time_range, ...filter } = {}, ...input }: SentOperation): NewOperation => ({
  ...input,
  filter: {
    ...filter,
    ...(event_id === undefined ? {} : { eventId: event_id }),
    ...(event_type === undefined ? {} : { eventType: event_type }),
    ...(time_range === undefined ? {} : { within: time_range })
  }
})
