/**
 * Who is present, where thousands come and go in a second: a map for what is under way.
 *
 * A `Map` of V8's whose table is full, of deleted entries, too, goes on in another one, and the table that it leaves points to
 * the next. Once one of them has grown old, which a quiet moment suffices for, all that follow outlive the young generation
 * with all that was in them, up to the next collection of the whole heap. So a roster begins a new map whenever as many have
 * come as are there, to which no former table points: what has gone is collected while it is young, for a tenth of the time.
 */
export class Roster<Key, Value> {
  #present = new Map<Key, Value>()
  #added = 0

  set(key: Key, value: Value): void {
    if (++this.#added > addedMin && this.#added > this.#present.size) this.#renew()
    this.#present.set(key, value)
  }

  get(key: Key): Value | undefined {
    return this.#present.get(key)
  }

  delete(key: Key): boolean {
    return this.#present.delete(key)
  }

  clear(): void {
    this.#present = new Map()
    this.#added = 0
  }

  get size(): number {
    return this.#present.size
  }

  /** In the order in which they came; whoever comes or goes meanwhile changes nothing of it. */
  values(): ReadonlyArray<Value> {
    return [...this.#present.values()]
  }

  #renew(): void {
    this.#present = new Map(this.#present)
    this.#added = 0
  }
}

/** A map is used for so many at least. */
const addedMin = 8
