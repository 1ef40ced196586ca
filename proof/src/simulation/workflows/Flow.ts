/** The durable function of the simulation: it makes the requests of the plan in its event. */
import { type NamedRequest, nameOf, type Plan } from "./Plan.ts"

/** The calls of `svc` that plans use. */
export interface FlowSvc {
  readonly step: (
    name: string,
    body: (context: { readonly attempt: number; readonly idempotencyKey: string }) => unknown
  ) => Promise<unknown>
  readonly sleep: (name: string, ms: number) => Promise<unknown>
  readonly waitForEvent: (name: string, wait: object) => Promise<unknown>
}

/** Receives what a function does. */
export interface FlowProbe {
  readonly requested: (request: NamedRequest) => void
  /** Called at the start of a body. Returns its result. */
  readonly body: (request: NamedRequest, attempt: number, key: string) => string
  /** Called when the function receives a result. */
  readonly received: (request: NamedRequest, result: unknown) => void
  readonly sleep: (ms: number) => Promise<void>
}

/** A result that the function received: name of its request, and value. */
export type Received = readonly [name: string, value: unknown]

/** Type of the events that end waits. */
export const signalType = "signal"

/** Executes a plan. Returns the results in the order in which the function received them. */
export const runFlow = async (plan: Plan, svc: FlowSvc, probe: FlowProbe): Promise<ReadonlyArray<Received>> => {
  const results: Array<Received> = []
  const run = async (requests: Plan, prefix: string): Promise<void> => {
    for (const [index, request] of requests.entries()) {
      const name = nameOf(prefix, index)
      if (request.kind === "all") {
        await Promise.all(request.branches.map((branch, at) => run(branch, `${name}.${at}.`)))
        continue
      }
      const named = { ...request, name }
      probe.requested(named)
      const value = await call(named, svc, probe)
      probe.received(named, value)
      results.push([name, value])
    }
  }
  await run(plan, "")
  return results
}

const call = (request: NamedRequest, svc: FlowSvc, probe: FlowProbe): Promise<unknown> => {
  switch (request.kind) {
    case "step":
      return svc.step(request.name, toBody(request, probe)).catch(describeFailure)
    case "sleep":
      return svc.sleep(request.name, request.ms).then(() => null)
    case "event": {
      const { key, timeout, fromStart } = request
      const wait = {
        ...{ event: signalType, match: { key } },
        ...(timeout === null ? {} : { timeout }),
        ...(fromStart ? { since: "start" } : {})
      }
      return svc.waitForEvent(request.name, wait).then((event) => event ?? null)
    }
  }
}

/** Message of the error that bodies throw. */
export const bodyFailure = "as the plan says"

/** Value of a failed step. */
export const failedStep = { failed: bodyFailure }

const toBody =
  (request: Extract<NamedRequest, { kind: "step" }>, probe: FlowProbe) =>
  async ({ attempt, idempotencyKey }: { readonly attempt: number; readonly idempotencyKey: string }) => {
    const result = probe.body(request, attempt, idempotencyKey)
    if (request.takes > 0) await probe.sleep(request.takes)
    if (attempt <= request.fails) throw new Error(bodyFailure)
    return result
  }

const describeFailure = (error: unknown) => ({ failed: error instanceof Error ? error.message : String(error) })
