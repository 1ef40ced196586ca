/**
 * Detects growth of a figure in spite of outliers and sawteeth. The size comes from the Theil–Sen slope, the median of the
 * slopes of all pairs; the significance comes from the Mann–Kendall rank test.
 */

/** Time in minutes, and the value at that time. */
export type Sample = readonly [minutes: number, value: number]

/** Maximum growth of a figure over the checked time: the larger of both values. */
export interface Tolerance {
  /** Share of the median. */
  readonly share: number
  /** Minimum in the unit of the figure. */
  readonly least: number
}

export interface Trend {
  readonly median: number
  /** Growth per minute. */
  readonly slope: number
  /** Growth over the checked time. */
  readonly growth: number
  /** Maximum allowed growth. */
  readonly allowed: number
  /** Significance of an upward trend, in standard deviations of the rank test. */
  readonly certainty: number
  /** True if the growth exceeds the maximum and is significant. */
  readonly grows: boolean
}

/** Threshold of significance: fewer than 1 in 700 series without a trend exceed it. */
export const certain = 3

/** Maximum samples, because all pairs are compared; more samples are reduced to medians of neighbours. */
const samplesMax = 200

/** Computes the trend of the last three quarters, because caches fill in the first. Returns null for fewer than 8 samples. */
export const computeTrend = (samples: ReadonlyArray<Sample>, tolerance: Tolerance): Trend | null => {
  const checked = thinned(lastThreeQuarters(samples))
  const [first, last] = [checked[0], checked.at(-1)]
  if (first === undefined || last === undefined || checked.length < 8) return null
  const slopes: Array<number> = []
  let ups = 0
  checked.forEach(([t1, v1], index) => {
    for (const [t2, v2] of checked.slice(index + 1)) {
      slopes.push((v2 - v1) / (t2 - t1))
      ups += Math.sign(v2 - v1)
    }
  })
  const median = computeMedian(checked.map(([, value]) => value))
  const slope = computeMedian(slopes)
  const growth = slope * (last[0] - first[0])
  const allowed = Math.max(tolerance.least, tolerance.share * median)
  const certainty = ups / deviationOfRanks(checked.map(([, value]) => value))
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
    return [computeMedian(group.map(([minutes]) => minutes)), computeMedian(group.map(([, value]) => value))]
  })
}

/** Returns the standard deviation of the sum of signs without a trend, corrected for ties. */
const deviationOfRanks = (values: ReadonlyArray<number>): number => {
  const term = (n: number): number => n * (n - 1) * (2 * n + 5)
  const ties = [...Map.groupBy(values, (value) => value).values()].map(({ length }) => term(length))
  const variance = (term(values.length) - ties.reduce((sum, each) => sum + each, 0)) / 18
  return variance > 0 ? Math.sqrt(variance) : Number.POSITIVE_INFINITY
}

export const computeMedian = (values: ReadonlyArray<number>): number => {
  // Sorts by number, and faster than an array.
  const sorted = Float64Array.from(values).sort()
  const middle = sorted.length / 2
  const high = sorted[Math.floor(middle)] ?? Number.NaN
  return Number.isInteger(middle) ? ((sorted[middle - 1] ?? Number.NaN) + high) / 2 : high
}
