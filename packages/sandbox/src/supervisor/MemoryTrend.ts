/** Recent measurements of a runner's resident memory, which show whether it was growing. */

/** Age of the oldest measurement that counts, in milliseconds. */
const windowMs = 2000
/** Growth within the window from which the memory counts as growing. Garbage of ordinary runs stays below it. */
const growthBytesMin = 32 * 1024 * 1024

interface Sample {
  readonly at: number
  readonly bytes: number
}

export class MemoryTrend {
  /** In order of time, all within the window before the newest. */
  #samples: Array<Sample> = []

  /** Adds a measurement. `now` is on a monotonic clock, in milliseconds. */
  add(bytes: number, now: number): void {
    this.#samples = this.#samples.filter(({ at }) => at > now - windowMs)
    this.#samples.push({ at: now, bytes })
  }

  /** Discards the earlier measurements: an isolate was loaded, which needs memory of its own. */
  restart(): void {
    this.#samples = []
  }

  /** True if the newest measurement exceeds an earlier one by 32 MiB. */
  get isGrowing(): boolean {
    const newest = this.#samples.at(-1)
    return newest !== undefined && this.#samples.some(({ bytes }) => newest.bytes - bytes >= growthBytesMin)
  }
}
