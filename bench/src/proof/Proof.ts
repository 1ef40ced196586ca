/** A proof: something that is done to Weft for as long as one likes, and a judgement of what came of it. */

/** What the command line says; null where it says nothing. */
export interface Given {
  readonly minutes: number | null
  readonly seeds: number | null
  readonly seed: number | null
  /** How much of what is borne the load is to be, 1 for all. */
  readonly share: number | null
  /** Requests in a second, in place of a share. */
  readonly rate: number | null
  /** The one thing of several that is wanted; left out: all. */
  readonly only?: string
  readonly progress: (text: string) => void
}

export interface Found {
  /** By the words of a reader: what was injected, how much was looked at, and what was found. */
  readonly figures: ReadonlyArray<readonly [label: string, value: number]>
  /** What was not as it must, a line each, with what makes it happen again: a seed, an input. Empty when all held. */
  readonly failures: ReadonlyArray<string>
  /** What a reader has to know to judge the figures. */
  readonly notes: ReadonlyArray<string>
  /** How figures went over time, for the picture. */
  readonly panels?: ReadonlyArray<Panel>
}

/** Lines over time, with an axis of their own. */
export interface Panel {
  readonly title: string
  readonly lines: ReadonlyArray<Line>
}

export interface Line {
  readonly name: string
  /** Minutes since the beginning, and the value then. */
  readonly points: ReadonlyArray<readonly [minutes: number, value: number]>
}

export interface Proof {
  /** Heading on the page. */
  readonly title: string
  /** What is done, a paragraph. */
  readonly does: string
  readonly shows: string
  readonly doesNotShow: string
  readonly run: (given: Given) => Promise<Found>
}
