/** A suite measures its contenders alternately, round by round, so that all are exposed to the same noise. */
import { type Figures, type Measured, type Row, toRows } from "./Row.ts"

export interface Contender {
  readonly name: string
  /**
   * Takes one measurement and returns figures by name. For names that end with `per second` or `/s`, more is better; for
   * all others, less is better.
   */
  readonly measure: () => Promise<Figures>
  /** True if other contenders are compared with this one. */
  readonly isLimit?: boolean
  /** Name of the limit to compare with; the first limit of the suite by default. */
  readonly limit?: string
  /** Packages to install before the measurement. */
  readonly needs?: Installation
}

/** A set of peer packages: a folder in `bench/peers`. */
export type Installation = "peers" | "n8n"

export interface OpenSuite {
  readonly contenders: ReadonlyArray<Contender>
  /** Settings that a reader needs for the figures, above all durability. Read after all measurements. */
  readonly settings: Readonly<Record<string, string>>
  readonly close: () => Promise<void>
}

export interface SuiteOptions {
  /** True for a smoke test: one round of about 1 s for each contender that starts quickly. */
  readonly isShort: boolean
  /** True if the suite was named on the command line, so it may take longer. */
  readonly isNamed: boolean
}

export interface Suite {
  readonly name: string
  readonly measures: string
  /** True if the suite is part of `--short`. */
  readonly hasShort?: boolean
  /** True if the suite is measured only when it is named. */
  readonly isExtra?: boolean
  /** Figures in the chart of the documentation; all by default. */
  readonly headlines?: ReadonlyArray<string>
  readonly open: (options: SuiteOptions) => Promise<OpenSuite>
}

export interface SuiteResult {
  readonly suite: string
  readonly measures: string
  readonly settings: Readonly<Record<string, string>>
  readonly rounds: number
  readonly headlines: ReadonlyArray<string>
  readonly rows: ReadonlyArray<Row>
  /** Errors of contenders that failed. They are not measured again, and their figures are not shown. */
  readonly broken: Readonly<Record<string, string>>
}

export interface RunOptions extends SuiteOptions {
  readonly rounds: number
  /** True if the contender of this name is measured. */
  readonly isChosen: (name: string) => boolean
  readonly progress: (text: string) => void
  readonly install: (what: Installation) => Promise<void>
}

export const runSuite = async (suite: Suite, options: RunOptions): Promise<SuiteResult> => {
  const open = await suite.open({ isShort: options.isShort, isNamed: options.isNamed })
  try {
    const contenders = open.contenders.filter(({ name }) => options.isChosen(name))
    const { measured, broken } = await measureAlternately(suite.name, contenders, options)
    const rows = toRows(
      contenders.filter(({ name }) => !Object.hasOwn(broken, name)),
      measured
    )
    const figures = [...new Set(rows.map(({ figure }) => figure))]
    return {
      suite: suite.name,
      measures: suite.measures,
      settings: { ...open.settings },
      rounds: options.rounds,
      headlines: suite.headlines?.filter((name) => figures.includes(name)) ?? figures,
      rows,
      broken
    }
  } finally {
    await open.close()
  }
}

const measureAlternately = async (
  suite: string,
  contenders: ReadonlyArray<Contender>,
  { rounds, progress, install }: RunOptions
): Promise<{ readonly measured: Measured; readonly broken: Record<string, string> }> => {
  const measured = new Map<string, Array<Figures>>()
  const broken: Record<string, string> = {}
  const began = performance.now()
  let done = 0
  for (let round = 1; round <= rounds; round++) {
    for (const { name, measure, needs } of contenders) {
      done++
      if (Object.hasOwn(broken, name)) continue
      const left = done === 1 ? "" : `, about ${secondsLeft(began, done - 1, contenders.length * rounds)} s left`
      progress(`${suite}: round ${round}/${rounds}, ${name}${left}`)
      try {
        if (needs !== undefined) await install(needs)
        measured.set(name, [...(measured.get(name) ?? []), await measure()])
      } catch (error) {
        broken[name] = error instanceof Error ? error.message : String(error)
        progress(`${suite}: ${name} is broken: ${broken[name]}`)
      }
    }
  }
  return { measured, broken }
}

const secondsLeft = (began: number, done: number, all: number): number =>
  Math.ceil((((performance.now() - began) / done) * (all - done)) / 1000)
