/** Replays of durable runs from one of their steps: the new run has the results before that step. */
import { Effect } from "effect"
import { BadRequest, type StoreUnavailable } from "../../foundation/Errors.ts"
import { freshIds, RunId } from "../../foundation/Ids.ts"
import { NodeLease } from "../journal/NodeLease.ts"
import { startRun } from "../runs/Attempt.ts"
import type { Delivery } from "../runs/Delivery.ts"
import type { Run } from "../runs/Run.ts"
import { RunControlStore } from "../runs/RunControlStore.ts"
import { formatWaiting } from "../runs/Workflow.ts"
import { WorkflowStore } from "../runs/WorkflowStore.ts"

export const makeFork = Effect.gen(function* () {
  const store = yield* RunControlStore
  const workflows = yield* WorkflowStore
  const { nodeId } = yield* NodeLease
  const fresh = yield* freshIds

  return {
    /**
     * Returns the position of a recorded request: the first one with the name `from`, or the one with this position. Fails with
     * `BadRequest` without such a request.
     */
    findPosition: Effect.fnUntraced(function* (
      run: Run,
      from: string
    ): Effect.fn.Return<number, BadRequest | StoreUnavailable> {
      if (run.activations === null) return yield* badRequest("the run is not durable, so it has no steps")
      if (run.status === "running") return yield* badRequest("the run has not ended")
      const { steps } = (yield* workflows.load(run)).history
      const found =
        steps.find(({ name, kind }) => name === from && kind !== "version") ??
        steps.find(({ position }) => String(position) === from)
      return found === undefined
        ? yield* badRequest(`the run has no step or wait with the name or position ${JSON.stringify(from)}`)
        : found.position
    }),

    /** Starts a run with the results of `run` before the position. It is suspended, so that its delivery continues it. */
    start: Effect.fnUntraced(function* (run: Run, delivery: Delivery, before: number) {
      const runId = yield* fresh(RunId)
      const { due_at } = delivery
      const waiting = formatWaiting({ for: "node", name: "", since: due_at, until: due_at })
      yield* store.fork({
        run: { ...startRun(delivery, runId, nodeId, due_at), activations: 0, waiting, steps: before },
        delivery: { ...delivery, continues: runId },
        source: run,
        before
      })
    })
  }
})

const badRequest = (reason: string) => Effect.fail(new BadRequest({ reason: `from: ${reason}` }))
