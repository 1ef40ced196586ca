/**
 * The network between nodes and their store, with latency and faults.
 *
 * A statement is one atomic step of the store. Once sent, it arrives or is lost, even if its node crashes meanwhile.
 */
import { StoreUnavailable } from "@weft/core"
import type { Stores } from "@weft/core/adapter"
import { Clock, Context, Effect, Exit } from "effect"
import type { Draws } from "./Draws.ts"
import type { Kernel, Machine } from "./Kernel.ts"
import type { WriteOrigin } from "./ReferenceModel.ts"
import type { StoreFault } from "./Scenario.ts"

/** The connection of a node to the store, with the faults of its next statements. */
export interface Link {
  readonly node: string
  readonly machine: Machine
  /** End of a partition, in elapsed milliseconds. */
  cutUntil: number
  /** True if statements of a partition arrive when it ends; otherwise they are lost. */
  isLate: boolean
  /** Faults of the next statements, in order. */
  readonly faults: Array<{ readonly fault: StoreFault; readonly ms: number }>
  /** A crash before or after the next statement is applied. */
  pendingCrash: { readonly when: "before" | "after"; readonly downMs: number } | null
  readonly die: (downMs: number) => void
}

/** Maximum time until a statement without a response fails, in milliseconds. */
const statementTimeoutMs = 5_000

export class Network {
  readonly #kernel: Kernel
  readonly #draws: Draws
  readonly #database: Machine
  readonly #context: Context.Context<never>
  /** Called with the origin of a statement before the store applies it. */
  onApply: (origin: WriteOrigin) => void = () => undefined
  /** Number of faults that took effect. */
  injected = 0
  statements = 0

  constructor(kernel: Kernel, draws: Draws, database: Machine) {
    this.#kernel = kernel
    this.#draws = draws
    this.#database = database
    this.#context = Context.make(Clock.Clock, database.clock)
  }

  /** Returns the stores as a node reaches them over its link. */
  over(stores: Context.Context<Stores>, link: Link): Context.Context<Stores> {
    const services = [...stores.mapUnsafe].map(([key, service]) => [key, this.#service(service, key, link)] as const)
    return Context.makeUnsafe(new Map(services))
  }

  #service(service: object, key: string, link: Link): object {
    const name = key.slice(key.lastIndexOf("/") + 1)
    return Object.fromEntries(
      Object.entries(service).map(([method, value]) => {
        const sent = (args: ReadonlyArray<unknown>, effect: () => unknown) =>
          this.#sent(link, { name: `${name}.${method}`, args, run: () => this.#run(effect()) })
        if (Effect.isEffect(value)) return [method, sent([], () => value)]
        if (typeof value !== "function") return [method, value]
        return [
          method,
          (...args: ReadonlyArray<unknown>) => {
            const effect = () => Reflect.apply(value, service, args)
            // A method that wraps other statements sends no statement of its own.
            return args.some(Effect.isEffect) ? effect() : sent(args, effect)
          }
        ]
      })
    )
  }

  #run(effect: unknown): Exit.Exit<unknown, unknown> {
    return isStatement(effect)
      ? Effect.runSyncExitWith(this.#context)(effect)
      : Exit.die(new Error("a method of a store must return an effect"))
  }

  #sent(link: Link, statement: Statement): Effect.Effect<unknown, unknown> {
    return Effect.callback((resume) => {
      this.#send(link, statement, (exit) => {
        if (link.machine.isAlive) resume(exit)
      })
    })
  }

  #send(link: Link, statement: Statement, reply: Reply): void {
    const go = this.#draws.share() * 2
    const back = this.#draws.share() * 2
    this.statements++
    const cutFor = link.cutUntil - this.#kernel.elapsed
    if (link.pendingCrash !== null) this.#crashAround(link, statement, go, link.pendingCrash)
    else if (cutFor > 0) {
      this.injected++
      if (link.isLate) this.#later(cutFor + go, () => void this.#apply(link, statement, lateInPartition))
      this.#later(this.#draws.between(1, statementTimeoutMs), () => reply(unavailable))
    } else {
      const fault = link.faults.shift()
      if (fault !== undefined) this.#applyFault(link, statement, reply, fault)
      else this.#forward(link, statement, reply, { go, back, how: "" })
    }
  }

  #crashAround(
    link: Link,
    statement: Statement,
    go: number,
    { when, downMs }: NonNullable<Link["pendingCrash"]>
  ): void {
    link.pendingCrash = null
    this.injected++
    if (when === "after") this.#later(go, () => void this.#apply(link, statement, "the last before a crash"))
    this.#later(go, () => link.die(downMs))
  }

  #forward(link: Link, statement: Statement, reply: Reply, { go, back, how }: Passage): void {
    this.#later(go, () => {
      const exit = this.#apply(link, statement, how)
      this.#later(back, () => reply(exit))
    })
  }

  #applyFault(link: Link, statement: Statement, reply: Reply, { fault, ms }: Link["faults"][number]): void {
    this.injected++
    switch (fault) {
      case "refused":
        this.#kernel.trace.add(`${link.node} ${statement.name} is refused`)
        this.#later(1, () => reply(unavailable))
        break
      case "answer lost":
        this.#later(1, () => void this.#apply(link, statement, fault))
        this.#later(Math.min(ms, statementTimeoutMs), () => reply(unavailable))
        break
      case "late":
        this.#later(ms, () => void this.#apply(link, statement, fault))
        this.#later(Math.min(ms / 2, statementTimeoutMs), () => reply(unavailable))
        break
      case "slow":
        this.#forward(link, statement, reply, { go: ms / 2, back: ms / 2, how: fault })
    }
  }

  #later(ms: number, act: () => void): void {
    this.#kernel.after(this.#database, ms, act)
  }

  #apply(link: Link, { name, args, run }: Statement, how: string): Exit.Exit<unknown, unknown> {
    const isLate = how === "late" || how === lateInPartition
    this.onApply({ node: link.node, at: this.#kernel.elapsed, isLate })
    const exit = run()
    const result = Exit.isSuccess(exit) ? summarize(exit.value) : "a failure"
    this.#kernel.trace.add(
      `${link.node} ${name}(${args.map(summarize).join(", ")}) returns ${result}${how && `: ${how}`}`
    )
    return exit
  }
}

const lateInPartition = "delayed by a partition"

interface Statement {
  readonly name: string
  readonly args: ReadonlyArray<unknown>
  readonly run: () => Exit.Exit<unknown, unknown>
}

/** Narrows an effect; store methods need no services. */
const isStatement = (value: unknown): value is Effect.Effect<unknown, unknown> => Effect.isEffect(value)

/** Latency of a statement and of its response, in milliseconds. */
interface Passage {
  readonly go: number
  readonly back: number
  readonly how: string
}

type Reply = (exit: Exit.Exit<unknown, unknown>) => void

const unavailable = Exit.fail(new StoreUnavailable({ operation: "a statement", cause: "the statement timed out" }))

/** Returns a short text that distinguishes values in a trace. */
const summarize = (value: unknown): string => {
  if (typeof value === "string") return value.slice(-6)
  if (Array.isArray(value)) return `[${value.map(summarize).join(" ")}]`
  if (typeof value !== "object" || value === null) return String(value)
  if ("_tag" in value) return "run" in value ? `${value._tag} ${summarize(value.run)}` : String(value._tag)
  if ("run_id" in value) return `run ${summarize(value.run_id)}${"status" in value ? ` ${value.status}` : ""}`
  if ("claims" in value) return summarize(value.claims)
  return "run" in value ? summarize(value.run) : "…"
}
