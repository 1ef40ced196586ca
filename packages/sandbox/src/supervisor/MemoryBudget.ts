/**
 * The memory budget of a runner, and the builds that wait for memory.
 *
 * A runner above its memory limit is killed with all its isolates, and the cause is unknown. So it creates isolates only
 * within its budget: if more builds are busy, they take turns.
 */
import type { Build } from "./Build.ts"

export interface MemoryBudgetOptions {
  /** Maximum isolates per runner. */
  readonly isolatesPerRunner: number
  /** Resident memory of a runner up to which it creates isolates. */
  readonly budgetBytes: number
}

/** Assumed memory of an isolate until the runner is measured. */
const isolateEstimateBytes = 16 * 1024 * 1024

export class MemoryBudget {
  readonly #options: MemoryBudgetOptions
  /** In order of arrival. */
  readonly #waiting = new Set<Build>()
  #bytes = 0

  constructor(options: MemoryBudgetOptions) {
    this.#options = options
  }

  /** True if another isolate fits into a runner with this number of isolates. The first one always fits. */
  fits(isolates: number): boolean {
    const { isolatesPerRunner, budgetBytes } = this.#options
    return isolates === 0 || (isolates < isolatesPerRunner && this.#bytes + isolateEstimateBytes <= budgetBytes)
  }

  /** Adds the estimate of a new isolate, until the runner is measured again. */
  reserve(): void {
    this.#bytes += isolateEstimateBytes
  }

  /** Subtracts the estimate of an isolate that ended. */
  release(): void {
    this.#bytes -= isolateEstimateBytes
  }

  /** Sets the measured resident memory of the runner, plus the estimate of isolates that are still loading. */
  update(bytes: number, loading: number): void {
    this.#bytes = bytes + loading * isolateEstimateBytes
  }

  get hasWaiting(): boolean {
    return this.#waiting.size > 0
  }

  enqueue(build: Build): void {
    this.#waiting.add(build)
  }

  /** The waiting builds, in order of arrival. */
  get waiting(): ReadonlyArray<Build> {
    return [...this.#waiting]
  }

  dequeue(build: Build): void {
    this.#waiting.delete(build)
  }
}
