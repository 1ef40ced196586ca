/**
 * Calls of functions by durable functions: child runs, and calls in the background.
 *
 * The key of a call derives from the run and the number of its request. So a call that is repeated, because its record was
 * lost with its node, publishes nothing.
 */
import { Effect, Schedule, type Schema } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import { type JsonText, toJsonText } from "../../foundation/JsonText.ts"
import { EventStore } from "../events/EventStore.ts"
import { Events, type NewEvent } from "../events/Events.ts"
import { childFailed } from "../runs/ChildRun.ts"
import type { StepRecord, WaitRecord } from "../runs/Workflow.ts"
import { type CallingRun, ofEnvironment } from "../svc/Operation.ts"
import { formatError } from "./RequestErrors.ts"

/** A function, and the arguments for it. */
export interface FunctionCall {
  readonly fn: string
  readonly args: ReadonlyArray<Schema.Json>
}

/** The ids of a call, or its error. */
export type CallResult = Pick<StepRecord, "ok" | "result">

export interface DurableCalls {
  /**
   * Stores the event that starts the child run of a wait, unless it is stored. Returns the error if the call is refused, and
   * null if it is stored. Waits while the store does not answer.
   */
  readonly startChild: (run: CallingRun, wait: WaitRecord, call: FunctionCall) => Effect.Effect<JsonText | null>
  /** Calls a function in the background. */
  readonly call: (run: CallingRun, seq: number, call: FunctionCall) => Effect.Effect<CallResult>
}

const publishRetry = Schedule.min([Schedule.exponential("50 millis"), Schedule.spaced("2 seconds")])

/** Returns the calls. `isStopping` is true once the node shuts down. */
export const makeDurableCalls = Effect.fnUntraced(function* (isStopping: () => boolean) {
  const events = yield* Events
  const store = yield* EventStore

  const publish = (run: CallingRun, seq: number, { fn, args }: FunctionCall, more: Partial<NewEvent>) =>
    ofEnvironment.grant(
      run,
      events.publish({
        ...{ type: "svc:call", data: { fn, args: [...args] }, stream_id: run.stream_id, causedBy: run },
        idempotencyKey: `workflow:${run.run_id}:${seq}`,
        ...more
      })
    )

  const untilAnswered = <A, E>(effect: Effect.Effect<A, E | StoreUnavailable>) =>
    Effect.retry(effect, { schedule: publishRetry, while: (error) => isUnavailable(error) && !isStopping() })

  const startChild: DurableCalls["startChild"] = (run, wait, call) => {
    const { seq, child_event_id: event_id } = wait
    if (event_id === null) return Effect.succeed(null)
    const { run_id, depth } = run
    // Keys expire after a day, the event does not.
    const stored = Effect.as(store.get(run.env_id, event_id), null)
    const started = Effect.catchTag(stored, "NotFound", () =>
      Effect.as(publish(run, seq, call, { event_id, causedBy: { run_id, depth, awaits: true } }), null)
    )
    return Effect.catch(untilAnswered(started), (error) =>
      // A node that shuts down must not suspend the run: the next activation starts the child.
      error._tag === "StoreUnavailable" ? Effect.never : Effect.succeed(childFailed(error._tag, error.message))
    )
  }

  const call: DurableCalls["call"] = (run, seq, request) =>
    untilAnswered(publish(run, seq, request, {})).pipe(
      Effect.map(({ event_id, stream_id }): CallResult => ({ ok: true, result: toJsonText({ event_id, stream_id }) })),
      Effect.catch((error) =>
        // A node that shuts down has not recorded the call, which the next activation repeats.
        error._tag === "StoreUnavailable"
          ? Effect.never
          : Effect.succeed({ ok: false, result: formatError(error._tag, error.message) })
      )
    )

  return { startChild, call } satisfies DurableCalls
})

const isUnavailable = (error: { readonly _tag?: string } | unknown): boolean =>
  typeof error === "object" && error !== null && "_tag" in error && error._tag === "StoreUnavailable"
