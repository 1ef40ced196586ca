/** The versions of a durable function. Each has a number below 0, because it has no place in the order of requests. */
import type { Activation } from "./Activation.ts"
import type { RecordedResult } from "./History.ts"
import { checkName } from "./Requests.ts"

/** Numbers from here on are reserved for other results without a request. */
const reservedSeq = -2

/** Maximum number of a version. */
const versionMax = 1_000_000

export class Versions {
  readonly #activation: Activation
  /** Numbers of recorded versions, by id. */
  readonly #recorded: ReadonlyMap<string, number>
  #count: number
  /** Answers of this activation, by id. */
  readonly #known = new Map<string, Promise<unknown>>()

  constructor(activation: Activation, recorded: ReadonlyArray<RecordedResult>) {
    this.#activation = activation
    this.#recorded = new Map(recorded.flatMap(({ kind, name, seq }) => (kind === "version" ? [[name, seq]] : [])))
    this.#count = this.#recorded.size
  }

  /** Returns the recorded version of this id; `max` if none is recorded. */
  get(givenId: unknown, max: unknown): Promise<unknown> {
    const id = checkName("version", givenId)
    if (typeof max !== "number" || !Number.isInteger(max) || max < 1 || max > versionMax) {
      throw new TypeError(`svc.version: max must be an integer from 1 to ${versionMax} (got ${String(max)})`)
    }
    const known = this.#known.get(id)
    if (known !== undefined) return known
    const seq = this.#recorded.get(id) ?? reservedSeq - ++this.#count
    const version = this.#activation.requestUnordered({ seq, kind: "version", name: id }, String(max))
    this.#known.set(id, version)
    // The request was cancelled: the cleanup may ask again.
    version.catch(() => this.#known.delete(id))
    return version
  }
}
