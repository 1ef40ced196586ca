/** Clients of a cluster. Each response is compared with what is stored. */
import type { EnvId } from "@weft/core"
import { Calls, Events, RunControl, Webhooks } from "@weft/core"
import type { Event, Run } from "@weft/core/adapter"
import { Cause, Exit, Option } from "effect"
import { functionName } from "./Guest.ts"
import type { Host } from "./Host.ts"
import type { Kernel } from "./Kernel.ts"
import { describeRun, type ReferenceModel } from "./ReferenceModel.ts"
import type { Scenario, Step } from "./Scenario.ts"
import { signalType } from "./workflows/Flow.ts"

/** Delay between attempts of a request with an idempotency key, in milliseconds. */
const retryMs = 700

/** Maximum time that a call may wait beyond its `wait`, in milliseconds: a node polls for a response that was lost. */
const callSlackMs = 40_000

/** Sequential statements of a call: deployments, environment, organization, the commit, its run. */
const statementsOfCall = 5

/** An event to publish. */
interface Publication {
  readonly type: string
  readonly data: object
  readonly delay?: number
  /** Idempotency key; null without one. */
  readonly request: string | null
}

type StepOf<Tag extends Step["_tag"]> = Extract<Step, { _tag: Tag }>

export class Clients {
  readonly #kernel: Kernel
  readonly #hosts: ReadonlyArray<Host>
  readonly #envId: EnvId
  readonly #model: ReferenceModel
  /** Number of functions that handle jobs. */
  readonly #functions: number
  readonly #callSlackMs: number
  /** Events by the idempotency keys of their requests. */
  readonly #named = new Map<string, Event>()
  /** Requests with an idempotency key that have no response yet. */
  #open = 0
  sent = 0
  acknowledged = 0

  constructor(kernel: Kernel, hosts: ReadonlyArray<Host>, envId: EnvId, model: ReferenceModel, scenario: Scenario) {
    this.#kernel = kernel
    this.#hosts = hosts
    this.#envId = envId
    this.#model = model
    this.#functions = scenario.rules.length
    const slowest = Math.max(0, ...scenario.faults.map((fault) => (fault._tag === "Store" ? fault.ms : 0)))
    this.#callSlackMs = callSlackMs + statementsOfCall * slowest
  }

  /** True if no client waits for a response. */
  get isIdle(): boolean {
    return this.#open === 0 && this.#hosts.every(({ instance }) => instance === null || instance.pending === 0)
  }

  /** Describes the requests without a response. */
  get pendingWork(): string {
    const pending = this.#hosts.map(({ instance }) => instance?.pending ?? 0)
    return `${this.#open} requests are retried, ${pending.join(" + ")} are pending at nodes`
  }

  send(step: Exclude<Step, { _tag: "Restart" }>): void {
    this.sent++
    switch (step._tag) {
      case "Publish":
        this.#publish(this.#toJob(step), step.node)
        break
      case "Flow":
        this.#publish({ type: `flow:${step.type}`, data: { plan: step.plan }, request: step.request }, step.node)
        break
      case "Signal":
        this.#publish({ type: signalType, data: { key: step.key }, request: step.request }, step.node)
        break
      case "Call":
        this.#call(step)
        break
      case "Webhook":
        this.#webhook(step)
        break
      case "Cancel":
        this.#cancel(step)
    }
  }

  #toJob({ type, job, delay, request }: StepOf<"Publish">): Publication {
    const data = { ...job, script: [...job.script] }
    return { type: this.#toType(type), data, request, ...(delay === 0 ? {} : { delay }) }
  }

  #publish(publication: Publication, node: number): void {
    if (publication.request !== null) this.#open++
    this.#send(publication, node)
  }

  #send(publication: Publication, node: number): void {
    const { request, data, ...rest } = publication
    const input = {
      ...rest,
      data: JSON.parse(JSON.stringify(data)),
      ...(request === null ? {} : { idempotencyKey: request })
    }
    const again = () =>
      this.#kernel.after(this.#kernel.world, retryMs, () => this.#send(publication, (node + 1) % this.#hosts.length))
    this.#hosts[node]?.request(
      this.#envId,
      Events.use((events) => events.publish(input)),
      (exit) => {
        if (exit !== null && Exit.isSuccess(exit)) {
          this.#stored(exit.value)
          if (request === null) return
          // The client repeats its request once, as if the response had been lost.
          if (this.#once(request, exit.value)) again()
          else this.#open--
        } else {
          if (exit !== null) this.#mayFail("publish", exit.cause, ["StoreUnavailable"])
          if (request !== null) again()
        }
      }
    )
  }

  #toType(type: number): string {
    return type === this.#functions ? "job:all" : `job:${type}`
  }

  #stored(event: Event): void {
    this.acknowledged++
    this.#model.must(this.#model.events.has(event.event_id), `acknowledged event ${event.event_id} is stored`)
  }

  /** True if this is the first response to the request. */
  #once(request: string, event: Event): boolean {
    const before = this.#named.get(request)
    this.#named.set(request, before ?? event)
    this.#model.must((before ?? event).event_id === event.event_id, `${request} publishes once`)
    return before === undefined
  }

  #call({ node, type, job, waitSeconds }: StepOf<"Call">): void {
    const args = [{ ...job, script: [...job.script] }]
    const sent = this.#kernel.elapsed
    const call = Calls.use((calls) => calls.call({ fn: `main/${functionName(type)}`, args, wait: waitSeconds }))
    this.#hosts[node]?.request(this.#envId, call, (exit) => {
      if (exit === null) return
      if (Exit.isFailure(exit)) return this.#mayFail("call", exit.cause, ["StoreUnavailable"])
      const { event, run } = exit.value
      this.#stored(event)
      if (run !== null) this.#checkRun(run)
      const waited = this.#kernel.elapsed - sent - waitSeconds * 1000
      this.#model.must(waited < this.#callSlackMs, `a call returns when its wait ends (got ${waited} ms more)`)
    })
  }

  #webhook({ node, takes }: StepOf<"Webhook">): void {
    const call = {
      ...{ org: "acme", env: "production", service: "shop", path: "/hook", method: "POST", url: "/hook" },
      ...{ query: { takes: String(takes) }, headers: {}, body: null, remoteIp: "127.0.0.1", token: null }
    }
    this.#hosts[node]?.request(
      this.#envId,
      Webhooks.use((webhooks) => webhooks.handle(call)),
      (exit) => {
        if (exit === null) return
        if (Exit.isFailure(exit)) {
          return this.#mayFail("webhook", exit.cause, ["StoreUnavailable", "SandboxUnavailable", "FunctionFailed"])
        }
        this.acknowledged++
        this.#model.must(takes < 10_000, "a webhook that exceeds its timeout fails")
      }
    )
  }

  #cancel({ node, pick }: StepOf<"Cancel">): void {
    const running = [...this.#model.runs.values()].filter((run) => run.status === "running")
    const run = running[pick % Math.max(1, running.length)]
    if (run === undefined) return
    this.#hosts[node]?.request(
      this.#envId,
      RunControl.use((control) => control.cancel(run.run_id)),
      (exit) => {
        if (exit === null) return
        if (Exit.isFailure(exit)) return this.#mayFail("cancel", exit.cause, ["StoreUnavailable", "BadRequest"])
        this.acknowledged++
        this.#checkRun(exit.value)
      }
    )
  }

  /** Checks that a run in a response is stored, with the same status if it had ended. */
  #checkRun(run: Run): void {
    const stored = this.#model.runs.get(run.run_id)
    this.#model.must(stored !== undefined, `${describeRun(run)} of a response is stored`)
    if (run.status !== "running") {
      this.#model.must(stored?.status === run.status, `${describeRun(run)} keeps its status ${run.status}`)
    }
  }

  /** Checks that a request fails only with expected errors, never with a defect. */
  #mayFail(what: string, cause: Cause.Cause<{ readonly _tag: string }>, tags: ReadonlyArray<string>): void {
    const error = Option.getOrNull(Cause.findErrorOption(cause))
    const isExpected = error === null ? Cause.hasInterruptsOnly(cause) : tags.includes(error._tag)
    this.#model.must(isExpected, `${what} fails with an expected error (got ${Cause.pretty(cause)})`)
  }
}
