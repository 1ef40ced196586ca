/** Executes the host calls of guest code: the operations of the table, and the functions of the host. */
import { Effect } from "effect"
import { type HostCall, HostCallRefused } from "../../platform/sandbox/Sandbox.ts"
import type { Identity } from "../../tenants/access/Caller.ts"
import type { Run } from "../runs/Run.ts"
import { makeHostCallRates } from "./HostCallRates.ts"
import { makeHostFunctionCalls } from "./HostFunctionCalls.ts"
import type { CallingRun, Execute } from "./Operation.ts"
import { operations } from "./operations.ts"
import { OpenResources } from "./RunResources.ts"

export interface OperationCalls {
  /** Operations by name. */
  readonly execute: ReadonlyMap<string, Execute>
  /** Closes all resources that the run left open. */
  readonly end: (run: Run) => Effect.Effect<void>
}

interface AnyOperation {
  readonly name: string
  readonly execute: Effect.Effect<Execute, never, unknown>
}

type ServicesOf<Table extends ReadonlyArray<AnyOperation>> = Effect.Services<Table[number]["execute"]>

/** Builds operations, which share the resources of their runs. */
export function makeOperationCalls<const Table extends ReadonlyArray<AnyOperation>>(
  table: Table
): Effect.Effect<OperationCalls, never, Exclude<ServicesOf<Table>, OpenResources>>
export function makeOperationCalls(table: ReadonlyArray<AnyOperation>): Effect.Effect<OperationCalls, never, unknown> {
  return Effect.suspend(() => {
    const resources = OpenResources.make()
    const built = Effect.forEach(table, ({ name, execute }) => Effect.map(execute, (each) => [name, each] as const))
    return Effect.map(Effect.provideService(built, OpenResources, resources), (entries) => ({
      execute: new Map(entries),
      end: (run: Run) => resources.end(run.run_id)
    }))
  })
}

export interface GuestCalls {
  /** Executes a call by a run, for the run's caller, at the rate of the plan. Adds the secrets that the run reads to `secrets`, for `maskLog`. */
  readonly answer: (
    run: CallingRun,
    caller: Identity | null,
    call: HostCall,
    secrets: Set<string>
  ) => Effect.Effect<string, HostCallRefused>
  /** Executes the answer to a call of the run at the rate of the plan. */
  readonly atRate: <A, E>(run: Run, answer: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** Ends all calls and closes all resources that the run left open. */
  readonly end: (run: Run) => Effect.Effect<void>
}

export const makeGuestCalls = Effect.gen(function* () {
  const { execute, end } = yield* makeOperationCalls(operations)
  const hostFunctions = yield* makeHostFunctionCalls
  const rates = yield* makeHostCallRates
  const atRate: GuestCalls["atRate"] = (run, answer) => {
    const wait = rates.admit(run)
    return wait === null ? answer : Effect.andThen(wait, answer)
  }
  return {
    atRate,
    answer: (run, caller, call, secrets) =>
      atRate(
        run,
        execute.get(call.op)?.(run, call.payload, secrets) ?? hostFunctions.answer(run, caller, call) ?? unknownCall
      ),
    end: (run) => Effect.andThen(end(run), hostFunctions.end(run))
  } satisfies GuestCalls
})

const unknownCall = Effect.fail(new HostCallRefused({ name: "TypeError", message: "There is no such host call" }))
