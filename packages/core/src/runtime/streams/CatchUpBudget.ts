/**
 * Bounds the memory of missed messages for clients that reconnect, until they are sent or the client disconnects. A
 * subscriber to one stream has messages of its own; subscribers to a whole environment share them.
 */
import type { EnvId } from "../../foundation/Ids.ts"

const MiB = 1024 * 1024

/** Maximum bytes, as `activityBytes` counts them, of one environment and of the node. */
const catchUpBytesMax = { env: 64 * MiB, all: 256 * MiB }

export class CatchUpBudget {
  readonly #reserved = new Map<EnvId, number>()
  #all = 0

  /** True if the bytes were available. They stay reserved until `release`. */
  reserve(envId: EnvId, bytes: number): boolean {
    const reserved = (this.#reserved.get(envId) ?? 0) + bytes
    if (reserved > catchUpBytesMax.env || this.#all + bytes > catchUpBytesMax.all) return false
    this.#reserved.set(envId, reserved)
    this.#all += bytes
    return true
  }

  release(envId: EnvId, bytes: number): void {
    const remaining = (this.#reserved.get(envId) ?? 0) - bytes
    if (remaining > 0) this.#reserved.set(envId, remaining)
    else this.#reserved.delete(envId)
    this.#all -= bytes
  }
}
