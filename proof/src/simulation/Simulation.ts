/**
 * Runs a scenario: a cluster of complete nodes in one process, in virtual time, with faults.
 *
 * After the last fault the cluster gets time to become idle. Then every guarantee is checked.
 */
import { createHash } from "node:crypto"
import { Builds, EnvId, Projects, Tenants } from "@weft/core"
import { type BlobStore, NodeMetrics, type Stores, utf8Encode } from "@weft/core/adapter"
import { MemoryStores } from "@weft/core/testing"
import { Cause, Clock, type Context, Effect, Exit, Layer, Scope } from "effect"
import { WebCrypto } from "effect/crypto"
import { audit } from "./Audit.ts"
import { Clients } from "./Clients.ts"
import { Draws } from "./Draws.ts"
import { FaultyTransport } from "./FaultyTransport.ts"
import { buildText, type Environment, Host, skewMaxMs } from "./Host.ts"
import { Kernel } from "./Kernel.ts"
import { Network } from "./Network.ts"
import { ReferenceModel } from "./ReferenceModel.ts"
import type { Fault, Scenario } from "./Scenario.ts"
import { SeededCrypto } from "./SeededCrypto.ts"
import { observeStores } from "./StoreObserver.ts"
import { Watcher } from "./Watcher.ts"
import { Flows } from "./workflows/FlowSandbox.ts"
import { auditWorkflows } from "./workflows/WorkflowAudit.ts"

/** Environment of the requests that are made before any environment exists. */
const unusedEnvId = EnvId.make("01977420-0002-7000-8000-000000000001")

/** A change of the stores: a planted fault that a simulation must find. */
export type Alter = (stores: Context.Context<Stores>) => Context.Context<Stores>

export interface SimulationOptions {
  /** Alters the shared store. */
  readonly store?: Alter
  /** Alters the stores of each node. */
  readonly node?: Alter
  readonly recordsTrace?: boolean
  /** Maximum turns of fibers and timers. A history has some thousands; more mean an endless loop. */
  readonly turnsMax?: number
}

export interface SimulationResult {
  /** Broken rules; empty if everything held. */
  readonly violations: ReadonlyArray<string>
  /** Hash of the trace. */
  readonly hash: string
  readonly trace: ReadonlyArray<string>
  readonly counts: Counts
}

export interface Counts {
  readonly requests: number
  readonly acknowledged: number
  readonly events: number
  readonly runs: number
  /** Durable runs, and their activations, recorded results and executed bodies. */
  readonly workflows: number
  readonly activations: number
  readonly results: number
  readonly bodies: number
  readonly statements: number
  /** Faults that took effect. */
  readonly faults: number
  /** Turns of fibers and timers. */
  readonly turns: number
  /** Virtual milliseconds. */
  readonly elapsed: number
}

/** Maximum time until the cluster is idle after the last fault, in milliseconds. */
const idleWithinMs = 900_000

/** Delay between the end of the last fault and the first check, in milliseconds. */
const quietMs = 5_000

/** Maximum time of a shutdown, in milliseconds. Its grace period for runs is 30 s. */
const stopMs = 60_000

/** Maximum time until a watcher of an idle cluster has received everything, in milliseconds. */
const deliveredMs = 15_000

/** The same for writes that reached the store late. */
const deliveredLateMs = 200_000

/** Time of the last tick, in elapsed milliseconds. */
const ticksUntilMs = 120_000

const turnsMaxDefault = 1_000_000

export const runScenario = async (scenario: Scenario, options: SimulationOptions = {}): Promise<SimulationResult> => {
  const simulation = new Simulation(scenario, options)
  await simulation.run()
  return simulation.result
}

class Simulation {
  readonly #scenario: Scenario
  readonly #kernel: Kernel
  readonly #crypto: SeededCrypto
  readonly #model: ReferenceModel
  readonly #network: Network
  readonly #transport: FaultyTransport
  readonly #hosts: ReadonlyArray<Host>
  readonly #stores: Context.Context<Stores>
  readonly #turnsMax: number
  readonly #flows = new Flows()
  #clients: Clients | null = null
  #faults = 0

  constructor(scenario: Scenario, options: SimulationOptions) {
    const { store = same, node = same, recordsTrace = false, turnsMax = turnsMaxDefault } = options
    const draws = (name: string) => new Draws(scenario.seed, name)
    const kernel = new Kernel(draws("turns"), scenario, recordsTrace)
    const database = kernel.machine("database")
    this.#scenario = scenario
    this.#turnsMax = turnsMax
    this.#kernel = kernel
    const slackMs = scenario.faults.some(({ _tag }) => _tag === "Clock") ? 2 * skewMaxMs : 0
    this.#model = new ReferenceModel(slackMs, scenario.flows, () => kernel.elapsed)
    this.#crypto = new SeededCrypto(draws("crypto"))
    this.#network = new Network(kernel, draws("network"), database)
    this.#network.onApply = (origin) => this.#model.setOrigin(origin)
    this.#transport = new FaultyTransport(kernel, draws("wire"))
    const { crypto } = this.#crypto
    const built = <A>(layer: Layer.Layer<A>): Context.Context<A> =>
      Layer.build(layer).pipe(
        Scope.provide(Scope.makeUnsafe()),
        Effect.provideService(Clock.Clock, database.clock),
        Effect.provideService(WebCrypto.WebCrypto, crypto),
        Effect.runSync
      )
    this.#stores = store(built(MemoryStores.database))
    const environment: Environment = {
      kernel,
      network: this.#network,
      transport: this.#transport,
      draws: draws("chance"),
      crypto,
      scenario,
      model: this.#model,
      flows: this.#flows,
      stores: observeStores(this.#stores, this.#model),
      blobs: built<BlobStore>(MemoryStores.blobs),
      alter: node
    }
    this.#hosts = Array.from({ length: scenario.nodes }, (_, index) => new Host(environment, `node${index}`))
  }

  get result(): SimulationResult {
    const clients = this.#clients
    return {
      violations: this.#model.violations,
      hash: this.#kernel.trace.hash,
      trace: this.#kernel.trace.lines,
      counts: {
        requests: clients?.sent ?? 0,
        acknowledged: clients?.acknowledged ?? 0,
        events: this.#model.events.size,
        runs: this.#model.runs.size,
        ...this.#model.workflows.counts,
        statements: this.#network.statements,
        faults: this.#faults + this.#network.injected + this.#transport.injected,
        turns: this.#kernel.turns,
        elapsed: this.#kernel.elapsed
      }
    }
  }

  async run(): Promise<void> {
    const envId = await this.#setUp()
    if (envId === null) return
    const clients = new Clients(this.#kernel, this.#hosts, envId, this.#model, this.#scenario)
    this.#clients = clients
    const watcher = new Watcher(this.#kernel, this.#hosts, envId, this.#model, this.#transport)
    watcher.begin(this.#scenario.seed % this.#scenario.nodes)
    const from = this.#kernel.elapsed
    for (const step of this.#scenario.steps) {
      this.#at(from + step.at, () => {
        if (step._tag === "Restart") this.#restart(step.node)
        else clients.send(step)
      })
    }
    for (const fault of this.#scenario.faults) this.#at(from + fault.at, () => this.#inject(fault))
    const last = Math.max(0, ...this.#scenario.steps.map(({ at }) => at))
    await this.#pass(from + last)
    if (!(await this.#becomesIdle(clients, envId))) return
    // Messages that are replayed from the store have arrived by then.
    await this.#pass(this.#kernel.elapsed + deliveredMs)
    if (watcher.missing.length > 0) await this.#pass(this.#kernel.elapsed + deliveredLateMs)
    this.#model.must(watcher.isWatching, "the watcher is subscribed")
    for (const missing of watcher.missing) this.#model.must(false, `the watcher received ${missing}`)
    watcher.end()
    if (this.#holds) await this.#close(envId)
  }

  /** Starts all nodes, creates an environment and deploys the functions. */
  async #setUp(): Promise<EnvId | null> {
    for (const host of this.#hosts) host.start()
    let envId: EnvId | null = null
    await this.#until(() => this.#hosts.every((host) => host.isServing), 30_000)
    this.#hosts[0]?.request(unusedEnvId, makeEnv, (exit) => {
      if (exit !== null && Exit.isSuccess(exit)) envId = exit.value
      else
        this.#model.violations.push(
          `the environment is created (got ${exit === null ? "no response" : Cause.pretty(exit.cause)})`
        )
    })
    await this.#until(() => envId !== null, 30_000)
    this.#model.must(envId !== null, "the environment is created within 30 s")
    if (envId === null) return null
    let isDeployed = false
    this.#hosts[0]?.request(envId, deploy, (exit) => {
      isDeployed = exit !== null && Exit.isSuccess(exit)
      this.#model.must(isDeployed, `the functions are deployed (got ${exit})`)
    })
    await this.#until(() => isDeployed, 30_000)
    this.#model.must(isDeployed, "the functions are deployed within 30 s")
    // All nodes have received the message about the deployment by then.
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
    const instance = host?.instance
    if (host === undefined || instance === null || instance === undefined) return
    this.#kernel.trace.add(`${instance.machine.name}: ${JSON.stringify(fault)}`)
    const { elapsed } = this.#kernel
    switch (fault._tag) {
      case "Crash":
        this.#faults++
        if (fault.when === "now") host.crash(fault.downMs)
        else instance.link.pendingCrash = { when: fault.when, downMs: fault.downMs }
        break
      case "Partition":
        host.partition(fault.forMs, fault.isLate)
        break
      case "Store":
        for (let call = 0; call < fault.calls; call++) instance.link.faults.push({ fault: fault.fault, ms: fault.ms })
        break
      case "Feed":
        this.#transport.set(instance.machine, fault.fault)
        this.#at(elapsed + fault.forMs, () => this.#transport.set(instance.machine, null))
        break
      case "Clock":
        this.#faults++
        host.step(fault.ms)
        break
      case "Sandbox":
        this.#faults++
        host.sandboxDownUntil = elapsed + fault.forMs
        break
      case "Runners":
        this.#faults++
        this.#flows.loseRunners(instance.machine)
    }
  }

  /** Waits until the cluster is idle: no work, no waiting client, no slot in use. Returns false if it does not become so. */
  async #becomesIdle(clients: Clients, envId: EnvId): Promise<boolean> {
    for (const host of this.#hosts) this.#removeFaults(host)
    const { elapsed } = this.#kernel
    await this.#pass(Math.max(elapsed, ticksUntilMs, ...this.#scenario.faults.map(findEnd)) + quietMs)
    const until = this.#kernel.elapsed + idleWithinMs
    let held = "no node was queried"
    while (this.#kernel.elapsed < until && this.#holds) {
      await this.#pass(this.#kernel.elapsed + 1_000)
      const isQuiet = this.#model.isIdle && clients.isIdle && this.#hosts.every((host) => host.isServing)
      held = isQuiet ? await this.#held(envId) : "work is pending"
      if (isQuiet && held === "") return this.#holds
    }
    this.#model.must(
      !this.#holds,
      `the cluster becomes idle: ${this.#model.pendingWork}; ${clients.pendingWork}; ${held}`
    )
    return false
  }

  /** Describes slots that idle nodes still use; empty if all are free. */
  async #held(envId: EnvId): Promise<string> {
    const held: Array<string> = []
    for (const host of this.#hosts) {
      let running: number | null = null
      host.request(envId, readSlots, (exit) => {
        running = exit !== null && Exit.isSuccess(exit) ? exit.value : Number.NaN
      })
      await this.#until(() => running !== null, this.#kernel.elapsed + stopMs)
      if (running !== 0) held.push(`${host.instance?.machine.name} uses ${running} slots`)
    }
    return held.join(", ")
  }

  /** Removes the faults that have not started. */
  #removeFaults({ instance }: Host): void {
    if (instance === null) return
    instance.link.faults.length = 0
    instance.link.pendingCrash = null
  }

  /** Audits the stores, then shuts all nodes down and checks that they leave no timers. */
  async #close(envId: EnvId): Promise<void> {
    audit({ stores: this.#stores, model: this.#model, envId, rules: this.#scenario.rules })
    await auditWorkflows({ stores: this.#stores, model: this.#model, envId })
    for (const host of this.#hosts) {
      const { instance } = host
      let isStopped = false
      host.stop(() => {
        isStopped = true
      })
      await this.#until(() => isStopped, this.#kernel.elapsed + stopMs)
      this.#model.must(isStopped, `a node shuts down within ${stopMs / 1000} s`)
      if (instance !== null)
        this.#model.must(this.#kernel.countTimers(instance.machine) === 0, "a stopped node has no timers")
    }
  }

  get #holds(): boolean {
    return this.#model.violations.length === 0
  }

  #pass(until: number): Promise<void> {
    return this.#until(() => false, until)
  }

  /** Runs the kernel until the condition holds, the time is up, or a rule is broken. */
  async #until(isReached: () => boolean, until: number): Promise<void> {
    while (!isReached() && this.#holds) {
      this.#model.must(this.#kernel.turns < this.#turnsMax, "the simulation ends within its maximum of turns")
      const isMore = this.#kernel.turn(until)
      const settled = this.#crypto.settled() ?? (isMore ? this.#flows.settled() : null)
      if (settled !== null) await settled
      else if (!isMore) return
    }
  }
}

/** Returns the end of a fault, in milliseconds since the first step. */
const findEnd = (fault: Fault): number => {
  const { at } = fault
  if ("forMs" in fault) return at + fault.forMs
  return at + (fault._tag === "Store" ? fault.ms : 0)
}

const same: Alter = (stores) => stores

/** Counts the slots that the node uses. */
const readSlots = Effect.gen(function* () {
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
  const zip = utf8Encode(buildText)
  const hash = createHash("sha256").update(zip).digest("hex")
  yield* projects.create({ name: "app" })
  const { build } = yield* builds.upload("app", { zip, hash })
  yield* builds.deploy("app", build.build_id)
})
