/** Queries of callers for dead letters, and positions in the passes over them. */
import { Effect } from "effect"
import { BadRequest } from "../../foundation/Errors.ts"
import { idReader, RunId } from "../../foundation/Ids.ts"
import { parseInstant, Timestamp } from "../../foundation/time/Timestamp.ts"
import type { DeadLetterFilter, DeadLetterPosition } from "../runs/DeadLetterStore.ts"
import { checkDeliveryQuery, type DeliveryQuery, toPendingFilter } from "./DeliveryQuery.ts"

/** Selects dead letters; all of them without any field. */
export interface DeadLetterQuery extends DeliveryQuery {
  /** Only letters that are dead since this instant or later: ISO 8601 with a time zone. */
  readonly since?: string
  /** Only letters that are dead since before this instant. */
  readonly until?: string
}

/** Selects dead letters for a pass: those with these ids, or those that match the query. */
export interface DeadLetterSelection extends DeadLetterQuery {
  /** Ids of the runs of the last attempts, 1 to 500. */
  readonly ids?: ReadonlyArray<string>
  /** The field `next` of the former pass. */
  readonly cursor?: string
}

/** Maximum ids of one selection. */
export const idsMax = 500

/** Returns the filter of a query. Fails with `BadRequest` if a field is invalid. */
export const toDeadLetterFilter = Effect.fnUntraced(function* (
  query: DeadLetterQuery
): Effect.fn.Return<DeadLetterFilter, BadRequest> {
  yield* checkDeliveryQuery(query)
  const { project, functions, eventType } = toPendingFilter(query)
  const since = yield* readInstant("since", query.since)
  const until = yield* readInstant("until", query.until)
  return {
    ...(project === undefined ? {} : { project }),
    ...(functions === undefined ? {} : { functions }),
    ...(eventType === undefined ? {} : { eventType }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until })
  }
})

const readInstant = (field: string, text: string | undefined): Effect.Effect<Timestamp | undefined, BadRequest> => {
  const instant = text === undefined ? undefined : parseInstant(text)
  return instant === null
    ? refuse(`${field} must be an ISO 8601 timestamp with a time zone, such as 2026-01-31T12:00:00Z`)
    : Effect.succeed(instant)
}

/** The letters of a pass: those that were dead before `until`, behind `position`. */
export interface PassStart {
  readonly until: Timestamp
  readonly position: DeadLetterPosition | null
}

/**
 * Returns the start of a pass. A first pass begins with the oldest letter, and covers those that are dead before `now`. So
 * letters that a redrive returns to the list are not redriven again by the same passes.
 */
export const readPassStart = (cursor: string | undefined, now: Timestamp): Effect.Effect<PassStart, BadRequest> => {
  if (cursor === undefined) return Effect.succeed({ until: now, position: null })
  const [, until, deadSince, id = ""] = cursorForm.exec(cursor) ?? []
  const run_id = readRunId(id)
  if (run_id === null) return refuse("cursor must be the field next of a former response")
  const position = { dead_since: Timestamp.make(Number(deadSince)), run_id }
  return Effect.succeed({ until: Timestamp.make(Number(until)), position })
}

/** Returns the cursor of the pass that continues behind a position. */
export const formatCursor = ({ until }: PassStart, { dead_since, run_id }: DeadLetterPosition): string =>
  `${until}.${dead_since}.${run_id}`

const cursorForm = /^(\d{1,15})\.(\d{1,15})\.([0-9a-f-]{36})$/

/** Returns the ids. Fails with `BadRequest` for no ids, for too many, and for text that is not a UUID. */
export const readRunIds = (ids: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<RunId>, BadRequest> => {
  if (ids.length === 0 || ids.length > idsMax) return refuse(`ids must have 1 to ${idsMax} ids (got ${ids.length})`)
  const read = ids.flatMap((id) => readRunId(id) ?? [])
  return read.length === ids.length
    ? Effect.succeed([...new Set(read)])
    : refuse("ids must be UUIDs: the ids of the runs of the last attempts")
}

const readRunId = idReader(RunId)

const refuse = (reason: string) => Effect.fail(new BadRequest({ reason }))
