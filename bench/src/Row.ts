/** Figures of contenders over all rounds. */
import type { Contender } from "./Suite.ts"

/** Figures of one measurement by name. */
export type Figures = Readonly<Record<string, number>>

/** Figures of each contender, in the order of the rounds. */
export type Measured = ReadonlyMap<string, ReadonlyArray<Figures>>

export interface Row {
  readonly contender: string
  readonly figure: string
  readonly median: number
  readonly min: number
  readonly max: number
  readonly isLimit: boolean
  /** Median of the ratios to the limit, round by round; null for a limit, or if the limit has no such figure. */
  readonly ofLimit: number | null
}

export const toRows = (contenders: ReadonlyArray<Contender>, measured: Measured): ReadonlyArray<Row> => {
  const limits = contenders.filter(({ isLimit }) => isLimit === true).map(({ name }) => name)
  return contenders.flatMap(({ name, isLimit = false, limit = limits[0] }) => {
    const rounds = measured.get(name) ?? []
    const limitRounds = isLimit || limit === undefined ? [] : (measured.get(limit) ?? [])
    const figures = [...new Set(rounds.flatMap((round) => Object.keys(round)))]
    return figures.map((figure) => toRow({ contender: name, figure, isLimit }, rounds, limitRounds))
  })
}

const toRow = (
  row: Pick<Row, "contender" | "figure" | "isLimit">,
  rounds: ReadonlyArray<Figures>,
  limitRounds: ReadonlyArray<Figures>
): Row => {
  const values = rounds.flatMap((round) => round[row.figure] ?? [])
  const ratios = rounds.flatMap((round, index) => {
    const ratio = (round[row.figure] ?? Number.NaN) / (limitRounds[index]?.[row.figure] ?? Number.NaN)
    return Number.isFinite(ratio) ? [ratio] : []
  })
  return {
    ...row,
    median: median(values),
    min: Math.min(...values),
    max: Math.max(...values),
    ofLimit: ratios.length === 0 ? null : median(ratios)
  }
}

/** True if more of a figure is better, according to its name. */
export const isRate = (figure: string): boolean => /(?:\/s|per second)$/.test(figure)

const median = (values: ReadonlyArray<number>): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? Number.NaN)
    : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2
}
