/**
 * Whether a figure grows, by a test that single outliers and sawteeth do not sway: the slope of Theil and Sen, which is
 * the median of the slopes between all pairs, and the rank test of Mann and Kendall for whether there is one at all.
 */

/** Time in minutes, and the value then. */
export type Sample = readonly [minutes: number, value: number]

/** How much a figure may grow from the beginning to the end of what is judged: the larger of both counts. */
export interface Tolerance {
  /** Of its median. */
  readonly share: number
  /** In its own unit. */
  readonly least: number
}

export interface Trend {
  readonly median: number
  /** In a minute, by the median of all slopes. */
  readonly slope: number
  /** What the slope comes to over the time that is judged. */
  readonly growth: number
  /** What that may be. */
  readonly allowed: number
  /** How sure it is that there is a trend upwards, in standard deviations of the rank test. */
  readonly certainty: number
  /** More than is allowed, and no accident. */
  readonly grows: boolean
}

/** Less than one in seven hundred series without a trend is as certain. */
export const certain = 3

/** Pairs are many: of more samples, medians of as many neighbours as needed stand for all. */
const samplesMax = 200

/** Of the last three quarters: in the first one caches are filled. Null of fewer than 8 samples, which say nothing. */
export const trendOf = (samples: ReadonlyArray<Sample>, tolerance: Tolerance): Trend | null => {
  const judged = thinned(lastThreeQuarters(samples))
  const [first, last] = [judged[0], judged.at(-1)]
  if (first === undefined || last === undefined || judged.length < 8) return null
  const slopes: Array<number> = []
  let ups = 0
  judged.forEach(([t1, v1], index) => {
    for (const [t2, v2] of judged.slice(index + 1)) {
      slopes.push((v2 - v1) / (t2 - t1))
      ups += Math.sign(v2 - v1)
    }
  })
  const median = medianOf(judged.map(([, value]) => value))
  const slope = medianOf(slopes)
  const growth = slope * (last[0] - first[0])
  const allowed = Math.max(tolerance.least, tolerance.share * median)
  const certainty = ups / deviationOfRanks(judged.map(([, value]) => value))
  return { median, slope, growth, allowed, certainty, grows: growth > allowed && certainty > certain }
}

const lastThreeQuarters = (samples: ReadonlyArray<Sample>): ReadonlyArray<Sample> => {
  const [first, last] = [samples[0]?.[0] ?? 0, samples.at(-1)?.[0] ?? 0]
  return samples.filter(([minutes]) => minutes >= first + (last - first) / 4)
}

const thinned = (samples: ReadonlyArray<Sample>): ReadonlyArray<Sample> => {
  const size = Math.ceil(samples.length / samplesMax)
  if (size <= 1) return samples
  return Array.from({ length: Math.floor(samples.length / size) }, (_, index) => {
    const group = samples.slice(index * size, (index + 1) * size)
    return [medianOf(group.map(([minutes]) => minutes)), medianOf(group.map(([, value]) => value))]
  })
}

/** Standard deviation of the sum of signs where there is no trend, with equal values taken for what they are. */
const deviationOfRanks = (values: ReadonlyArray<number>): number => {
  const term = (n: number): number => n * (n - 1) * (2 * n + 5)
  const ties = [...Map.groupBy(values, (value) => value).values()].map(({ length }) => term(length))
  const variance = (term(values.length) - ties.reduce((sum, each) => sum + each, 0)) / 18
  return variance > 0 ? Math.sqrt(variance) : Number.POSITIVE_INFINITY
}

export const medianOf = (values: ReadonlyArray<number>): number => {
  // Sorts as numbers, and quicker than an array.
  const sorted = Float64Array.from(values).sort()
  const middle = sorted.length / 2
  const high = sorted[Math.floor(middle)] ?? Number.NaN
  return Number.isInteger(middle) ? ((sorted[middle - 1] ?? Number.NaN) + high) / 2 : high
}
