/** Figures over time, each with what it may grow by. */
import type { Line, Panel } from "../proof/Proof.ts"
import { medianOf, type Sample, type Tolerance, type Trend, trendOf } from "./Trend.ts"

export interface Figure {
  /** Title of the panel that it is drawn in. */
  readonly panel: string
  readonly name: string
  /** Null for what may grow as it likes: it is shown, not judged. */
  readonly tolerance: Tolerance | null
}

export interface Judged {
  readonly figure: Figure
  readonly trend: Trend
}

/** Points of a line in the picture, and lines of a panel, of which the highest are drawn. */
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

  /** All that have a tolerance, and samples enough to say something. */
  judged(): ReadonlyArray<Judged> {
    return [...this.#byKey.values()].flatMap(({ figure, samples }) => {
      const trend = figure.tolerance === null ? null : trendOf(samples, figure.tolerance)
      return trend === null ? [] : [{ figure, trend }]
    })
  }

  get panels(): ReadonlyArray<Panel> {
    const groups = Map.groupBy(this.#byKey.values(), ({ figure }) => figure.panel)
    return [...groups].map(([title, entries]) => ({
      title,
      lines: entries
        .map(({ figure, samples }): Line => ({ name: figure.name, points: drawn(samples) }))
        .sort((a, b) => mostOf(b) - mostOf(a))
        .slice(0, linesMax)
        .sort((a, b) => (a.name < b.name ? -1 : 1))
    }))
  }

  /** Of one figure: median and most. Zero where there are no samples. */
  summary(panel: string, name: string): { readonly median: number; readonly most: number } {
    const values = (this.#byKey.get(`${panel}\n${name}`)?.samples ?? []).map(([, value]) => value)
    return values.length === 0 ? { median: 0, most: 0 } : { median: medianOf(values), most: Math.max(...values) }
  }
}

const mostOf = ({ points }: Line): number => Math.max(...points.map(([, value]) => value))

/** The largest of neighbours stands for them: a picture that hides peaks is worth nothing. */
const drawn = (samples: ReadonlyArray<Sample>): ReadonlyArray<Sample> => {
  const size = Math.ceil(samples.length / drawnMax)
  return Array.from({ length: Math.ceil(samples.length / size) }, (_, index) => {
    const group = samples.slice(index * size, (index + 1) * size)
    return group.reduce((most, sample) => (sample[1] > most[1] ? sample : most))
  })
}
