/** A machine of the cluster. Its node may crash; the next node starts under a new id. */
import { Caller, type EnvId, hostIdentity, layer, type WeftServices } from "@weft/core"
import {
  type BlobStore,
  busLagMax,
  type ClusterBus,
  Sandbox,
  type Stores,
  sharedClusterBus,
  Turns
} from "@weft/core/adapter"
import { eventLoop, WorkScheduler } from "@weft/core/internal"
import { Clock, Context, Effect, Exit, type Fiber, Layer, Random, Redacted, References, Scheduler, Scope } from "effect"
import { WebCrypto } from "effect/crypto"
import type { Draws } from "./Draws.ts"
import type { FaultyTransport } from "./FaultyTransport.ts"
import { guestSandbox } from "./Guest.ts"
import type { Kernel, Machine } from "./Kernel.ts"
import type { Link, Network } from "./Network.ts"
import type { ReferenceModel } from "./ReferenceModel.ts"
import type { Scenario } from "./Scenario.ts"
import { type Flows, makeFlowInvoker } from "./workflows/FlowSandbox.ts"

export interface Environment {
  readonly kernel: Kernel
  readonly network: Network
  readonly transport: FaultyTransport
  readonly draws: Draws
  readonly crypto: typeof globalThis.crypto
  readonly scenario: Scenario
  readonly model: ReferenceModel
  readonly flows: Flows
  readonly stores: Context.Context<Stores>
  readonly blobs: Context.Context<BlobStore>
  /** Alters the stores of each node: plants a fault that the simulation must find. */
  readonly alter: (stores: Context.Context<Stores>) => Context.Context<Stores>
}

const masterKeys = [Redacted.make(new Uint8Array(32).fill(7))] as const

/** Maximum clock skew of a node in either direction, in milliseconds. Nodes require clocks that agree within seconds. */
export const skewMaxMs = 1_500

/** Delay before another attempt to start a node, in milliseconds. */
const restartMs = 1_000

/** Content of the uploaded build. */
export const buildText = "the functions"

/** Result of a request; null if its node crashed or stopped before it responded. */
export type Answer<A, E> = Exit.Exit<A, E> | null

interface Partition {
  readonly from: number
  readonly until: number
}

export class Host {
  readonly #environment: Environment
  readonly #name: string
  #instance: NodeInstance | null = null
  #generation = 0
  /** Milliseconds that the clock of this machine is ahead. */
  #skewMs = 0
  sandboxDownUntil = 0
  /** Crashes of nodes on this machine: elapsed milliseconds by the name of the node. */
  readonly deaths = new Map<string, number>()
  /** Partitions of nodes from the store, by the name of the node, in the order of their beginnings. */
  readonly #partitions = new Map<string, Array<Partition>>()
  /** Stops of nodes by name: when the node closed its transport, and whether all nodes received its last message. */
  readonly stops = new Map<string, { readonly at: number; readonly isReceived: boolean }>()

  constructor(environment: Environment, name: string) {
    this.#environment = environment
    this.#name = name
  }

  get instance(): NodeInstance | null {
    return this.#instance
  }

  get isServing(): boolean {
    return this.#instance?.services !== undefined
  }

  start(): void {
    const { kernel, network, transport } = this.#environment
    const name = `${this.#name}.${++this.#generation}`
    const machine = kernel.machine(name)
    machine.skewMs = this.#skewMs
    const die = (downMs: number) => this.crash(downMs)
    const link: Link = { node: name, machine, cutUntil: 0, isLate: false, faults: [], pendingCrash: null, die }
    const instance = new NodeInstance(this.#environment, machine, link)
    this.#instance = instance
    kernel.trace.add(`${name} starts`)
    const stores = this.#environment.alter(network.over(this.#environment.stores, link))
    instance.build(this.#layer(machine, stores), () => {
      // The node could not reach the store. Like a process that exits, it is started again.
      machine.crash()
      transport.disconnect(machine)
      this.#instance = null
      this.#startAfter(restartMs)
    })
  }

  /** Kills the node, and starts the next one after `downMs` milliseconds. */
  crash(downMs: number): void {
    const instance = this.#instance
    if (instance === null) return
    this.#environment.kernel.trace.add(`${instance.machine.name} dies`)
    instance.machine.crash()
    this.deaths.set(instance.machine.name, this.#environment.kernel.elapsed)
    this.#environment.transport.disconnect(instance.machine)
    instance.abandon()
    this.#instance = null
    this.#startAfter(downMs)
  }

  /** Cuts the node off from the store for `forMs` milliseconds. */
  partition(forMs: number, isLate: boolean): void {
    if (this.#instance === null) return
    const { link, machine } = this.#instance
    const { elapsed } = this.#environment.kernel
    link.cutUntil = elapsed + forMs
    link.isLate = isLate
    this.#partitions.set(machine.name, [
      ...(this.#partitions.get(machine.name) ?? []),
      { from: elapsed, until: link.cutUntil }
    ])
  }

  /** Returns for how long the node was cut off from the store between two instants, in milliseconds. */
  partitionedMs(node: string, from: number, until: number): number {
    let [covered, sum] = [from, 0]
    for (const partition of this.#partitions.get(node) ?? []) {
      const end = Math.min(partition.until, until)
      sum += Math.max(0, end - Math.max(partition.from, covered))
      covered = Math.max(covered, end)
    }
    return sum
  }

  /** Steps the clock. */
  step(ms: number): void {
    this.#skewMs = Math.max(-skewMaxMs, Math.min(skewMaxMs, this.#skewMs + ms))
    if (this.#instance !== null) this.#instance.machine.skewMs = this.#skewMs
  }

  /**
   * Runs an effect on the current node with the identity of the host; responds with null if no node is up. An effect
   * that does not end on its own is `isLongRunning`, and nothing waits for it.
   */
  request<A, E>(
    envId: EnvId,
    effect: Effect.Effect<A, E, WeftServices | ClusterBus | Caller>,
    answer: (answer: Answer<A, E>) => void,
    isLongRunning = false
  ): void {
    if (this.#instance === null) answer(null)
    else this.#instance.request(envId, effect, answer, isLongRunning)
  }

  /** Shuts the node down, then calls back. */
  stop(done: () => void): void {
    const instance = this.#instance
    if (instance === null) {
      done()
      return
    }
    this.#environment.kernel.trace.add(`${instance.machine.name} stops`)
    instance.close(() => {
      const { kernel, transport } = this.#environment
      const at = transport.closedAt(instance.machine) ?? kernel.elapsed
      this.stops.set(instance.machine.name, { at, isReceived: transport.isReceived(instance.machine) })
      transport.disconnect(instance.machine)
      if (this.#instance === instance) this.#instance = null
      done()
    })
  }

  #startAfter(ms: number): void {
    const { kernel } = this.#environment
    kernel.after(kernel.world, ms, () => {
      if (this.#instance === null) this.start()
    })
  }

  #layer(machine: Machine, stores: Context.Context<Stores>): Layer.Layer<WeftServices | ClusterBus, unknown> {
    const { transport, kernel, scenario, blobs, flows, model } = this.#environment
    const sandbox = guestSandbox(scenario, {
      invokeFlow: makeFlowInvoker({ kernel, machine, flows, model: model.workflows }, buildText),
      isAvailable: () => kernel.elapsed >= this.sandboxDownUntil,
      onInvoke: ({ run_id }) => kernel.trace.add(`${machine.name} invokes ${run_id.slice(-6)}`)
    })
    return layer({ masterKeys, deliveries: scenario.slots }).pipe(
      Layer.provide(Layer.succeed(Sandbox, sandbox)),
      Layer.provideMerge(sharedClusterBus(Effect.suspend(() => transport.connect(machine)))),
      Layer.provide(Layer.succeedContext(Context.merge(stores, blobs))),
      Layer.fresh
    )
  }
}

/** A node from its start to its end. */
export class NodeInstance {
  readonly machine: Machine
  readonly link: Link
  services: Context.Context<WeftServices | ClusterBus> | undefined
  readonly #base: Context.Context<never>
  readonly #scope = Scope.makeUnsafe()
  readonly #pending = new Map<() => void, boolean>()

  constructor({ crypto, draws, kernel }: Environment, machine: Machine, link: Link) {
    this.machine = machine
    this.link = link
    const random: Random.Random = { nextIntUnsafe: () => draws.word(), nextDoubleUnsafe: () => draws.share() }
    this.#base = Context.make(Scheduler.Scheduler, machine.scheduler).pipe(
      Context.add(Clock.Clock, machine.clock),
      Context.add(WebCrypto.WebCrypto, crypto),
      Context.add(Random.Random, random),
      Context.add(busLagMax, 512),
      Context.add(Scheduler.MaxOpsBeforeYield, kernel.pace.stepsMax),
      // Disconnected nodes log much.
      Context.add(References.MinimumLogLevel, "None"),
      // Turns follow the real time that work takes, so they would differ between runs of a seed.
      Context.add(Turns, new WorkScheduler({ ...eventLoop, now: () => 0 }))
    )
  }

  /** Number of requests that still wait for a response, without long-running ones. */
  get pending(): number {
    return [...this.#pending.values()].filter((isLongRunning) => !isLongRunning).length
  }

  build(layer: Layer.Layer<WeftServices | ClusterBus, unknown>, failed: () => void): void {
    this.#fork(Layer.buildWithScope(layer, this.#scope)).addObserver((exit) => {
      if (Exit.isSuccess(exit)) this.services = exit.value
      else if (this.machine.isAlive) failed()
    })
  }

  /** See `Host.request`. */
  request<A, E>(
    envId: EnvId,
    effect: Effect.Effect<A, E, WeftServices | ClusterBus | Caller>,
    answer: (answer: Answer<A, E>) => void,
    isLongRunning: boolean
  ): void {
    const { services } = this
    if (services === undefined) {
      answer(null)
      return
    }
    const lost = () => answer(null)
    this.#pending.set(lost, isLongRunning)
    const provided = effect.pipe(Effect.provideService(Caller, hostIdentity(envId)), Effect.provideContext(services))
    this.#fork(provided).addObserver((exit) => {
      if (this.#pending.delete(lost)) answer(exit)
    })
  }

  /** Responds to all pending requests with null. */
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
