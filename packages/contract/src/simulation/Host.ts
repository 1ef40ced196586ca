/** One place in the cluster where a node runs, dies, and is started again under a new id. */
import {
  type BlobStore,
  Caller,
  type EnvId,
  type Feed,
  FeedLagMax,
  hostIdentity,
  layer,
  Sandbox,
  type Stores,
  sharedFeed,
  type WeftServices
} from "@weft/core"
import { Clock, Context, Effect, Exit, type Fiber, Layer, Random, Redacted, References, Scheduler, Scope } from "effect"
import { WebCrypto } from "effect/crypto"
import type { Draws } from "./Draws.ts"
import { guestSandbox } from "./Guest.ts"
import type { Kernel, Machine } from "./Kernel.ts"
import type { Line, Network } from "./Network.ts"
import type { Scenario } from "./Scenario.ts"
import type { Wire } from "./Wire.ts"

export interface Site {
  readonly kernel: Kernel
  readonly network: Network
  readonly wire: Wire
  readonly draws: Draws
  readonly crypto: typeof globalThis.crypto
  readonly scenario: Scenario
  readonly stores: Context.Context<Stores>
  readonly blobs: Context.Context<BlobStore>
  /** Changes the stores as a node has them: a fault that is to be found. */
  readonly alter: (stores: Context.Context<Stores>) => Context.Context<Stores>
}

const masterKeys = [Redacted.make(new Uint8Array(32).fill(7))] as const

/** Clocks of nodes are to agree within a few seconds: none is further from the true time than this, in milliseconds. */
export const skewMaxMs = 1_500

/** Between two tries to start a node that did not start. */
const restartMs = 1_000

/** What a request came to; null: its node died, or was stopped, before it said. */
export type Answer<A, E> = Exit.Exit<A, E> | null

export class Host {
  readonly #site: Site
  readonly #name: string
  #life: Life | null = null
  #lives = 0
  /** Milliseconds that the clock is ahead, whichever node runs here. */
  #skewMs = 0
  sandboxDownUntil = 0
  /** When nodes that ran here died, in milliseconds since the beginning, by their names. */
  readonly deaths = new Map<string, number>()
  /** The same of those that were stopped, when they had said their last, and whether others could hear that. */
  readonly stops = new Map<string, { readonly at: number; readonly isHeard: boolean }>()

  constructor(site: Site, name: string) {
    this.#site = site
    this.#name = name
  }

  get life(): Life | null {
    return this.#life
  }

  get isServing(): boolean {
    return this.#life?.services !== undefined
  }

  start(): void {
    const { kernel, network, wire } = this.#site
    const name = `${this.#name}.${++this.#lives}`
    const machine = kernel.machine(name)
    machine.skewMs = this.#skewMs
    const die = (downMs: number) => this.crash(downMs)
    const line: Line = { node: name, machine, cutUntil: 0, isLate: false, faults: [], doom: null, die }
    const life = new Life(this.#site, machine, line)
    this.#life = life
    kernel.trace.add(`${name} starts`)
    const stores = this.#site.alter(network.over(this.#site.stores, line))
    life.build(this.#layer(machine, stores), () => {
      // It could not reach the store, as a process that ends and is started again.
      machine.crash()
      wire.disconnect(machine)
      this.#life = null
      this.#startAfter(restartMs)
    })
  }

  /** The process is gone; it is started again after so many milliseconds. */
  crash(downMs: number): void {
    const life = this.#life
    if (life === null) return
    this.#site.kernel.trace.add(`${life.machine.name} dies`)
    life.machine.crash()
    this.deaths.set(life.machine.name, this.#site.kernel.elapsed)
    this.#site.wire.disconnect(life.machine)
    life.abandon()
    this.#life = null
    this.#startAfter(downMs)
  }

  /** The clock steps. */
  step(ms: number): void {
    this.#skewMs = Math.max(-skewMaxMs, Math.min(skewMaxMs, this.#skewMs + ms))
    if (this.#life !== null) this.#life.machine.skewMs = this.#skewMs
  }

  /**
   * Asks the node that runs here, if there is one, as the host and in the environment. What does not end of itself
   * `lasts`, and nobody waits for it.
   */
  ask<A, E>(
    envId: EnvId,
    effect: Effect.Effect<A, E, WeftServices | Feed | Caller>,
    answer: (answer: Answer<A, E>) => void,
    lasts = false
  ): void {
    if (this.#life === null) answer(null)
    else this.#life.ask(envId, effect, answer, lasts)
  }

  /** Stops the node well, then calls back. */
  stop(done: () => void): void {
    const life = this.#life
    if (life === null) {
      done()
      return
    }
    this.#site.kernel.trace.add(`${life.machine.name} stops`)
    life.close(() => {
      const { kernel, wire } = this.#site
      const at = wire.closedAt(life.machine) ?? kernel.elapsed
      this.stops.set(life.machine.name, { at, isHeard: wire.isHeard(life.machine) })
      wire.disconnect(life.machine)
      if (this.#life === life) this.#life = null
      done()
    })
  }

  #startAfter(ms: number): void {
    const { kernel } = this.#site
    kernel.after(kernel.world, ms, () => {
      if (this.#life === null) this.start()
    })
  }

  #layer(machine: Machine, stores: Context.Context<Stores>): Layer.Layer<WeftServices | Feed, unknown> {
    const { wire, kernel, scenario, blobs } = this.#site
    const sandbox = guestSandbox(scenario.rules, {
      isAvailable: () => kernel.elapsed >= this.sandboxDownUntil,
      noted: ({ run_id }) => kernel.trace.add(`${machine.name} invokes ${run_id.slice(-6)}`)
    })
    return layer({ masterKeys, deliveries: scenario.slots }).pipe(
      Layer.provide(Layer.succeed(Sandbox, sandbox)),
      Layer.provideMerge(sharedFeed(Effect.suspend(() => wire.connect(machine)))),
      Layer.provide(Layer.succeedContext(Context.merge(stores, blobs))),
      Layer.fresh
    )
  }
}

/** One process. */
export class Life {
  readonly machine: Machine
  readonly line: Line
  services: Context.Context<WeftServices | Feed> | undefined
  readonly #base: Context.Context<never>
  readonly #scope = Scope.makeUnsafe()
  readonly #pending = new Map<() => void, boolean>()

  constructor({ crypto, draws, kernel }: Site, machine: Machine, line: Line) {
    this.machine = machine
    this.line = line
    const random: Random.Random = { nextIntUnsafe: () => draws.word(), nextDoubleUnsafe: () => draws.share() }
    this.#base = Context.make(Scheduler.Scheduler, machine.scheduler).pipe(
      Context.add(Clock.Clock, machine.clock),
      Context.add(WebCrypto.WebCrypto, crypto),
      Context.add(Random.Random, random),
      Context.add(FeedLagMax, 512),
      Context.add(Scheduler.MaxOpsBeforeYield, kernel.pace.stepsMax),
      // Nodes that are cut off have much to say.
      Context.add(References.MinimumLogLevel, "None")
    )
  }

  /** Requests that wait for their answers and should have them soon. */
  get pending(): number {
    return [...this.#pending.values()].filter((lasts) => !lasts).length
  }

  build(layer: Layer.Layer<WeftServices | Feed, unknown>, failed: () => void): void {
    this.#fork(Layer.buildWithScope(layer, this.#scope)).addObserver((exit) => {
      if (Exit.isSuccess(exit)) this.services = exit.value
      else if (this.machine.isAlive) failed()
    })
  }

  /** As `Host.ask`. */
  ask<A, E>(
    envId: EnvId,
    effect: Effect.Effect<A, E, WeftServices | Feed | Caller>,
    answer: (answer: Answer<A, E>) => void,
    lasts: boolean
  ): void {
    const { services } = this
    if (services === undefined) {
      answer(null)
      return
    }
    const lost = () => answer(null)
    this.#pending.set(lost, lasts)
    const asked = effect.pipe(Effect.provideService(Caller, hostIdentity(envId)), Effect.provideContext(services))
    this.#fork(asked).addObserver((exit) => {
      if (this.#pending.delete(lost)) answer(exit)
    })
  }

  /** Nobody will answer any more. */
  abandon(): void {
    for (const lost of [...this.#pending.keys()]) {
      this.#pending.delete(lost)
      lost()
    }
    this.services = undefined
  }

  close(done: () => void): void {
    this.services = undefined
    this.#fork(Scope.close(this.#scope, Exit.void)).addObserver(() => {
      this.abandon()
      done()
    })
  }

  #fork<A, E>(effect: Effect.Effect<A, E>): Fiber.Fiber<A, E> {
    return Effect.runForkWith(this.#base)(effect)
  }
}
