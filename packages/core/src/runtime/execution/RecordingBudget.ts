/** The memory of a node for recordings until they are stored. One environment may use a quarter of it. */
import type { EnvId } from "../../foundation/Ids.ts"
import { InFlightMap } from "../../foundation/InFlightMap.ts"

/** Maximum characters of all recordings in memory. */
const lengthMax = 64 * 1024 * 1024
const lengthMaxOfEnv = lengthMax / 4

export class RecordingBudget {
  readonly #envs = new InFlightMap<EnvId, number>()
  #total = 0

  /** Takes memory for this number of characters. Returns false if it does not fit. */
  take(envId: EnvId, length: number): boolean {
    const ofEnv = (this.#envs.get(envId) ?? 0) + length
    if (ofEnv > lengthMaxOfEnv || this.#total + length > lengthMax) return false
    this.#total += length
    this.#envs.set(envId, ofEnv)
    return true
  }

  release(envId: EnvId, length: number): void {
    const rest = (this.#envs.get(envId) ?? 0) - length
    this.#total -= length
    if (rest === 0) this.#envs.delete(envId)
    else this.#envs.set(envId, rest)
  }
}
