/** Functions that an activation calls: child runs of its waits, and calls in the background. */
import { Effect } from "effect"
import type { JsonText } from "../../foundation/JsonText.ts"
import type { WaitRecord } from "../runs/Workflow.ts"
import type { ActivationOptions } from "./ActivationOptions.ts"
import type { CallResult, FunctionCall } from "./DurableCalls.ts"

type CallOptions = Pick<ActivationOptions, "startChild" | "abandonChild" | "call">

export class FunctionCalls {
  readonly #options: CallOptions
  /** Child runs of waits, by `seq`. */
  readonly #children = new Map<number, FunctionCall>()
  #inProgress = 0

  constructor(options: CallOptions) {
    this.#options = options
  }

  /** True while a function is being called, or a child run is being started. */
  get isBusy(): boolean {
    return this.#inProgress > 0
  }

  /** Remembers which function the child run of a wait executes. */
  expect(seq: number, call: FunctionCall): void {
    this.#children.set(seq, call)
  }

  /** Calls a function in the background. A repetition before the commit of its ids changes nothing. */
  call(seq: number, call: FunctionCall): Effect.Effect<CallResult> {
    return this.#counted(this.#options.call(seq, call))
  }

  /**
   * Starts the child run of a stored wait; does not wait for it. `onStarted` receives the error if it cannot start. It
   * returns false if nothing waits for the child any more.
   */
  startChild(wait: WaitRecord, onStarted: (refused: JsonText | null) => Effect.Effect<boolean>): Effect.Effect<void> {
    const call = this.#children.get(wait.seq)
    if (wait.child_event_id === null || call === undefined) return Effect.void
    const eventId = wait.child_event_id
    const started = Effect.flatMap(this.#counted(this.#options.startChild(wait, call)), (refused) =>
      Effect.map(onStarted(refused), (isAwaited) => {
        if (!isAwaited) this.#options.abandonChild(eventId)
      })
    )
    // Counted from now on: a suspended run does not start its child again if this node dies.
    return Effect.asVoid(Effect.forkDetach(started, { startImmediately: true }))
  }

  #counted<A>(effect: Effect.Effect<A>): Effect.Effect<A> {
    return Effect.suspend(() => {
      this.#inProgress++
      return Effect.ensuring(
        effect,
        Effect.sync(() => {
          this.#inProgress--
        })
      )
    })
  }
}
