/**
 * Computations that code requests without a run, for example a key that a module imports while it loads.
 *
 * A run requests them in their place. If it ends before their answers, another run requests them again: they have no
 * effects.
 */
import { limitError } from "./failures.ts"
import {
  mapDelete,
  mapForEach,
  mapSet,
  mapSize,
  NativeMap,
  NativePromise,
  NativeString,
  whenSettled
} from "./primordials.ts"
import { anyRun, type KernelLimits, type Run } from "./Run.ts"

interface Computation {
  readonly request: string
  readonly bytes: string
  readonly resolve: (answer: string) => void
  readonly reject: (error: unknown) => void
}

export class Computations {
  readonly #limits: KernelLimits
  readonly #waiting = new NativeMap<number, Computation>()
  #last = 0
  /**
   * True after an answer, until the next message: several runs may continue, all as the run that requested it. Their
   * own computations must not end with that run.
   */
  isShared = false
  /** The run that has requested the waiting computations. */
  #requester: Run | undefined

  constructor(limits: KernelLimits) {
    this.#limits = limits
  }

  /** Requests a computation for the next run. */
  add(request: string, bytes: string): Promise<string> {
    return new NativePromise((resolve, reject) => {
      if (mapSize(this.#waiting) >= this.#limits.pendingHostCalls) {
        throw limitError("pendingHostCalls", `more than ${this.#limits.pendingHostCalls} pending host calls`)
      }
      this.#last++
      const computation: Computation = { request, bytes, resolve, reject }
      mapSet(this.#waiting, this.#last, computation)
      if (this.#requester !== undefined && !this.#requester.ended)
        this.#request(this.#requester, this.#last, computation)
    })
  }

  /** Requests the waiting computations, if that has not happened. Called at the end of an entry. */
  request(): void {
    if (mapSize(this.#waiting) === 0) {
      this.#requester = undefined
      return
    }
    if (this.#requester !== undefined && !this.#requester.ended) return
    const run = anyRun()
    this.#requester = run
    if (run !== undefined) mapForEach(this.#waiting, (computation, id) => this.#request(run, id, computation))
  }

  #request(run: Run, id: number, { request, bytes, resolve, reject }: Computation): void {
    whenSettled(
      run.compute(request, bytes),
      (answer) => {
        this.#settle(id)
        resolve(NativeString(answer))
      },
      (error) => {
        this.#settle(id)
        reject(error)
      }
    )
  }

  #settle(id: number): void {
    mapDelete(this.#waiting, id)
    this.isShared = true
  }
}
