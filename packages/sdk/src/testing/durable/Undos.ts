/** The functions that undo completed steps, the latest first. */
import { namedError, toFailure } from "../failures.ts"

type Body = (facts: object) => unknown

export class Undos {
  readonly #undos: Array<readonly [name: string, run: () => Promise<unknown>]> = []

  /** Adds the function that undoes a completed step. `step` runs a step. */
  add(name: string, undo: Body, step: (name: string, body: Body) => Promise<unknown>): void {
    this.#undos.push([name, () => step(`undo ${name}`.slice(0, 256), undo)])
  }

  /**
   * Undoes all completed steps. Returns the error of the run, which names the undo functions that failed. `onFailure`
   * receives a text about each of them.
   */
  async unwind(thrown: unknown, onFailure: (text: string) => void): Promise<unknown> {
    const failures: Array<string> = []
    for (let undo = this.#undos.pop(); undo !== undefined; undo = this.#undos.pop()) {
      const [name, run] = undo
      try {
        await run()
      } catch (failure) {
        const { name: kind, message } = toFailure(failure)
        const text = `The undo of the step ${JSON.stringify(name)} failed with ${kind}: ${message}`
        onFailure(text)
        failures.push(text)
      }
    }
    if (failures.length === 0) return thrown
    const { name, message, stack } = toFailure(thrown)
    return Object.assign(namedError(name, [message, ...failures].join(". ")), { stack })
  }
}
