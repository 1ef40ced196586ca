/**
 * The host calls behind the guest's `svc.host`: `host.<name>` with the JSON text of the input, answered with that of the
 * output; empty texts for nothing.
 *
 *     absent or not allowed → NotFound     above its rate → LimitExceeded     not as its schema says → Invalid
 *     its turn comes → the function runs, for as long as its timeout and its run allow → the output is checked
 */
import { Deferred, Effect, References } from "effect"
import type { Identity } from "../access/Caller.ts"
import { Backlog } from "../hosting/Backlog.ts"
import type { CallingRun } from "../hosting/HostFunction.ts"
import { HostMeter } from "../hosting/HostMeter.ts"
import { HostTable, nameLengthMax } from "../hosting/HostTable.ts"
import { Offer } from "../hosting/Offer.ts"
import type { RunId } from "../ids/Ids.ts"
import { NodeMetrics } from "../metrics/NodeMetrics.ts"
import type { Run } from "../runs/Run.ts"
import { type HostCall, HostCallRefused } from "../sandbox/Sandbox.ts"
import { Plans } from "../tenancy/Plans.ts"

export interface HostFunctionCalls {
  /** Answers a call of a host function, made by a run for who called it; null for any other operation. */
  readonly answer: (run: Run, caller: Identity | null, call: HostCall) => Effect.Effect<string, HostCallRefused> | null
  /** Gives up the calls that the run has left open. */
  readonly end: (run: Run) => Effect.Effect<void>
}

const prefix = "host."

/** The calls of a run that are open. */
interface OpenCalls {
  count: number
  readonly over: Deferred.Deferred<never, HostCallRefused>
}

export const makeHostFunctionCalls: Effect.Effect<HostFunctionCalls, never, Plans | NodeMetrics> = Effect.gen(
  function* () {
    const table = yield* HostTable
    const plans = yield* Plans
    const metrics = yield* NodeMetrics
    const meter = new HostMeter(table.keys())
    const backlog = new Backlog()
    const offers = new Map([...table].map(([name, offered]) => [name, new Offer(offered, backlog, meter)]))
    const open = new Map<RunId, OpenCalls>()
    if (offers.size > 0) metrics.register(Effect.sync(() => meter.read()))

    const call = Effect.fnUntraced(
      function* (name: string, run: Run, caller: Identity | null, payload: string) {
        const offer = offers.get(name)
        if (offer === undefined) return yield* notFound(name)
        // Spans within that of the call are the host's own.
        const { org, env } = yield* Effect.provideService(plans.of(run.env_id), References.TracerEnabled, false)
        const tenantCall = { name, org, env, run: callingRun(run), caller }
        if (!(yield* offer.allows(tenantCall))) return yield* notFound(name)
        return yield* offer.call(tenantCall, payload)
      },
      Effect.mapError(({ name, message }) => new HostCallRefused({ name, message }))
    )

    /** As long as the run goes on. */
    const during = (run: Run, answer: Effect.Effect<string, HostCallRefused>) =>
      Effect.suspend(() => {
        const calls = open.get(run.run_id) ?? { count: 0, over: Deferred.makeUnsafe<never, HostCallRefused>() }
        open.set(run.run_id, calls)
        calls.count++
        return Effect.ensuring(
          Effect.raceFirst(answer, Deferred.await(calls.over)),
          Effect.sync(() => {
            calls.count--
            if (calls.count === 0) open.delete(run.run_id)
          })
        )
      })

    return {
      answer: (run, caller, { op, payload }) =>
        op.startsWith(prefix) ? during(run, call(op.slice(prefix.length), run, caller, payload)) : null,
      end: (run) =>
        Effect.suspend(() => {
          const calls = open.get(run.run_id)
          return calls === undefined ? Effect.void : Effect.asVoid(Deferred.fail(calls.over, runEnded))
        })
    }
  }
)

const runEnded = new HostCallRefused({ name: "RunEnded", message: "the run has ended" })

/** What is not allowed is as absent as what is not there. */
const notFound = (name: string) =>
  Effect.fail({ name: "NotFound", message: `There is no host function ${name.slice(0, nameLengthMax)}` })

const callingRun = (run: Run): CallingRun => ({
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
