/** The memory of a node for records that wait to be stored. One environment may use a quarter of it. */
import type { EnvId } from "../../foundation/Ids.ts"
import { InFlightMap } from "../../foundation/InFlightMap.ts"

interface Amount {
  readonly records: number
  /** Characters of results and logs. */
  readonly length: number
}

const max: Amount = { records: 10_000, length: 32 * 1024 * 1024 }
const maxOfEnv: Amount = { records: max.records / 4, length: max.length / 4 }

const nothing: Amount = { records: 0, length: 0 }

export class RecordBudget {
  readonly #envs = new InFlightMap<EnvId, Amount>()
  #total = nothing

  get records(): number {
    return this.#total.records
  }

  /** Takes memory for a record of this length. Returns false if it does not fit. */
  take(envId: EnvId, length: number): boolean {
    const total = add(this.#total, 1, length)
    const ofEnv = add(this.#envs.get(envId) ?? nothing, 1, length)
    if (!isWithin(total, max) || !isWithin(ofEnv, maxOfEnv)) return false
    this.#total = total
    this.#envs.set(envId, ofEnv)
    return true
  }

  release(envId: EnvId, length: number): void {
    const rest = add(this.#envs.get(envId) ?? nothing, -1, -length)
    this.#total = add(this.#total, -1, -length)
    if (rest.records === 0) this.#envs.delete(envId)
    else this.#envs.set(envId, rest)
  }
}

const add = (amount: Amount, records: number, length: number): Amount => ({
  records: amount.records + records,
  length: amount.length + length
})

const isWithin = (amount: Amount, limit: Amount): boolean =>
  amount.records <= limit.records && amount.length <= limit.length
