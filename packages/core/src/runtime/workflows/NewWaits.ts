/** Waits for events that are to be compared with stored events. Those for one type are compared together. */
import type { AwaitedEvents } from "../runs/WorkflowStore.ts"

export class NewWaits {
  #waits = new Map<string, AwaitedEvents>()

  add(wait: AwaitedEvents): void {
    const key = `${wait.env_id} ${wait.event_type}`
    const known = this.#waits.get(key)
    if (known === undefined || wait.since < known.since) this.#waits.set(key, wait)
  }

  /** Removes and returns the waits: of each type the one with the least `since`. */
  take(): ReadonlyArray<AwaitedEvents> {
    const waits = [...this.#waits.values()]
    this.#waits.clear()
    return waits
  }
}
