/** Executes the durable functions of a node: as trusted code, with the replay of `TrustedDurable`. */
import { type Execution, type ExportedFunction, type Invocation, Sandbox } from "@weft/core/adapter"
import { type TrustedFunction, trustedSandbox } from "@weft/core/testing"
import { Context, Effect, Layer } from "effect"
import type { Kernel, Machine } from "../Kernel.ts"
import { type FlowProbe, type FlowSvc, runFlow } from "./Flow.ts"
import type { FlowRules, Plan } from "./Plan.ts"
import type { WorkflowModel } from "./WorkflowModel.ts"

/** Durable functions in the nodes of a simulation. */
export class Flows {
  readonly #active = new Map<symbol, { readonly machine: Machine; readonly lose: () => void }>()

  /** Records an active function. Returns a function that records its end. */
  begin(machine: Machine, lose: () => void): () => void {
    const key = Symbol()
    this.#active.set(key, { machine, lose })
    return () => this.#active.delete(key)
  }

  /** Ends all functions of a node, as the death of its runners does. */
  loseRunners(machine: Machine): void {
    for (const each of [...this.#active.values()]) if (each.machine === machine) each.lose()
  }

  /** Resolves after all microtasks; null if no function is active. */
  settled(): Promise<void> | null {
    for (const [key, { machine }] of this.#active) if (!machine.isAlive) this.#active.delete(key)
    return this.#active.size === 0 ? null : new Promise((resolve) => setImmediate(resolve))
  }
}

const flowName = (index: number): string => `flow${index}`

/** Returns the durable functions with their metadata. */
export const listFlows = (rules: ReadonlyArray<FlowRules>): ReadonlyArray<ExportedFunction> =>
  rules.map(({ attempts, delay, timeout, limit }, index) => ({
    ...{ ns: "main", var: flowName(index) },
    meta: {
      ...{ event: `flow:${index}`, durable: true, timeout, retry: { attempts, delay } },
      ...(limit === null ? {} : { concurrency: { limit } })
    }
  }))

/** Parts of a node that its durable functions need. */
export interface FlowHost {
  readonly kernel: Kernel
  readonly machine: Machine
  readonly flows: Flows
  readonly model: WorkflowModel
}

/** Returns a function that invokes a durable function on a node. */
export const makeFlowInvoker = ({ kernel, machine, flows, model }: FlowHost, artifact: string) => {
  return (invocation: Invocation): Effect.Effect<Execution> => {
    const timers: Array<() => void> = []
    let isStopped = false
    const sleep = (ms: number) =>
      new Promise<void>((resolve) => {
        // An isolate that was stopped executes nothing more, but code of this process does.
        if (!isStopped) timers.push(kernel.after(machine, ms, resolve))
      })
    const stopTimers = Effect.sync(() => {
      isStopped = true
      for (const stop of timers) stop()
    })
    const probe = model.probe(invocation.run_id, machine.name, sleep) ?? { ...silentProbe, sleep }
    const invoked = invokeFlow(
      invocation,
      artifact,
      whileRunning(probe, () => !isStopped)
    )
    const lost = Effect.callback<Execution>((resume) => {
      const end = flows.begin(machine, () =>
        resume(Effect.succeed({ outcome: { _tag: "RunnerLost", message: "as the scenario says" }, usage }))
      )
      return Effect.sync(end)
    })
    return Effect.ensuring(Effect.raceFirst(invoked, lost), stopTimers)
  }
}

const usage = { cpu_ms: 0, wall_ms: 0, heap_bytes: 0 }

/** A probe of functions whose run is unknown. */
const silentProbe: Omit<FlowProbe, "sleep"> = {
  requested: () => undefined,
  body: (_request, attempt) => `unknown ${attempt}`,
  received: () => undefined
}

/** Returns a probe that ignores what the code of a stopped function does. */
const whileRunning = (probe: FlowProbe, isRunning: () => boolean): FlowProbe => ({
  sleep: probe.sleep,
  requested: (request) => isRunning() && probe.requested(request),
  body: (request, attempt, key) => (isRunning() ? probe.body(request, attempt, key) : "stopped"),
  received: (request, result) => isRunning() && probe.received(request, result)
})

/** Invokes a durable function with a probe. */
export const invokeFlow = (invocation: Invocation, artifact: string, probe: FlowProbe): Effect.Effect<Execution> => {
  const flow: TrustedFunction = (event: { readonly event_data: { readonly plan: Plan } }, svc: FlowSvc) =>
    runFlow(event.event_data.plan, svc, probe)
  const sandbox = trustedSandbox({ [artifact]: { main: { [invocation.fn.var]: flow } } })
  return Effect.orDie(
    Effect.scoped(Effect.flatMap(Layer.build(sandbox), (built) => Context.get(built, Sandbox).invoke(invocation)))
  )
}
