/** Those who ask a cluster for something: what they were told is held against what is stored. */
import { Calls, type EnvId, type Event, Events, type Run, RunControl, Webhooks } from "@weft/core"
import { Cause, Exit, Option } from "effect"
import { functionName } from "./Guest.ts"
import type { Host } from "./Host.ts"
import type { Kernel } from "./Kernel.ts"
import type { Scenario, Step } from "./Scenario.ts"
import { nameOf, type Truth } from "./Truth.ts"

/** Between two tries of a request that has a name. */
const againMs = 700

/** How much longer than it was asked to a call may wait, in milliseconds: an answer that was lost is looked for. */
const callSlackMs = 40_000

/** What a call asks the store one after the other: deployments, environment, organization, the commit, its run. */
const statementsOfCall = 5

type Told<Tag extends Step["_tag"]> = Extract<Step, { _tag: Tag }>

export class Clients {
  readonly #kernel: Kernel
  readonly #hosts: ReadonlyArray<Host>
  readonly #envId: EnvId
  readonly #truth: Truth
  /** How many functions there are that handle jobs. */
  readonly #functions: number
  readonly #callSlackMs: number
  /** Events of requests that have names. */
  readonly #named = new Map<string, Event>()
  /** Requests that are repeated until they are answered. */
  #open = 0
  asked = 0
  acknowledged = 0

  constructor(kernel: Kernel, hosts: ReadonlyArray<Host>, envId: EnvId, truth: Truth, scenario: Scenario) {
    this.#kernel = kernel
    this.#hosts = hosts
    this.#envId = envId
    this.#truth = truth
    this.#functions = scenario.rules.length
    const slowest = Math.max(0, ...scenario.faults.map((fault) => (fault._tag === "Store" ? fault.ms : 0)))
    this.#callSlackMs = callSlackMs + statementsOfCall * slowest
  }

  /** Whether nobody waits for an answer. */
  get isServed(): boolean {
    return this.#open === 0 && this.#hosts.every(({ life }) => life === null || life.pending === 0)
  }

  /** What somebody still waits for. */
  get left(): string {
    const pending = this.#hosts.map(({ life }) => life?.pending ?? 0)
    return `${this.#open} requests that are repeated, ${pending.join(" + ")} that nodes have`
  }

  ask(step: Exclude<Step, { _tag: "Restart" }>): void {
    this.asked++
    switch (step._tag) {
      case "Publish":
        if (step.request !== null) this.#open++
        this.#publish(step, step.node)
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

  #publish(step: Told<"Publish">, node: number): void {
    const { type, job, delay, request } = step
    const input = {
      type: this.#typeOf(type),
      data: { ...job, script: [...job.script] },
      ...(delay === 0 ? {} : { delay }),
      ...(request === null ? {} : { idempotencyKey: request })
    }
    const again = () =>
      this.#kernel.after(this.#kernel.world, againMs, () => this.#publish(step, (node + 1) % this.#hosts.length))
    this.#hosts[node]?.ask(
      this.#envId,
      Events.use((events) => events.publish(input)),
      (exit) => {
        if (exit !== null && Exit.isSuccess(exit)) {
          this.#stored(exit.value)
          if (request === null) return
          // Whoever has asked once asks again, as if the answer had been lost on its way.
          if (this.#once(request, exit.value)) again()
          else this.#open--
        } else {
          if (exit !== null) this.#mayFail("publish", exit.cause, ["StoreUnavailable"])
          if (request !== null) again()
        }
      }
    )
  }

  #typeOf(type: number): string {
    return type === this.#functions ? "job:all" : `job:${type}`
  }

  #stored(event: Event): void {
    this.acknowledged++
    this.#truth.must(
      this.#truth.events.has(event.event_id),
      `event ${event.event_id}, which was acknowledged, is stored`
    )
  }

  /** Whether it is the first answer to the request. */
  #once(request: string, event: Event): boolean {
    const before = this.#named.get(request)
    this.#named.set(request, before ?? event)
    this.#truth.must((before ?? event).event_id === event.event_id, `${request} publishes once`)
    return before === undefined
  }

  #call({ node, type, job, waitSeconds }: Told<"Call">): void {
    const args = [{ ...job, script: [...job.script] }]
    const asked = this.#kernel.elapsed
    const call = Calls.use((calls) => calls.call({ fn: `main/${functionName(type)}`, args, wait: waitSeconds }))
    this.#hosts[node]?.ask(this.#envId, call, (exit) => {
      if (exit === null) return
      if (Exit.isFailure(exit)) return this.#mayFail("call", exit.cause, ["StoreUnavailable"])
      const { event, run } = exit.value
      this.#stored(event)
      if (run !== null) this.#isTrue(run)
      const waited = this.#kernel.elapsed - asked - waitSeconds * 1000
      this.#truth.must(waited < this.#callSlackMs, `a call waits for as long as it was asked to, not ${waited} ms more`)
    })
  }

  #webhook({ node, takes }: Told<"Webhook">): void {
    const call = {
      ...{ org: "acme", env: "production", service: "shop", path: "/hook", method: "POST", url: "/hook" },
      ...{ query: { takes: String(takes) }, headers: {}, body: null, remoteIp: "127.0.0.1", token: null }
    }
    this.#hosts[node]?.ask(
      this.#envId,
      Webhooks.use((webhooks) => webhooks.handle(call)),
      (exit) => {
        if (exit === null) return
        if (Exit.isFailure(exit)) {
          return this.#mayFail("webhook", exit.cause, ["StoreUnavailable", "SandboxUnavailable", "FunctionFailed"])
        }
        this.acknowledged++
        this.#truth.must(takes < 10_000, "a webhook that takes longer than its timeout does not succeed")
      }
    )
  }

  #cancel({ node, pick }: Told<"Cancel">): void {
    const running = [...this.#truth.runs.values()].filter((run) => run.status === "running")
    const run = running[pick % Math.max(1, running.length)]
    if (run === undefined) return
    this.#hosts[node]?.ask(
      this.#envId,
      RunControl.use((control) => control.cancel(run.run_id)),
      (exit) => {
        if (exit === null) return
        if (Exit.isFailure(exit)) return this.#mayFail("cancel", exit.cause, ["StoreUnavailable", "BadRequest"])
        this.acknowledged++
        this.#isTrue(exit.value)
      }
    )
  }

  /** A run that somebody was told of is stored, and if it had ended, it ended so. */
  #isTrue(told: Run): void {
    const stored = this.#truth.runs.get(told.run_id)
    this.#truth.must(stored !== undefined, `${nameOf(told)}, which was told of, is stored`)
    if (told.status !== "running") {
      this.#truth.must(stored?.status === told.status, `${nameOf(told)}, which was told as ${told.status}, stays so`)
    }
  }

  /** Nobody is told of a defect, and of no error but those that one can act on. */
  #mayFail(what: string, cause: Cause.Cause<{ readonly _tag: string }>, tags: ReadonlyArray<string>): void {
    const error = Option.getOrNull(Cause.findErrorOption(cause))
    const isExpected = error === null ? Cause.hasInterruptsOnly(cause) : tags.includes(error._tag)
    this.#truth.must(isExpected, `${what} fails clearly, not by ${Cause.pretty(cause)}`)
  }
}
