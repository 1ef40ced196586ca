/** What a suite is: contenders measured in turns, round by round, so that all meet the same noise. */
import { type Figures, type Measured, type Row, rowsOf } from "./Row.ts"

export interface Contender {
  readonly name: string
  /**
   * One measurement: figures by name. What counts by time says so at its end, `… per second` or `…/s`, and more of it
   * is better; of everything else less is.
   */
  readonly measure: () => Promise<Figures>
  /** Others are compared with this one. */
  readonly isLimit?: boolean
  /** The limit that this one is compared with, where the suite has several: its name. Else it is the first. */
  readonly limit?: string
  /** What is installed before it is measured. */
  readonly needs?: Installation
}

/** Packages of peers that are installed together: folders in `bench/peers`. */
export type Installation = "peers" | "n8n"

export interface OpenSuite {
  readonly contenders: ReadonlyArray<Contender>
  /** What a reader needs to judge the figures; durability above all. Read when all is measured. */
  readonly settings: Readonly<Record<string, string>>
  readonly close: () => Promise<void>
}

export interface SuiteOptions {
  /** Whether it works at all: a round of a second or so for each contender, and only what starts quickly. */
  readonly isShort: boolean
  /** Whether somebody asked for this suite by its name, and has the time for all of it. */
  readonly isNamed: boolean
}

export interface Suite {
  readonly name: string
  readonly measures: string
  /** Part of `--short`. */
  readonly hasShort?: boolean
  /** Measured only when it is named. */
  readonly isExtra?: boolean
  /** Those that the chart of the documentation shows; all when left out. */
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
  /** Contenders that failed, and of what: they were left out from then on, and their figures are not shown. */
  readonly broken: Readonly<Record<string, string>>
}

export interface RunOptions extends SuiteOptions {
  readonly rounds: number
  /** Whether a contender of this name is to be measured. */
  readonly isChosen: (name: string) => boolean
  readonly progress: (text: string) => void
  readonly install: (what: Installation) => Promise<void>
}

export const runSuite = async (suite: Suite, options: RunOptions): Promise<SuiteResult> => {
  const open = await suite.open({ isShort: options.isShort, isNamed: options.isNamed })
  try {
    const contenders = open.contenders.filter(({ name }) => options.isChosen(name))
    const { measured, broken } = await measureInTurns(suite.name, contenders, options)
    const rows = rowsOf(
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

const measureInTurns = async (
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
