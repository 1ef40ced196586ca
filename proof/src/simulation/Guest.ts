/** The sandbox of the simulation: a function does what the script in its event says. */
import {
  type Execution,
  type ExportedFunction,
  type Invocation,
  type Outcome,
  type Sandbox,
  SandboxUnavailable
} from "@weft/core/adapter"
import { Effect, Exit } from "effect"
import type { Act, Job, Rules, Scenario } from "./Scenario.ts"
import { listFlows } from "./workflows/FlowSandbox.ts"

/** State of a sandbox. */
export interface SandboxState {
  readonly isAvailable: () => boolean
  readonly onInvoke: (invocation: Invocation) => void
  /** Invokes a durable function. */
  readonly invokeFlow: (invocation: Invocation) => Effect.Effect<Execution>
}

/** Fires every 30 s of the first two minutes of a year, then not for a year, so that the cluster becomes idle. */
const tickCron = "*/30 0-1 0 1 1 *"

/** Returns the functions of the tenant with their metadata. */
const listFunctions = ({ rules, flows }: Deployed): ReadonlyArray<ExportedFunction> => [
  ...rules.map((one, index) => ({ ns: "main", var: functionName(index), meta: toMeta(one, index) })),
  { ns: "main", var: "hook", meta: { webhook: { method: "POST", service: "shop", path: "/hook" }, timeout: 10_000 } },
  { ns: "main", var: "tick", meta: { schedule: tickCron, retry: { attempts: 3, delay: 100 } } },
  ...listFlows(flows)
]

/** The functions of the tenant. */
type Deployed = Pick<Scenario, "rules" | "flows">

export const functionName = (index: number): string => `f${index}`

const toMeta = ({ attempts, delay, backoff, jitter, timeout, limit, keyed, once, control }: Rules, index: number) => ({
  event: [`job:${index}`, "job:all"],
  retry: { attempts, delay, backoff, jitter },
  timeout,
  ...(limit === null ? {} : { concurrency: { limit, ...(keyed ? { key: "key" } : {}) } }),
  ...(once ? { idempotency: "key" } : {}),
  ...control
})

const findAct = ({ script }: Job, attempt: number): Act => script[attempt - 1] ?? script.at(-1) ?? "returns"

/** Returns the job that a job publishes or calls. */
const child = (of: Job): Job => ({ script: ["returns"], key: of.key, takes: 10 })

export const guestSandbox = (deployed: Deployed, state: SandboxState): Sandbox["Service"] => {
  const functions = listFunctions(deployed)
  return {
    check: () => Effect.void,
    prepare: (zip) => Effect.succeed({ functions, artifact: zip }),
    compileSource: () => Effect.fail(new SandboxUnavailable({ reason: "the simulated sandbox runs no source text" })),
    compileSession: () => Effect.fail(new SandboxUnavailable({ reason: "the simulated sandbox runs no sessions" })),
    prepareInput: () => Effect.fail(new SandboxUnavailable({ reason: "the simulated sandbox runs no sessions" })),
    release: () => Effect.void,
    invoke: (invocation) =>
      Effect.suspend((): Effect.Effect<Execution, SandboxUnavailable> => {
        state.onInvoke(invocation)
        if (!state.isAvailable())
          return Effect.fail(new SandboxUnavailable({ reason: "the simulated sandbox is down" }))
        if (invocation.replay !== undefined) return state.invokeFlow(invocation)
        return Effect.map(runWithTimeout(invocation), (outcome) => ({ outcome, usage }))
      }),
    openFile: () => Effect.succeed(null),
    warm: () => Effect.void,
    clearQuarantine: () => Effect.void,
    nextQuarantine: Effect.never,
    status: Effect.succeed({ runnerDeaths: new Map(), quarantined: 0 })
  }
}

const usage = { cpu_ms: 0, wall_ms: 0, heap_bytes: 0 }

const runWithTimeout = (invocation: Invocation): Effect.Effect<Outcome> =>
  Effect.timeoutOrElse(act(invocation), {
    duration: invocation.timeoutMs,
    orElse: () => Effect.succeed<Outcome>({ _tag: "TimedOut", limitMs: invocation.timeoutMs })
  })

const act = Effect.fnUntraced(function* (invocation: Invocation): Effect.fn.Return<Outcome> {
  const { job, attempt } = readSvc(invocation)
  if (job.takes > 0) yield* Effect.sleep(job.takes)
  const hostCall = (op: string, payload: unknown) =>
    Effect.map(Effect.exit(invocation.onHostCall({ op, payload: JSON.stringify(payload) })), Exit.isSuccess)
  switch (findAct(job, attempt)) {
    case "throws":
      return threw
    case "hangs":
      return yield* Effect.never
    case "runner lost":
      return { _tag: "RunnerLost", message: "as the script says" }
    case "publishes":
      return (yield* hostCall("events.publish", { type: "job:0", data: child(job) })) ? returned : threw
    case "calls":
      return (yield* hostCall("call", { fn: "main/f0", args: [child(job)] })) ? returned : threw
    case "returns":
      return returned
  }
})

const returned: Outcome = { _tag: "Returned", output: '"done"' }
const threw: Outcome = { _tag: "Threw", name: "RangeError", message: "as the script says", stack: "" }

interface Svc {
  readonly run: { readonly attempt: number }
  readonly event?: { readonly event_data?: Partial<Job> }
  /** Events of a batch. */
  readonly batch?: ReadonlyArray<{ readonly event_data: Partial<Job> }>
  readonly args?: ReadonlyArray<Job>
  readonly request?: { readonly query?: { readonly takes?: string } }
}

const readSvc = ({ svc, trigger }: Invocation): { readonly job: Job; readonly attempt: number } => {
  const { run, event, batch, args, request }: Svc = JSON.parse(svc)
  const given = trigger === "args" ? args?.[0] : trigger === "batch" ? batch?.[0]?.event_data : event?.event_data
  const takes = given?.takes ?? Number(request?.query?.takes ?? 0)
  return { job: { script: given?.script ?? ["returns"], key: given?.key ?? "", takes }, attempt: run.attempt }
}
