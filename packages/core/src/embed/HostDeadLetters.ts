/** The dead letters of one environment, for the host. */
import type { Effect } from "effect"
import { firstPage, type Page, type PageRequest } from "../foundation/Page.ts"
import type { DeadLetterQuery, DeadLetterSelection } from "../runtime/control/DeadLetterQuery.ts"
import {
  type DeadLetterPass,
  DeadLetters,
  type ListedLetter,
  type RedriveSelection
} from "../runtime/control/DeadLetters.ts"
import type { Caller } from "../tenants/access/Caller.ts"

/** Deliveries whose last attempt failed, or that expired before their start. */
export interface HostDeadLetters {
  /** Lists dead letters, the latest first. */
  readonly list: (query?: DeadLetterQuery, page?: PageRequest) => Promise<Page<ListedLetter>>
  /** Starts at most 500 of the selected letters again. Each letter starts once. */
  readonly redrive: (selection?: RedriveSelection) => Promise<DeadLetterPass>
  /** Removes at most 500 of the selected letters from the list. Their runs stay. */
  readonly discard: (selection?: DeadLetterSelection) => Promise<DeadLetterPass>
}

type RunEffect = <A, E>(effect: Effect.Effect<A, E, DeadLetters | Caller>) => Promise<A>

export const hostDeadLetters = (run: RunEffect): HostDeadLetters => ({
  list: (query = {}, page = firstPage) => run(DeadLetters.use((letters) => letters.list(page, query))),
  redrive: (selection = {}) => run(DeadLetters.use((letters) => letters.redrive(selection))),
  discard: (selection = {}) => run(DeadLetters.use((letters) => letters.discard(selection)))
})
