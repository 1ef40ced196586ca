/**
 * What lies between nodes and their store: time, and everything that can go wrong with a statement on its way.
 *
 * A statement is one step of the store. Nobody can call it back: it arrives, or does not, whatever became of its node.
 */
import { type Stores, StoreUnavailable } from "@weft/core"
import { Clock, Context, Effect, Exit } from "effect"
import type { Draws } from "./Draws.ts"
import type { Kernel, Machine } from "./Kernel.ts"
import type { StoreFault } from "./Scenario.ts"
import type { Stored } from "./Truth.ts"

/** How a node's way to the store is, and what is to happen to its next statements. */
export interface Line {
  readonly node: string
  readonly machine: Machine
  /** Milliseconds since the beginning until which nothing arrives. */
  cutUntil: number
  /** Whether what is sent meanwhile arrives when that is over. */
  isLate: boolean
  /** Statements that go wrong, the next first. */
  readonly faults: Array<{ readonly fault: StoreFault; readonly ms: number }>
  /** The node dies before or after its next statement is done. */
  doom: { readonly when: "before" | "after"; readonly downMs: number } | null
  readonly die: (downMs: number) => void
}

/** Until a statement that does not arrive is given up, at most. */
const patienceMs = 5_000

export class Network {
  readonly #kernel: Kernel
  readonly #draws: Draws
  readonly #database: Machine
  readonly #context: Context.Context<never>
  /** Is told whose statement the store does next. */
  applying: (storing: Stored) => void = () => undefined
  /** Faults that something happened by. */
  injected = 0
  statements = 0

  constructor(kernel: Kernel, draws: Draws, database: Machine) {
    this.#kernel = kernel
    this.#draws = draws
    this.#database = database
    this.#context = Context.make(Clock.Clock, database.clock)
  }

  /** The stores as a node has them over its line. */
  over(stores: Context.Context<Stores>, line: Line): Context.Context<Stores> {
    const services = [...stores.mapUnsafe].map(([key, service]) => [key, this.#service(service, key, line)] as const)
    return Context.makeUnsafe(new Map(services))
  }

  #service(service: object, key: string, line: Line): object {
    const name = key.slice(key.lastIndexOf("/") + 1)
    return Object.fromEntries(
      Object.entries(service).map(([method, value]) => {
        const sent = (args: ReadonlyArray<unknown>, effect: () => unknown) =>
          this.#sent(line, { name: `${name}.${method}`, args, run: () => this.#run(effect()) })
        if (Effect.isEffect(value)) return [method, sent([], () => value)]
        if (typeof value !== "function") return [method, value]
        return [
          method,
          (...args: ReadonlyArray<unknown>) => {
            const effect = () => Reflect.apply(value, service, args)
            // What goes round other statements is none itself.
            return args.some(Effect.isEffect) ? effect() : sent(args, effect)
          }
        ]
      })
    )
  }

  #run(effect: unknown): Exit.Exit<unknown, unknown> {
    return isStatement(effect)
      ? Effect.runSyncExitWith(this.#context)(effect)
      : Exit.die(new Error("a method of a store gives an effect"))
  }

  #sent(line: Line, statement: Statement): Effect.Effect<unknown, unknown> {
    return Effect.callback((resume) => {
      this.#send(line, statement, (exit) => {
        if (line.machine.isAlive) resume(exit)
      })
    })
  }

  #send(line: Line, statement: Statement, reply: Reply): void {
    const go = this.#draws.share() * 2
    const back = this.#draws.share() * 2
    this.statements++
    const cutFor = line.cutUntil - this.#kernel.elapsed
    if (line.doom !== null) this.#isLast(line, statement, go, line.doom)
    else if (cutFor > 0) {
      this.injected++
      if (line.isLate) this.#later(cutFor + go, () => void this.#apply(line, statement, "cut off, late"))
      this.#later(this.#draws.between(1, patienceMs), () => reply(unavailable))
    } else {
      const fault = line.faults.shift()
      if (fault !== undefined) this.#goesWrong(line, statement, reply, fault)
      else this.#passes(line, statement, reply, { go, back, how: "" })
    }
  }

  #isLast(line: Line, statement: Statement, go: number, { when, downMs }: NonNullable<Line["doom"]>): void {
    line.doom = null
    this.injected++
    if (when === "after") this.#later(go, () => void this.#apply(line, statement, "the last"))
    this.#later(go, () => line.die(downMs))
  }

  #passes(line: Line, statement: Statement, reply: Reply, { go, back, how }: Passage): void {
    this.#later(go, () => {
      const exit = this.#apply(line, statement, how)
      this.#later(back, () => reply(exit))
    })
  }

  #goesWrong(line: Line, statement: Statement, reply: Reply, { fault, ms }: Line["faults"][number]): void {
    this.injected++
    switch (fault) {
      case "refused":
        this.#kernel.trace.add(`${line.node} ${statement.name} is refused`)
        this.#later(1, () => reply(unavailable))
        break
      case "answer lost":
        this.#later(1, () => void this.#apply(line, statement, fault))
        this.#later(Math.min(ms, patienceMs), () => reply(unavailable))
        break
      case "late":
        this.#later(ms, () => void this.#apply(line, statement, fault))
        this.#later(Math.min(ms / 2, patienceMs), () => reply(unavailable))
        break
      case "slow":
        this.#passes(line, statement, reply, { go: ms / 2, back: ms / 2, how: fault })
    }
  }

  #later(ms: number, act: () => void): void {
    this.#kernel.after(this.#database, ms, act)
  }

  #apply(line: Line, { name, args, run }: Statement, how: string): Exit.Exit<unknown, unknown> {
    this.applying({ node: line.node, at: this.#kernel.elapsed, isLate: how.endsWith("late") })
    const exit = run()
    const told = Exit.isSuccess(exit) ? tell(exit.value) : "fails"
    this.#kernel.trace.add(`${line.node} ${name}(${args.map(tell).join(", ")}) gives ${told}${how && `: ${how}`}`)
    return exit
  }
}

interface Statement {
  readonly name: string
  readonly args: ReadonlyArray<unknown>
  readonly run: () => Exit.Exit<unknown, unknown>
}

/** Stores need nothing. */
const isStatement = (value: unknown): value is Effect.Effect<unknown, unknown> => Effect.isEffect(value)

/** Milliseconds there and back. */
interface Passage {
  readonly go: number
  readonly back: number
  readonly how: string
}

type Reply = (exit: Exit.Exit<unknown, unknown>) => void

const unavailable = Exit.fail(new StoreUnavailable({ operation: "a statement", cause: "it did not arrive" }))

/** What tells values apart, in short. */
const tell = (value: unknown): string => {
  if (typeof value === "string") return value.slice(-6)
  if (Array.isArray(value)) return `[${value.map(tell).join(" ")}]`
  if (typeof value !== "object" || value === null) return String(value)
  if ("_tag" in value) return "run" in value ? `${value._tag} ${tell(value.run)}` : String(value._tag)
  if ("run_id" in value) return `run ${tell(value.run_id)}${"status" in value ? ` ${value.status}` : ""}`
  if ("claims" in value) return tell(value.claims)
  return "run" in value ? tell(value.run) : "…"
}
