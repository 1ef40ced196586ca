/**
 * The versions of a durable function: for each change of its code, the number that this run uses.
 *
 * A version is found by its id, and its number is below 0. So new code may ask for versions that an older record lacks.
 */
import type { Durable } from "./Durable.ts"
import { mapDelete, mapGet, mapSet, NativeMap, NativePromise, whenSettled } from "./primordials.ts"
import { checkName } from "./requests.ts"

/** Numbers from here on are reserved for other results without a request. */
const reservedSeq = -2

export class Versions {
  readonly #durable: Durable
  /** Numbers of recorded versions, by id. */
  readonly #recorded = new NativeMap<string, number>()
  #count = 0
  /** Answers of this activation, by id. */
  readonly #known = new NativeMap<string, Promise<unknown>>()

  constructor(durable: Durable) {
    this.#durable = durable
  }

  addRecorded(id: string, seq: number): void {
    mapSet(this.#recorded, id, seq)
    this.#count++
  }

  /** Returns the recorded version of this id; 0 if older code may have made the record of this point. */
  get(givenId: unknown, max: unknown): Promise<unknown> {
    const id = checkName("version", givenId)
    const known = mapGet(this.#known, id)
    if (known !== undefined) return known
    const version = this.#decide(id, max)
    mapSet(this.#known, id, version)
    // The request was cancelled or refused: the cleanup may ask again.
    whenSettled(
      version,
      () => undefined,
      () => mapDelete(this.#known, id)
    )
    return version
  }

  #decide(id: string, max: unknown): Promise<unknown> {
    const recorded = mapGet(this.#recorded, id)
    if (recorded !== undefined) return this.#durable.awaitRecorded(recorded)
    // Not for other results: a crash may have lost the version, but not the results of other requests.
    if (this.#durable.isReplayingCopies) return new NativePromise((resolve) => resolve(0))
    this.#count++
    const seq = reservedSeq - this.#count
    return this.#durable.requestUnordered("workflow.version", seq, { seq, name: id, max })
  }
}
