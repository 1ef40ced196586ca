/**
 * Seam for the tokens of durable runs. Each method is one transaction.
 *
 * Commit order decides between two completions. It also decides between a completion and the end of the run, or the expiry
 * that the run stores.
 */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import type { DeliveryId } from "../../foundation/Ids.ts"
import type { JsonText } from "../../foundation/JsonText.ts"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { RunRef } from "./RunControlStore.ts"
import type { TokenRef, WorkflowToken } from "./WorkflowToken.ts"

export interface FoundToken {
  readonly token: WorkflowToken
  /** False after the end of the run. */
  readonly isRunning: boolean
}

export interface TokenCompletion extends FoundToken {
  /** True if this call completed the token. */
  readonly isNew: boolean
}

export class WorkflowTokenStore extends Context.Service<
  WorkflowTokenStore,
  {
    /**
     * Stores a token, unless its run has one with this `seq`. Returns the stored token; null if the run does not hold the
     * delivery.
     */
    readonly create: (
      token: WorkflowToken,
      deliveryId: DeliveryId
    ) => Effect.Effect<WorkflowToken | null, StoreUnavailable>

    /** Lists the tokens of a run, ascending by `seq`. */
    readonly list: (run: RunRef) => Effect.Effect<ReadonlyArray<WorkflowToken>, StoreUnavailable>

    readonly get: (ref: TokenRef) => Effect.Effect<WorkflowToken | null, StoreUnavailable>

    /** Finds a token by its hash, in any environment: its secret is the credential. */
    readonly find: (tokenHash: string) => Effect.Effect<FoundToken | null, StoreUnavailable>

    /** Finds the token of a run with this name. Of several, the one that was created last. */
    readonly findNamed: (run: RunRef, name: string) => Effect.Effect<FoundToken | null, StoreUnavailable>

    /**
     * Completes a token that is open at `at`, see `isOpen`. Its stored waits receive the data, and a suspended run is due
     * at `at`. A wait that is stored later does not: its holder reads the token with `get`. Returns the token as it is
     * then; null if it does not exist.
     */
    readonly complete: (
      ref: TokenRef,
      data: JsonText,
      at: Timestamp
    ) => Effect.Effect<TokenCompletion | null, StoreUnavailable>

    /** Expires a pending token, whatever its time. Returns the token as it is then; null if it does not exist. */
    readonly expire: (ref: TokenRef) => Effect.Effect<WorkflowToken | null, StoreUnavailable>
  }
>()("@weft/core/runtime/runs/WorkflowTokenStore") {}
