/** Ends the sleep of a durable run early. */
import { Effect } from "effect"
import { BadRequest } from "../../foundation/Errors.ts"
import { now as currentTime } from "../../foundation/time/Timestamp.ts"
import { ClusterBus } from "../../platform/cluster/ClusterBus.ts"
import { makeEntries } from "../../resources/audit/AuditFacts.ts"
import { AuditStore } from "../../resources/audit/AuditStore.ts"
import { Claimer } from "../dispatch/Claimer.ts"
import type { Run } from "../runs/Run.ts"
import { parseWaiting } from "../runs/Workflow.ts"
import { type Wakeup, WorkflowStore } from "../runs/WorkflowStore.ts"

/** Returns a function that ends the sleep of a run, and returns the run. */
export const makeWake = Effect.gen(function* () {
  const store = yield* WorkflowStore
  const audit = yield* AuditStore
  const entries = yield* makeEntries
  const claimer = yield* Claimer
  const bus = yield* ClusterBus

  return Effect.fnUntraced(function* (run: Run) {
    const at = yield* currentTime
    const toEntry = yield* entries
    const woken = yield* audit.within(store.wake(run, at), ({ isWoken }) =>
      isWoken
        ? toEntry({ action: "run.wake", object_id: run.run_id, object_name: toName(run), details: toDetails(run) })
        : null
    )
    if (!woken.isWoken) return yield* new BadRequest({ reason: explain(woken) })
    claimer.claimAt(at)
    yield* bus.sendControl([{ type: "deliveries:waiting", node_id: null }])
    return woken.run
  }, Effect.uninterruptible)
})

const toName = ({ project_name, ns, var: name }: Run): string => `${project_name}:${ns}/${name}`

/** Returns the wait as it was before. */
const toDetails = ({ waiting }: Run): Readonly<Record<string, string>> => {
  if (waiting === null) return {}
  const { for: reason, name } = parseWaiting(waiting)
  return { for: reason, name }
}

/** Returns the reason why the run cannot be woken. */
const explain = ({ run: { status, activations, waiting } }: Wakeup): string => {
  const rule = "only a sleep or a retry pause of a durable run can be ended"
  if (status !== "running") return `The run has ended: ${rule}`
  if (activations === null) return `The run is not durable: ${rule}`
  if (waiting === null) return `The run is active: ${rule}`
  const { for: reason, name } = parseWaiting(waiting)
  return reason === "event"
    ? `The run waits for the event "${name}": publish it, because ${rule}`
    : `The run waits for ${reason === "node" ? "a node" : `the ${reason} "${name}"`}: ${rule}`
}
