/** Handlers for `OperationsApi`: records, and a stream for clients that ask for it. */
import { toPageRequest, WeftApi } from "@weft/api"
import { Caller, type NewOperation, Operations } from "@weft/core"
import { Credentials } from "@weft/core/internal"
import { type Duration, Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { bearerToken } from "../access/BearerToken.ts"
import { acceptsEvents } from "../streams/AcceptsEvents.ts"
import type { EventStreams } from "../streams/EventStreams.ts"
import { openOperationStream } from "../streams/OperationStream.ts"
import { listing } from "./Listing.ts"

export const operationsLive = (streams: EventStreams) =>
  HttpApiBuilder.group(
    WeftApi,
    "operations",
    Effect.fnUntraced(function* (handlers) {
      const operations = yield* Operations
      const credentials = yield* Credentials

      /** True if the token of the request may still read the operation. An outage of the store revokes nothing. */
      const mayRead = ({ headers }: HttpServerRequest.HttpServerRequest, id: string): Effect.Effect<boolean> =>
        credentials.authenticate(bearerToken(headers.authorization) ?? "").pipe(
          Effect.flatMap((caller) => Effect.provideService(operations.get(id), Caller, caller)),
          Effect.match({ onFailure: ({ _tag }) => _tag === "StoreUnavailable", onSuccess: () => true })
        )

      const follow = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest, id: string) {
        const first = yield* operations.get(id)
        return yield* openOperationStream(streams, {
          first,
          read: Effect.catchTag(operations.refresh(first), "NotFound", () => Effect.succeed(null)),
          isAuthorized: mayRead(request, id)
        })
      })

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
        get: ({ params: { operation_id }, request }) =>
          acceptsEvents(request) ? follow(request, operation_id) : operations.get(operation_id),
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

const toInput = ({
  filter: { event_id, event_type, time_range, ...filter } = {},
  ...input
}: SentOperation): NewOperation => ({
  ...input,
  filter: {
    ...filter,
    ...(event_id === undefined ? {} : { eventId: event_id }),
    ...(event_type === undefined ? {} : { eventType: event_type }),
    ...(time_range === undefined ? {} : { within: time_range })
  }
})
