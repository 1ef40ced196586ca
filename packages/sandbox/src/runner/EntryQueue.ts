/** Isolates that wait to compute, in turns between their owners. */

interface Owned {
  readonly owner: number
}

/**
 * Otherwise, an owner with many isolates that compute long would delay all others. Each long entry makes room for the next in
 * the queue, and continues at the same time.
 */
export class EntryQueue<Isolate extends Owned> {
  /** Waiting isolates by owner, in the order of the owners' turns. */
  readonly #lanes = new Map<number, Array<Isolate>>()

  push(isolate: Isolate): void {
    const lane = this.#lanes.get(isolate.owner)
    if (lane === undefined) this.#lanes.set(isolate.owner, [isolate])
    else lane.push(isolate)
  }

  /** Removes and returns the next isolate whose owner may enter. */
  next(mayEnter: (owner: number) => boolean): Isolate | undefined {
    for (const [owner, lane] of this.#lanes) {
      if (!mayEnter(owner)) continue
      this.#lanes.delete(owner)
      const isolate = lane.shift()
      if (lane.length > 0) this.#lanes.set(owner, lane)
      return isolate
    }
    return undefined
  }
}
