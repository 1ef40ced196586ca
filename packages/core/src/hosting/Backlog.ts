/** How much each environment has the host hold for it at most: calls that wait or go on, with their inputs. */
import type { EnvId } from "../ids/Ids.ts"

/** Of all runs and host functions of an environment together, on this node. */
export const backlogMax = { calls: 2000, characters: 16 * 1024 * 1024 }

interface Held {
  calls: number
  characters: number
}

export class Backlog {
  readonly #held = new Map<EnvId, Held>()

  /** Whether there is room. Then it is taken until `release`. */
  hold(envId: EnvId, characters: number): boolean {
    const held = this.#held.get(envId) ?? { calls: 0, characters: 0 }
    if (held.calls >= backlogMax.calls || held.characters + characters > backlogMax.characters) return false
    held.calls++
    held.characters += characters
    this.#held.set(envId, held)
    return true
  }

  release(envId: EnvId, characters: number): void {
    const held = this.#held.get(envId)
    if (held === undefined) return
    held.calls--
    held.characters -= characters
    if (held.calls === 0) this.#held.delete(envId)
  }
}
