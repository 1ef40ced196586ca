/** The functions that undo completed steps, the latest first. */
import { describeThrown, namedError } from "./failures.ts"
import { apply, parse, slice, stringify } from "./primordials.ts"
import { nameLengthMax } from "./requests.ts"

interface Undo {
  readonly name: string
  /** Runs the undo function as a step. */
  readonly run: () => Promise<unknown>
  readonly previous: Undo | undefined
}

/** Runs a step. */
type RunStep = (name: string, body: (context: object) => unknown) => Promise<unknown>

export class Undos {
  #last: Undo | undefined
  #isUnwinding = false

  /** True if there are steps to undo. */
  get isNeeded(): boolean {
    return this.#last !== undefined
  }

  /** True from the failure of the function on. */
  get isUnwinding(): boolean {
    return this.#isUnwinding
  }

  /** Adds the undo function of a completed step. */
  add(name: string, undo: object, result: unknown, runStep: RunStep): void {
    const run = () =>
      runStep(slice(`undo ${name}`, 0, nameLengthMax), (context) =>
        typeof undo === "function" ? apply(undo, undefined, [result, context]) : undefined
      )
    this.#last = { name, run, previous: this.#last }
  }

  /** Runs all of them, one after the other. Returns a text about those that failed, which `onFailure` receives as well. */
  async unwind(onFailure: (text: string) => void): Promise<string> {
    this.#isUnwinding = true
    let failures = ""
    for (let undo = this.#last; undo !== undefined; undo = undo.previous) {
      this.#last = undo.previous
      try {
        await undo.run()
      } catch (thrown) {
        const parts: ReadonlyArray<unknown> = parse(describeThrown(thrown))
        const text = `The undo of the step ${stringify(undo.name)} failed with ${parts[0]}: ${parts[1]}`
        onFailure(text)
        failures += `${failures === "" ? "" : ". "}${text}`
      }
    }
    return failures
  }
}

/** Returns the error of a function, extended by the undo functions that failed. */
export const withFailures = (thrown: unknown, failures: string): unknown => {
  if (failures === "") return thrown
  const parts: ReadonlyArray<unknown> = parse(describeThrown(thrown))
  const error = namedError(`${parts[0]}`, `${parts[1]}. ${failures}`)
  error.stack = `${parts[2]}`
  return error
}
