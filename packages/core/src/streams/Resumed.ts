/**
 * How much subscribers who came back have this node hold, until they were sent it or have left. What those of single
 * streams missed is a copy of their own; those of a whole environment share the messages.
 */
import type { EnvId } from "../ids/Ids.ts"

const MiB = 1024 * 1024

/** In bytes, as `weightOf` has them: of one environment, so that it leaves room for the others, and of all. */
export const resumedBytesMax = { env: 64 * MiB, all: 256 * MiB }

export class Resumed {
  readonly #held = new Map<EnvId, number>()
  #all = 0

  /** Whether there is room. Then it is taken until `release`. */
  hold(envId: EnvId, bytes: number): boolean {
    const held = (this.#held.get(envId) ?? 0) + bytes
    if (held > resumedBytesMax.env || this.#all + bytes > resumedBytesMax.all) return false
    this.#held.set(envId, held)
    this.#all += bytes
    return true
  }

  release(envId: EnvId, bytes: number): void {
    const left = (this.#held.get(envId) ?? 0) - bytes
    if (left > 0) this.#held.set(envId, left)
    else this.#held.delete(envId)
    this.#all -= bytes
  }
}
