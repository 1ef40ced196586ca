/** Bodies of steps and functions that a test replaces, and failures that it orders. */

type Body<Context> = (context: Context) => unknown

export class TestDoubles {
  readonly #steps = new Map<string, unknown>()
  readonly #functions = new Map<string, unknown>()
  readonly #failures = new Map<string, { times: number; readonly error: unknown }>()

  mockStep(name: string, double: unknown): void {
    this.#steps.set(name, double)
  }

  mockFunction(name: string, double: unknown): void {
    this.#functions.set(name, double)
  }

  fail(name: string, times: number, error: unknown): void {
    this.#failures.set(name, { times, error })
  }

  /** Returns the body for an attempt at a step. */
  bodyOf<Context>(name: string, body: Body<Context>): Body<Context> {
    const failure = this.#failures.get(name)
    if (failure !== undefined && failure.times > 0) {
      failure.times--
      return () => {
        throw failure.error
      }
    }
    return this.#steps.has(name) ? (context) => answer(this.#steps.get(name), [context]) : body
  }

  /** Returns the double of a function; undefined without one. */
  functionOf(name: string): ((...args: ReadonlyArray<unknown>) => unknown) | undefined {
    return this.#functions.has(name) ? (...args) => answer(this.#functions.get(name), args) : undefined
  }
}

/** A double that is a function is called. Any other value is the result. */
const answer = (double: unknown, args: ReadonlyArray<unknown>): unknown =>
  typeof double === "function" ? Reflect.apply(double, undefined, args) : double
