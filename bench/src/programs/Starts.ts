/** Start times of jobs, for programs whose user code runs in their own process. */
import { wallNow } from "./WallClock.ts"

export class Starts {
  readonly #times = new Map<number, number>()
  readonly #waiting = new Map<number, (at: number) => void>()

  /** Records a start; the first line of user code. */
  record(n: number): void {
    const at = wallNow()
    const waiting = this.#waiting.get(n)
    if (waiting === undefined) {
      this.#times.set(n, at)
    } else {
      this.#waiting.delete(n)
      waiting(at)
    }
  }

  /** Waits for the start of a job and returns its time. */
  of(n: number): Promise<number> {
    const at = this.#times.get(n)
    this.#times.delete(n)
    return at === undefined ? new Promise((resolve) => this.#waiting.set(n, resolve)) : Promise.resolve(at)
  }
}
