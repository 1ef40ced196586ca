/** What must not be: counted, with a few examples of each. */

const samplesMax = 12

export interface Finding {
  readonly what: string
  count: number
  readonly samples: Array<string>
}

export class Findings {
  readonly #byName = new Map<string, Finding>()

  /** All that are looked for, so that a reader sees that they were. */
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
