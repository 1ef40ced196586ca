/** The operations on many runs of one environment, for the host. */
import type { Effect } from "effect"
import { firstPage, type Page, type PageRequest } from "../foundation/Page.ts"
import { type NewOperation, Operations } from "../runtime/control/Operations.ts"
import type { Operation, OperationState } from "../runtime/runs/Operation.ts"
import type { Caller } from "../tenants/access/Caller.ts"

export interface HostOperations {
  readonly create: (operation: NewOperation) => Promise<Operation>
  readonly preview: (operation: NewOperation) => Promise<number>
  readonly list: (state?: OperationState, page?: PageRequest) => Promise<Page<Operation>>
  readonly get: (operationId: string) => Promise<Operation>
  readonly cancel: (operationId: string) => Promise<Operation>
}

type RunEffect = <A, E>(effect: Effect.Effect<A, E, Operations | Caller>) => Promise<A>

export const hostOperations = (run: RunEffect): HostOperations => ({
  create: (operation) => run(Operations.use((operations) => operations.create(operation))),
  preview: (operation) => run(Operations.use((operations) => operations.preview(operation))),
  list: (state, page = firstPage) => run(Operations.use((operations) => operations.list(page, state))),
  get: (operationId) => run(Operations.use((operations) => operations.get(operationId))),
  cancel: (operationId) => run(Operations.use((operations) => operations.cancel(operationId)))
})
