/** A proof: an experiment of any duration on Weft, with a check of its result. */

/** Options of the command line; null if an option is not given. */
export interface ProofOptions {
  readonly minutes: number | null
  readonly seeds: number | null
  readonly seed: number | null
  /** Load as a share of the capacity, 1 for all of it. */
  readonly share: number | null
  /** Requests per second, instead of a share. */
  readonly rate: number | null
  /** Name of one part of the proof, or several with commas; all parts by default. */
  readonly only?: string
  /** Folder with the Web Platform Tests. */
  readonly wpt?: string
  /** Duration of each part, in seconds. */
  readonly seconds: number | null
  readonly database: "sqlite" | "postgres"
  readonly progress: (text: string) => void
}

export interface ProofResult {
  /** Injected faults, amounts of checked data, and findings. */
  readonly figures: ReadonlyArray<readonly [label: string, value: number]>
  /** Violations, one line each, with the seed or input that reproduces them. Empty if everything held. */
  readonly failures: ReadonlyArray<string>
  /** Context that a reader needs for the figures. */
  readonly notes: ReadonlyArray<string>
  /** Results of the parts of the proof, a row each. */
  readonly table?: Table
  /** Figures over time, for the picture. */
  readonly panels?: ReadonlyArray<Panel>
}

export interface Table {
  readonly columns: ReadonlyArray<string>
  /** Cells as text; numbers are aligned right. */
  readonly rows: ReadonlyArray<ReadonlyArray<string | number>>
}

/** Lines over time with a common axis. */
export interface Panel {
  readonly title: string
  readonly lines: ReadonlyArray<Line>
}

export interface Line {
  readonly name: string
  /** Minutes since the start, and the value at that time. */
  readonly points: ReadonlyArray<readonly [minutes: number, value: number]>
}

export interface Proof {
  /** Heading of the section. */
  readonly title: string
  /** A paragraph about the experiment. */
  readonly does: string
  /** Guarantees that it shows, as sentences. */
  readonly shows: string
  /** Gaps of the experiment, as sentences. */
  readonly doesNotShow: string
  /** Lists the parts that `--only` selects, one line each. */
  readonly list?: () => ReadonlyArray<string>
  readonly run: (given: ProofOptions) => Promise<ProofResult>
}
