/** Limits the queued and running calls of each environment, and the size of their inputs. */
import type { EnvId } from "../../../foundation/Ids.ts"

/** Maximum of an environment on this node, over all runs and host functions. */
export const pendingCallsMax = { calls: 2000, characters: 16 * 1024 * 1024 }

interface PendingCalls {
  calls: number
  characters: number
}

export class PendingCallLimit {
  readonly #pending = new Map<EnvId, PendingCalls>()

  /** True if the call is within the limits. It then counts until `release`. */
  reserve(envId: EnvId, characters: number): boolean {
    const pending = this.#pending.get(envId) ?? { calls: 0, characters: 0 }
    if (pending.calls >= pendingCallsMax.calls || pending.characters + characters > pendingCallsMax.characters)
      return false
    pending.calls++
    pending.characters += characters
    this.#pending.set(envId, pending)
    return true
  }

  release(envId: EnvId, characters: number): void {
    const pending = this.#pending.get(envId)
    if (pending === undefined) return
    pending.calls--
    pending.characters -= characters
    if (pending.calls === 0) this.#pending.delete(envId)
  }
}
