/**
 * A scenario, played: a cluster of whole nodes in one process and in virtual time, with everything that goes wrong.
 *
 * After the last fault the cluster has time to come to rest; then everything that was promised must be so.
 */
import { createHash } from "node:crypto"
import {
  type BlobStore,
  Builds,
  type EnvId,
  MemoryStores,
  NodeMetrics,
  Projects,
  type Stores,
  Tenants,
  utf8Encode
} from "@weft/core"
import { Cause, Clock, type Context, Effect, Exit, Layer, Scope } from "effect"
import { WebCrypto } from "effect/crypto"
import { envId as anyEnvId } from "../Samples.ts"
import { audit } from "./Audit.ts"
import { Clients } from "./Clients.ts"
import { Draws } from "./Draws.ts"
import { Host, type Site, skewMaxMs } from "./Host.ts"
import { Kernel } from "./Kernel.ts"
import { Network } from "./Network.ts"
import { observed } from "./Observed.ts"
import type { Fault, Scenario } from "./Scenario.ts"
import { SeededCrypto } from "./SeededCrypto.ts"
import { Truth } from "./Truth.ts"
import { Watcher } from "./Watcher.ts"
import { Wire } from "./Wire.ts"

/** A change of the stores: a fault that a simulation is to find. */
export type Alter = (stores: Context.Context<Stores>) => Context.Context<Stores>

export interface SimulationOptions {
  /** Of the store itself. */
  readonly store?: Alter
  /** Of what each node has of it. */
  readonly node?: Alter
  readonly keepsTrace?: boolean
  /** Turns of fibers and timers, of which a history has some thousands: with more the world turns in a circle. */
  readonly turnsMax?: number
}

export interface Played {
  /** Rules that were broken; none is as it should be. */
  readonly violations: ReadonlyArray<string>
  /** The same for the same scenario, and for hardly any other. */
  readonly hash: string
  readonly trace: ReadonlyArray<string>
  readonly counts: Counts
}

export interface Counts {
  readonly requests: number
  readonly acknowledged: number
  readonly events: number
  readonly runs: number
  readonly statements: number
  /** How often something went wrong as it was drawn. */
  readonly faults: number
  /** Turns of fibers and timers. */
  readonly turns: number
  /** Virtual milliseconds. */
  readonly elapsed: number
}

/** How long the cluster may take to come to rest after the last request, in milliseconds. */
const restMs = 900_000

/** Between the end of the last fault and the first look, in milliseconds. */
const quietMs = 5_000

/** How long a node may take to stop: it gives what runs there half a minute. */
const stopMs = 60_000

/** How long it may take, when all has come to rest, until who watches was told of it, in milliseconds. */
const toldMs = 15_000

/** The same for what reached the store late. */
const toldLateMs = 200_000

/** No tick comes later than this, in milliseconds. */
const ticksUntilMs = 120_000

const turnsMaxDefault = 1_000_000

export const play = async (scenario: Scenario, options: SimulationOptions = {}): Promise<Played> => {
  const simulation = new Simulation(scenario, options)
  await simulation.run()
  return simulation.played
}

class Simulation {
  readonly #scenario: Scenario
  readonly #kernel: Kernel
  readonly #crypto: SeededCrypto
  readonly #truth: Truth
  readonly #network: Network
  readonly #wire: Wire
  readonly #hosts: ReadonlyArray<Host>
  readonly #stores: Context.Context<Stores>
  readonly #turnsMax: number
  #clients: Clients | null = null
  #faults = 0

  constructor(scenario: Scenario, options: SimulationOptions) {
    const { store = same, node = same, keepsTrace = false, turnsMax = turnsMaxDefault } = options
    const draws = (name: string) => new Draws(scenario.seed, name)
    const kernel = new Kernel(draws("turns"), scenario, keepsTrace)
    const database = kernel.machine("database")
    this.#scenario = scenario
    this.#turnsMax = turnsMax
    this.#kernel = kernel
    this.#truth = new Truth(scenario.faults.some(({ _tag }) => _tag === "Clock") ? 2 * skewMaxMs : 0)
    this.#crypto = new SeededCrypto(draws("crypto"))
    this.#network = new Network(kernel, draws("network"), database)
    this.#network.applying = (storing) => this.#truth.by(storing)
    this.#wire = new Wire(kernel, draws("wire"))
    const { crypto } = this.#crypto
    const built = <A>(layer: Layer.Layer<A>): Context.Context<A> =>
      Layer.build(layer).pipe(
        Scope.provide(Scope.makeUnsafe()),
        Effect.provideService(Clock.Clock, database.clock),
        Effect.provideService(WebCrypto.WebCrypto, crypto),
        Effect.runSync
      )
    this.#stores = store(built(MemoryStores.database))
    const site: Site = {
      kernel,
      network: this.#network,
      wire: this.#wire,
      draws: draws("chance"),
      crypto,
      scenario,
      stores: observed(this.#stores, this.#truth),
      blobs: built<BlobStore>(MemoryStores.blobs),
      alter: node
    }
    this.#hosts = Array.from({ length: scenario.nodes }, (_, index) => new Host(site, `node${index}`))
  }

  get played(): Played {
    const clients = this.#clients
    return {
      violations: this.#truth.violations,
      hash: this.#kernel.trace.hash,
      trace: this.#kernel.trace.lines,
      counts: {
        requests: clients?.asked ?? 0,
        acknowledged: clients?.acknowledged ?? 0,
        events: this.#truth.events.size,
        runs: this.#truth.runs.size,
        statements: this.#network.statements,
        faults: this.#faults + this.#network.injected + this.#wire.injected,
        turns: this.#kernel.turns,
        elapsed: this.#kernel.elapsed
      }
    }
  }

  async run(): Promise<void> {
    const envId = await this.#furnish()
    if (envId === null) return
    const clients = new Clients(this.#kernel, this.#hosts, envId, this.#truth, this.#scenario)
    this.#clients = clients
    const watcher = new Watcher(this.#kernel, this.#hosts, envId, this.#truth, this.#wire)
    watcher.begin(this.#scenario.seed % this.#scenario.nodes)
    const from = this.#kernel.elapsed
    for (const step of this.#scenario.steps) {
      this.#at(from + step.at, () => {
        if (step._tag === "Restart") this.#restart(step.node)
        else clients.ask(step)
      })
    }
    for (const fault of this.#scenario.faults) this.#at(from + fault.at, () => this.#inject(fault))
    const last = Math.max(0, ...this.#scenario.steps.map(({ at }) => at))
    await this.#pass(from + last)
    if (!(await this.#rest(clients, envId))) return
    // What is told from the store is told by then.
    await this.#pass(this.#kernel.elapsed + toldMs)
    if (watcher.missing.length > 0) await this.#pass(this.#kernel.elapsed + toldLateMs)
    this.#truth.must(watcher.isWatching, "who wants to watch can")
    for (const missing of watcher.missing) this.#truth.must(false, `${missing}, was told`)
    watcher.end()
    if (this.#isFine) await this.#close(envId)
  }

  /** All nodes, and an environment with the functions deployed in it. */
  async #furnish(): Promise<EnvId | null> {
    for (const host of this.#hosts) host.start()
    let envId: EnvId | null = null
    await this.#until(() => this.#hosts.every((host) => host.isServing), 30_000)
    this.#hosts[0]?.ask(anyEnvId(1), makeEnv, (exit) => {
      if (exit !== null && Exit.isSuccess(exit)) envId = exit.value
      else
        this.#truth.violations.push(
          `there is an environment, not ${exit === null ? "no answer" : Cause.pretty(exit.cause)}`
        )
    })
    await this.#until(() => envId !== null, 30_000)
    this.#truth.must(envId !== null, "there is an environment within half a minute")
    if (envId === null) return null
    let isDeployed = false
    this.#hosts[0]?.ask(envId, deploy, (exit) => {
      isDeployed = exit !== null && Exit.isSuccess(exit)
      this.#truth.must(isDeployed, `the functions are deployed, not ${exit}`)
    })
    await this.#until(() => isDeployed, 30_000)
    this.#truth.must(isDeployed, "the functions are deployed within half a minute")
    // Everybody has heard of it by then.
    await this.#pass(this.#kernel.elapsed + 200)
    return envId
  }

  #at(elapsed: number, act: () => void): void {
    this.#kernel.after(this.#kernel.world, elapsed - this.#kernel.elapsed, act)
  }

  #restart(node: number): void {
    const host = this.#hosts[node]
    if (host?.isServing) host.stop(() => host.start())
  }

  #inject(fault: Fault): void {
    const host = this.#hosts[fault.node]
    const life = host?.life
    if (host === undefined || life === null || life === undefined) return
    this.#kernel.trace.add(`${life.machine.name}: ${JSON.stringify(fault)}`)
    const { elapsed } = this.#kernel
    switch (fault._tag) {
      case "Crash":
        this.#faults++
        if (fault.when === "now") host.crash(fault.downMs)
        else life.line.doom = { when: fault.when, downMs: fault.downMs }
        break
      case "Partition":
        life.line.cutUntil = elapsed + fault.forMs
        life.line.isLate = fault.isLate
        break
      case "Store":
        for (let call = 0; call < fault.calls; call++) life.line.faults.push({ fault: fault.fault, ms: fault.ms })
        break
      case "Feed":
        this.#wire.set(life.machine, fault.fault)
        this.#at(elapsed + fault.forMs, () => this.#wire.set(life.machine, null))
        break
      case "Clock":
        this.#faults++
        host.step(fault.ms)
        break
      case "Sandbox":
        this.#faults++
        host.sandboxDownUntil = elapsed + fault.forMs
    }
  }

  /** Whether the cluster came to rest: nothing is left to do, nobody waits, and no node holds anything. */
  async #rest(clients: Clients, envId: EnvId): Promise<boolean> {
    for (const host of this.#hosts) this.#heal(host)
    const { elapsed } = this.#kernel
    await this.#pass(Math.max(elapsed, ticksUntilMs, ...this.#scenario.faults.map(endOf)) + quietMs)
    const until = this.#kernel.elapsed + restMs
    let held = "nobody was asked"
    while (this.#kernel.elapsed < until && this.#isFine) {
      await this.#pass(this.#kernel.elapsed + 1_000)
      const isQuiet = this.#truth.isIdle && clients.isServed && this.#hosts.every((host) => host.isServing)
      held = isQuiet ? await this.#held(envId) : "not all is done"
      if (isQuiet && held === "") return this.#isFine
    }
    this.#truth.must(!this.#isFine, `all comes to rest: ${this.#truth.left}; ${clients.left}; ${held}`)
    return false
  }

  /** What nodes hold that should hold nothing; empty where it is so. */
  async #held(envId: EnvId): Promise<string> {
    const held: Array<string> = []
    for (const host of this.#hosts) {
      let running: number | null = null
      host.ask(envId, runningHere, (exit) => {
        running = exit !== null && Exit.isSuccess(exit) ? exit.value : Number.NaN
      })
      await this.#until(() => running !== null, this.#kernel.elapsed + stopMs)
      if (running !== 0) held.push(`${host.life?.machine.name} has ${running} slots taken`)
    }
    return held.join(", ")
  }

  /** From now on nothing new goes wrong; what is under way ends in its time. */
  #heal({ life }: Host): void {
    if (life === null) return
    life.line.faults.length = 0
    life.line.doom = null
  }

  /** What is stored, and what nodes hold, is looked at; then they are stopped, and must leave nothing behind. */
  async #close(envId: EnvId): Promise<void> {
    audit({ stores: this.#stores, truth: this.#truth, envId, rules: this.#scenario.rules })
    for (const host of this.#hosts) {
      const { life } = host
      let isStopped = false
      host.stop(() => {
        isStopped = true
      })
      await this.#until(() => isStopped, this.#kernel.elapsed + stopMs)
      this.#truth.must(isStopped, "a node that is to stop stops")
      if (life !== null)
        this.#truth.must(this.#kernel.timersOf(life.machine) === 0, "a node that has stopped has no timers")
    }
  }

  get #isFine(): boolean {
    return this.#truth.violations.length === 0
  }

  #pass(until: number): Promise<void> {
    return this.#until(() => false, until)
  }

  /** Has the world turn until it is so, or the time is over, or something is wrong. */
  async #until(isSo: () => boolean, until: number): Promise<void> {
    while (!isSo() && this.#isFine) {
      this.#truth.must(this.#kernel.turns < this.#turnsMax, "the world does not turn in a circle")
      const isMore = this.#kernel.turn(until)
      const settled = this.#crypto.settled()
      if (settled !== null) await settled
      else if (!isMore) return
    }
  }
}

/** When a fault is over, in milliseconds since the first step. */
const endOf = (fault: Fault): number => {
  const { at } = fault
  if ("forMs" in fault) return at + fault.forMs
  return at + (fault._tag === "Store" ? fault.ms : 0)
}

const same: Alter = (stores) => stores

/** How many slots the node has taken. */
const runningHere = Effect.gen(function* () {
  const series = yield* (yield* NodeMetrics).read
  const found = series.find(({ name }) => name === "weft_deliveries_running")
  return found !== undefined && "value" in found ? found.value : Number.NaN
})

const makeEnv = Effect.gen(function* () {
  const tenants = yield* Tenants
  const org = yield* tenants.createOrg({ slug: "acme" })
  return (yield* tenants.createEnv(org.org_id, { name: "production" })).env_id
})

const deploy = Effect.gen(function* () {
  const projects = yield* Projects
  const builds = yield* Builds
  const zip = utf8Encode("the functions")
  const hash = createHash("sha256").update(zip).digest("hex")
  yield* projects.create({ name: "app" })
  const { build } = yield* builds.upload("app", { zip, hash })
  yield* builds.deploy("app", build.build_id)
})
