/**
 * Host calls of the guest's `svc.host`: `host.<name>` with the JSON text of the input. The reply is the JSON text of the
 * output. Empty texts stand for no value.
 *
 * - A function that is unknown or not allowed fails with `NotFound`.
 * - A call above the function's rate fails with `LimitExceeded`.
 * - Invalid input fails with `Invalid`.
 * - Otherwise the function runs once a concurrency slot is free, until its timeout or the end of its run. Then its output
 *   is checked.
 */
import { Deferred, Effect, References } from "effect"
import type { RunId } from "../../foundation/Ids.ts"
import { NodeMetrics } from "../../foundation/telemetry/NodeMetrics.ts"
import { type HostCall, HostCallRefused, hostCallRefused } from "../../platform/sandbox/Sandbox.ts"
import type { Identity } from "../../tenants/access/Caller.ts"
import { Plans } from "../../tenants/orgs/Plans.ts"
import type { Run } from "../runs/Run.ts"
import type { CallingRun } from "./host/HostFunction.ts"
import { HostFunctionInvoker } from "./host/HostFunctionInvoker.ts"
import { HostMeter } from "./host/HostMeter.ts"
import { HostTable, nameLengthMax } from "./host/HostTable.ts"
import { PendingCallLimit } from "./host/PendingCallLimit.ts"

export interface HostFunctionCalls {
  /** Executes a call of a host function by a run, for the run's caller; returns null for any other operation. */
  readonly answer: (run: Run, caller: Identity | null, call: HostCall) => Effect.Effect<string, HostCallRefused> | null
  /** Aborts the calls that the run left open. */
  readonly end: (run: Run) => Effect.Effect<void>
}

const prefix = "host."

/** Open calls of a run. */
interface OpenCalls {
  count: number
  readonly runEnd: Deferred.Deferred<never, HostCallRefused>
}

export const makeHostFunctionCalls: Effect.Effect<HostFunctionCalls, never, Plans | NodeMetrics> = Effect.gen(
  function* () {
    const table = yield* HostTable
    const plans = yield* Plans
    const metrics = yield* NodeMetrics
    const meter = new HostMeter(table.keys())
    const pendingLimit = new PendingCallLimit()
    const invokers = new Map(
      [...table].map(([name, registered]) => [name, new HostFunctionInvoker(registered, pendingLimit, meter)])
    )
    const open = new Map<RunId, OpenCalls>()
    if (invokers.size > 0) metrics.register(Effect.sync(() => meter.read()))

    const call = Effect.fnUntraced(
      function* (name: string, run: Run, caller: Identity | null, payload: string) {
        const invoker = invokers.get(name)
        if (invoker === undefined) return yield* notFound(name)
        // Spans inside the span of the call are up to the host.
        const { org, env } = yield* Effect.provideService(plans.of(run.env_id), References.TracerEnabled, false)
        const tenantCall = { name, org, env, run: toCallingRun(run), caller }
        if (!(yield* invoker.allows(tenantCall))) return yield* notFound(name)
        return yield* invoker.call(tenantCall, payload)
      },
      Effect.mapError(({ name, message }) => hostCallRefused(name, message))
    )

    /** Aborts the call when the run ends. */
    const untilRunEnds = (run: Run, answer: Effect.Effect<string, HostCallRefused>) =>
      Effect.suspend(() => {
        const calls = open.get(run.run_id) ?? { count: 0, runEnd: Deferred.makeUnsafe<never, HostCallRefused>() }
        open.set(run.run_id, calls)
        calls.count++
        return Effect.ensuring(
          Effect.raceFirst(answer, Deferred.await(calls.runEnd)),
          Effect.sync(() => {
            calls.count--
            if (calls.count === 0) open.delete(run.run_id)
          })
        )
      })

    return {
      answer: (run, caller, { op, payload }) =>
        op.startsWith(prefix) ? untilRunEnds(run, call(op.slice(prefix.length), run, caller, payload)) : null,
      end: (run) =>
        Effect.suspend(() => {
          const calls = open.get(run.run_id)
          return calls === undefined ? Effect.void : Effect.asVoid(Deferred.fail(calls.runEnd, runEnded))
        })
    }
  }
)

const runEnded = new HostCallRefused({ name: "RunEnded", message: "the run has ended" })

/** Fails the same way for unknown functions and for those that are not allowed. */
const notFound = (name: string) =>
  Effect.fail({ name: "NotFound", message: `There is no host function ${name.slice(0, nameLengthMax)}` })

const toCallingRun = (run: Run): CallingRun => ({
  run_id: run.run_id,
  env_id: run.env_id,
  stream_id: run.stream_id,
  project_id: run.project_id,
  project_name: run.project_name,
  build_id: run.build_id,
  ns: run.ns,
  var: run.var,
  run_type: run.run_type,
  attempt: run.attempt,
  origin_run_id: run.origin_run_id,
  event_id: run.event_id
})
