/** What a suite is: contenders measured in turns, round by round, so that all meet the same noise. */

export interface Contender {
  readonly name: string
  /** One measurement: figures by name; higher or lower is better as the name says. */
  readonly measure: () => Promise<Readonly<Record<string, number>>>
  /** Others are compared with this one. */
  readonly isLimit?: boolean
}

export interface OpenSuite {
  readonly contenders: ReadonlyArray<Contender>
  /** Settings that a reader needs to judge the figures. */
  readonly settings: Readonly<Record<string, string>>
  readonly close: () => Promise<void>
}

export interface Suite {
  readonly name: string
  readonly measures: string
  readonly open: () => Promise<OpenSuite>
}

export interface Row {
  readonly contender: string
  readonly figure: string
  readonly median: number
  readonly min: number
  readonly max: number
  /** Median of the ratios to the limit, round by round; null for the limit itself and where it has no such figure. */
  readonly ofLimit: number | null
}

export interface SuiteResult {
  readonly suite: string
  readonly measures: string
  readonly settings: Readonly<Record<string, string>>
  readonly rounds: number
  readonly rows: ReadonlyArray<Row>
}

export const runSuite = async (
  suite: Suite,
  rounds: number,
  progress: (text: string) => void
): Promise<SuiteResult> => {
  const { contenders, settings, close } = await suite.open()
  try {
    const measured = new Map<string, Array<Readonly<Record<string, number>>>>()
    for (let round = 1; round <= rounds; round++) {
      for (const contender of contenders) {
        progress(`${suite.name}: round ${round}/${rounds}, ${contender.name}`)
        const figures = await contender.measure()
        measured.set(contender.name, [...(measured.get(contender.name) ?? []), figures])
      }
    }
    const limit = contenders.find((contender) => contender.isLimit === true)
    const limitRounds = limit === undefined ? [] : (measured.get(limit.name) ?? [])
    const rows = contenders.flatMap((contender) => rowsOf(contender, measured.get(contender.name) ?? [], limitRounds))
    return { suite: suite.name, measures: suite.measures, settings, rounds, rows }
  } finally {
    await close()
  }
}

const rowsOf = (
  contender: Contender,
  rounds: ReadonlyArray<Readonly<Record<string, number>>>,
  limitRounds: ReadonlyArray<Readonly<Record<string, number>>>
): ReadonlyArray<Row> =>
  Object.keys(rounds[0] ?? {}).map((figure) => {
    const values = rounds.map((round) => round[figure] ?? Number.NaN)
    const ratios = values.map((value, round) => value / (limitRounds[round]?.[figure] ?? Number.NaN))
    const ofLimit = contender.isLimit === true ? Number.NaN : median(ratios)
    return {
      contender: contender.name,
      figure,
      median: median(values),
      min: Math.min(...values),
      max: Math.max(...values),
      ofLimit: Number.isNaN(ofLimit) ? null : ofLimit
    }
  })

const median = (values: ReadonlyArray<number>): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? Number.NaN)
    : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2
}
