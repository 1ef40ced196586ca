/** Queries of callers for pending deliveries. */
import { Effect } from "effect"
import { BadRequest } from "../../foundation/Errors.ts"
import { isStorable } from "../../foundation/StorableText.ts"
import type { PendingFilter } from "../runs/WaitReason.ts"

/** Selects pending deliveries; all of them without any field. */
export interface DeliveryQuery {
  /** Id of a project, or its name when the event was published. It may have been removed. */
  readonly project?: string
  /** A function: `ns/var`, or `project:ns/var`. */
  readonly fn?: string
  readonly eventType?: string
}

/** Maximum characters of a filter: those of the longest reference of a function. */
const filterLengthMax = 512

/** Fails if a field is not text that a name could be. */
export const checkDeliveryQuery = (query: DeliveryQuery): Effect.Effect<void, BadRequest> => {
  for (const [field, text] of Object.entries({ project: query.project, fn: query.fn, event_type: query.eventType })) {
    if (text !== undefined && (text.length === 0 || text.length > filterLengthMax || !isStorable(text)))
      return refuse(`${field} must have 1 to ${filterLengthMax} characters of valid Unicode, without U+0000`)
  }
  if (query.fn !== undefined && !referenceForm.test(query.fn))
    return refuse("fn must be a function reference: ns/var or project:ns/var")
  return Effect.void
}

const referenceForm = /^(?:[^\s:/]+:)?[\w$]+\/[\w$]+$/

const refuse = (reason: string) => Effect.fail(new BadRequest({ reason }))

export const toPendingFilter = ({ project, fn, eventType }: DeliveryQuery): PendingFilter => ({
  ...(project === undefined ? {} : { project }),
  ...(fn === undefined ? {} : { functions: [[fn]] }),
  ...(eventType === undefined ? {} : { eventType })
})
