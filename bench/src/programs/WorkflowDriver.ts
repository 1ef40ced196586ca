/** Measures a program of workflows in its own process, with the same code for all programs. */
import { setTimeout as sleep } from "node:timers/promises"
import { collectGarbage } from "@weft/tooling/garbage"
import { processorTime } from "../instruments/ProcessorTime.ts"
import { listTree, proportionalMiB } from "../instruments/ProcessTree.ts"
import type { Figures, Measurement } from "./Command.ts"
import { quantile } from "./quantile.ts"
import type { WaitingWorkflows, WorkflowProgram } from "./WorkflowProgram.ts"

const pollMs = 20

/** Maximum time without a further suspended workflow, in milliseconds; then the program counts as broken. */
const stallMs = 60_000

/** Sleeping workflows that are started first, to estimate how long the start of others takes. */
const trial = 1_000

/** Additional time until the first sleep ends, in milliseconds. */
const leadMs = 2_000

/** Concurrent publishers of events and signals. */
const publishers = 32

export class WorkflowDriver {
  readonly #program: WorkflowProgram
  /** Number of the next workflow. */
  #next = 0

  constructor(program: WorkflowProgram) {
    this.#program = program
  }

  measure(measurement: Measurement): Promise<Figures> {
    switch (measurement.kind) {
      case "sequences":
        return this.#sequences(measurement)
      case "fanOut":
        return this.#fanOut(measurement)
      case "resume":
        return this.#resume(measurement)
      case "sleepers":
        return this.#sleepers(measurement)
      case "signals":
        return this.#signals(measurement)
      default:
        throw new Error(`A program of workflows cannot measure ${measurement.kind}`)
    }
  }

  async #sequences({ steps, clients, seconds }: Measurement & { kind: "sequences" }): Promise<Figures> {
    const taken: Array<number> = []
    const cpuSeconds = cpuClock()
    const began = performance.now()
    const client = async (): Promise<void> => {
      do {
        const startedAt = performance.now()
        await this.#program.sequence(this.#next++, steps)
        taken.push(performance.now() - startedAt)
      } while (performance.now() - began < seconds * 1000)
    }
    await Promise.all(Array.from({ length: clients }, client))
    const elapsed = (performance.now() - began) / 1000
    const recorded = taken.length * steps
    return {
      workflowsPerSecond: taken.length / elapsed,
      stepsPerSecond: recorded / elapsed,
      stepP50Ms: quantile(taken, 0.5) / steps,
      stepP99Ms: quantile(taken, 0.99) / steps,
      stepCpuMs: (cpuSeconds() * 1000) / recorded
    }
  }

  async #fanOut({ steps, samples }: Measurement & { kind: "fanOut" }): Promise<Figures> {
    const { fanOut } = this.#program
    if (fanOut === undefined) throw new Error("The program does not implement fanOut()")
    const taken = await this.#repeat(samples, async (n) => {
      const began = performance.now()
      await fanOut(n, steps)
      return performance.now() - began
    })
    return { fanOutP50Ms: quantile(taken, 0.5) }
  }

  async #resume({ steps, samples }: Measurement & { kind: "resume" }): Promise<Figures> {
    const waits = this.#waits()
    const taken = await this.#repeat(samples, async (n) => {
      await waits.wait(n, 1, steps)
      await this.#allSuspended(1)
      const began = performance.now()
      const continued = waits.continued(n)
      await waits.signal(n)
      await continued
      return performance.now() - began
    })
    return { resumeP50Ms: quantile(taken, 0.5), resumeP99Ms: quantile(taken, 0.99) }
  }

  async #sleepers({ count, spreadSeconds }: Measurement & { kind: "sleepers" }): Promise<Figures> {
    const perWorkflowMs = await this.#try(Math.min(trial, count))
    const waits = this.#waits()
    const before = usedMemory()
    const first = this.#next
    this.#next += count
    const began = Date.now()
    const firstDue = began + Math.ceil(1.5 * perWorkflowMs * count) + leadMs
    const until = (n: number): number => firstDue + Math.floor(((n - first) / count) * spreadSeconds * 1000)
    await waits.sleep(first, count, until)
    await this.#allSuspended(count)
    const suspendedAt = Date.now()
    const used = usedMemory()
    if (Date.now() > firstDue) throw new Error("Sleeps ended before all workflows slept")
    const lags = await Promise.all(
      Array.from({ length: count }, async (_, index) => (await waits.continued(first + index)) - until(first + index))
    )
    return {
      startedPerSecond: count / ((suspendedAt - began) / 1000),
      heapBytes: (used.heap - before.heap) / count,
      residentBytes: (used.resident - before.resident) / count,
      lagP50Ms: quantile(lags, 0.5),
      lagP99Ms: quantile(lags, 0.99)
    }
  }

  /** Starts sleeping workflows and waits until they have continued. Returns the time per start in milliseconds. */
  async #try(count: number): Promise<number> {
    const waits = this.#waits()
    const first = this.#next
    this.#next += count
    const began = performance.now()
    // Due when all are suspended, even if the program is slow.
    const until = Date.now() + leadMs + 3 * count
    await waits.sleep(first, count, () => until)
    await this.#allSuspended(count)
    const elapsed = performance.now() - began
    await Promise.all(Array.from({ length: count }, (_, index) => waits.continued(first + index)))
    return elapsed / count
  }

  async #signals({ waiting, seconds, samples, woken }: Measurement & { kind: "signals" }): Promise<Figures> {
    const waits = this.#waits()
    const { publish, cancelAll } = waits
    if (publish === undefined || cancelAll === undefined) throw new Error("The program does not implement publish()")
    await publishRate(() => publish("other"), seconds)
    const withNone = await publishRate(() => publish("other"), seconds)
    const first = this.#next
    this.#next += waiting
    const began = performance.now()
    await waits.wait(first, waiting, 0)
    await this.#allSuspended(waiting)
    const startedPerSecond = waiting / ((performance.now() - began) / 1000)
    const others = await publishRate(() => publish("other"), seconds)
    const unmatched = await publishRate(() => publish("signal"), seconds)
    let next = first
    const wake = async (): Promise<number> => {
      const sentAt = performance.now()
      const continued = waits.continued(next)
      await waits.signal(next++)
      await continued
      return performance.now() - sentAt
    }
    const taken: Array<number> = []
    while (taken.length < samples) taken.push(await wake())
    const end = Math.min(first + waiting, next + woken)
    const concurrent = end - next
    const signalling = performance.now()
    const signaller = async (): Promise<void> => {
      while (next < end) await wake()
    }
    await Promise.all(Array.from({ length: publishers }, signaller))
    const wokenPerSecond = concurrent / ((performance.now() - signalling) / 1000)
    await cancelAll()
    return {
      startedPerSecond,
      withNone,
      others,
      unmatched,
      wakeP50Ms: quantile(taken, 0.5),
      wakeP99Ms: quantile(taken, 0.99),
      wokenPerSecond
    }
  }

  async #repeat(samples: number, sample: (n: number) => Promise<number>): Promise<ReadonlyArray<number>> {
    const taken: Array<number> = []
    while (taken.length < samples) taken.push(await sample(this.#next++))
    return taken
  }

  #waits(): WaitingWorkflows {
    const { waits } = this.#program
    if (waits === undefined) throw new Error("The program has no suspended workflows")
    return waits
  }

  async #allSuspended(count: number): Promise<void> {
    const waits = this.#waits()
    let last = -1
    let lastAt = performance.now()
    for (;;) {
      const suspended = await waits.suspended()
      if (suspended === count) return
      if (suspended > count) throw new Error(`${suspended} workflows are suspended instead of ${count}`)
      if (suspended !== last) {
        last = suspended
        lastAt = performance.now()
      } else if (performance.now() - lastAt > stallMs) {
        throw new Error(`${suspended} of ${count} workflows are suspended, and no further one within ${stallMs} ms`)
      }
      await sleep(pollMs)
    }
  }
}

/** Returns the rate at which concurrent publishers publish, per second. */
const publishRate = async (publish: () => Promise<void>, seconds: number): Promise<number> => {
  const began = performance.now()
  let published = 0
  const publisher = async (): Promise<void> => {
    while (performance.now() - began < seconds * 1000) {
      await publish()
      published++
    }
  }
  await Promise.all(Array.from({ length: publishers }, publisher))
  return published / ((performance.now() - began) / 1000)
}

/** Returns a function that returns the CPU time of this process and its children since the call, in seconds. */
const cpuClock = (): (() => number) => {
  const total = (): number => {
    const { own, below } = processorTime(process.pid)
    return own + below
  }
  const began = total()
  return () => total() - began
}

/** Returns the memory of this process after a garbage collection, and that of it and its children, in bytes. */
const usedMemory = (): { readonly heap: number; readonly resident: number } => {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return { heap: heapUsed + external, resident: proportionalMiB(listTree(process.pid)) * 1024 ** 2 }
}
