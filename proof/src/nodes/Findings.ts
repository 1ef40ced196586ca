/** Counted violations, with up to 12 examples of each kind. */
const samplesMax = 12

export interface Finding {
  readonly what: string
  count: number
  readonly samples: Array<string>
}

export class Findings {
  readonly #byName = new Map<string, Finding>()

  /** `names`: all kinds that are checked, so that a report also lists those without violations. */
  constructor(names: ReadonlyArray<string>) {
    for (const what of names) this.#byName.set(what, { what, count: 0, samples: [] })
  }

  add(what: string, sample: string, count = 1): void {
    const finding = this.#byName.get(what) ?? { what, count: 0, samples: [] }
    this.#byName.set(what, finding)
    finding.count += count
    if (finding.samples.length < samplesMax) finding.samples.push(sample)
  }

  get all(): ReadonlyArray<Finding> {
    return [...this.#byName.values()]
  }

  get total(): number {
    return this.all.reduce((sum, { count }) => sum + count, 0)
  }
}
