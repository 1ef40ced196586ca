/** Figures over time, each with its tolerance for growth. */
import type { Line, Panel } from "../Proof.ts"
import { computeMedian, computeTrend, type Sample, type Tolerance, type Trend } from "./Trend.ts"

export interface Figure {
  /** Title of its panel in the picture. */
  readonly panel: string
  readonly name: string
  /** Null if the figure is shown but not checked for growth. */
  readonly tolerance: Tolerance | null
}

export interface CheckedTrend {
  readonly figure: Figure
  readonly trend: Trend
}

/** Maximum points of a line and lines of a panel; the highest lines are drawn. */
const drawnMax = 60
const linesMax = 6

export class Series {
  readonly #byKey = new Map<string, { readonly figure: Figure; readonly samples: Array<Sample> }>()

  add(figure: Figure, minutes: number, value: number): void {
    if (!Number.isFinite(value)) return
    const key = `${figure.panel}\n${figure.name}`
    const entry = this.#byKey.get(key) ?? { figure, samples: [] }
    this.#byKey.set(key, entry)
    entry.samples.push([minutes, value])
  }

  /** Trends of all figures with a tolerance and enough samples. */
  checked(): ReadonlyArray<CheckedTrend> {
    return [...this.#byKey.values()].flatMap(({ figure, samples }) => {
      const trend = figure.tolerance === null ? null : computeTrend(samples, figure.tolerance)
      return trend === null ? [] : [{ figure, trend }]
    })
  }

  get panels(): ReadonlyArray<Panel> {
    const groups = Map.groupBy(this.#byKey.values(), ({ figure }) => figure.panel)
    return [...groups].map(([title, entries]) => ({
      title,
      lines: entries
        .map(({ figure, samples }): Line => ({ name: figure.name, points: reduceToPeaks(samples) }))
        .sort((a, b) => findPeak(b) - findPeak(a))
        .slice(0, linesMax)
        .sort((a, b) => (a.name < b.name ? -1 : 1))
    }))
  }

  /** Returns median and maximum of a figure; zero without samples. */
  summary(panel: string, name: string): { readonly median: number; readonly max: number } {
    const values = (this.#byKey.get(`${panel}\n${name}`)?.samples ?? []).map(([, value]) => value)
    return values.length === 0 ? { median: 0, max: 0 } : { median: computeMedian(values), max: Math.max(...values) }
  }
}

const findPeak = ({ points }: Line): number => Math.max(...points.map(([, value]) => value))

/** Reduces samples to the maximum of each group, so that peaks stay visible. */
const reduceToPeaks = (samples: ReadonlyArray<Sample>): ReadonlyArray<Sample> => {
  const size = Math.ceil(samples.length / drawnMax)
  return Array.from({ length: Math.ceil(samples.length / size) }, (_, index) => {
    const group = samples.slice(index * size, (index + 1) * size)
    return group.reduce((most, sample) => (sample[1] > most[1] ? sample : most))
  })
}
