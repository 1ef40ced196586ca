/** The result of a soak as figures and failures. */
import { show } from "@weft/bench/instruments"
import type { ProofResult } from "../Proof.ts"
import type { CheckedTrend, Figure } from "./Series.ts"
import type { SoakResult } from "./Soak.ts"
import { certain } from "./Trend.ts"
import { kept, own, panelOfKept } from "./Watch.ts"

/** Maximum share of skipped requests; with more, the load was lower than reported. */
const shareSkippedMax = 0.01

/** Minimum minutes for checks of growth; the last three quarters of a shorter run still contain the warm-up. */
const minutesChecked = 20

export const summarize = (result: SoakResult): ProofResult => {
  const { totals, background, findings, series, minutes } = result
  const checked = minutes >= minutesChecked ? series.checked() : []
  const growing = checked.filter(({ trend }) => trend.grows)
  const backgroundDone = [...background.done.values()].reduce((sum, count) => sum + count, 0)
  const answered = [...result.latencies.counts.values()].reduce((sum, count) => sum + count, 0)
  return {
    figures: [
      ["load, requests/s", result.rate],
      ...(result.capacity === null ? [] : [["calibrated capacity, requests/s", result.capacity.perSecond] as const]),
      ["requests acknowledged", totals.acknowledged],
      ["requests of unknown outcome", totals.unknown],
      ["requests skipped because 400 were in flight", totals.skipped],
      ["events stored and checked", totals.events],
      ["runs stored and checked", totals.runs],
      ["runs succeeded", totals.succeeded],
      ["runs failed as planned", totals.failedAsPlanned],
      ["ticks fired", totals.ticks],
      ["ticks merged because the machine stalled", totals.ticksMerged],
      ["streams followed to their end", totals.streamsFollowed],
      ["messages that watchers had to receive", totals.messagesExpected],
      ...[...background.done].map(([kind, count]): readonly [string, number] => [`done: ${kind}`, count]),
      ["responses measured", answered],
      ["time until all work of a round had ended, maximum, s", totals.settledMsMax / 1000],
      ["timer delay of the load generator, maximum, s", series.summary(own.panel, own.name).max / 1000],
      ...headlines(result),
      ["figures checked for growth", checked.length],
      ["figures that grow", growing.length],
      ["background operations that failed", background.failures.length],
      ["violations", findings.total]
    ],
    failures: [
      ...growing.map(describeGrowth),
      ...findings.all.flatMap(({ what, count, samples }) =>
        count === 0 ? [] : [`${what}: ${count}, such as ${samples[0] ?? "no example"}`]
      ),
      ...background.failures.slice(0, 20),
      ...(totals.skipped > shareSkippedMax * (totals.acknowledged + totals.skipped)
        ? [`${totals.skipped} requests were skipped because 400 were in flight`]
        : []),
      ...(backgroundDone === 0 ? ["no background operation succeeded"] : []),
      ...(totals.events === 0 ? ["no event was checked"] : [])
    ],
    notes: listNotes(result, checked),
    panels: series.panels
  }
}

const headlines = ({ series }: SoakResult): ReadonlyArray<readonly [string, number]> => {
  const panels = new Map(series.panels.map(({ title, lines }) => [title, lines.map(({ name }) => name)]))
  const wanted = ["memory of a node", "heap of a node", "memory of a node's runners", "descriptors", "median", "99th"]
  return [...panels]
    .filter(([title]) => wanted.some((word) => title.startsWith(word)))
    .flatMap(([title, names]) =>
      names.flatMap((name): ReadonlyArray<readonly [string, number]> => {
        const { median, max } = series.summary(title, name)
        return [
          [`${title}: ${name}, median`, median],
          [`${title}: ${name}, maximum`, max]
        ]
      })
    )
}

const signed = (value: number): string => `${value < 0 ? "−" : "+"}${show(Math.abs(value))}`

const describeGrowth = ({ figure, trend }: CheckedTrend): string =>
  `${figure.panel}, ${figure.name}: ${signed(trend.growth)} in the last three quarters, with a median of ${show(trend.median)}; at most ${show(trend.allowed)} allowed`

/** Formats names of tables as code. */
const describeFigure = ({ panel, name }: Figure): string =>
  `${panel}, ${panel.startsWith("rows") ? `\`${name}\`` : name}`

const listRetainedTables = ({ series }: SoakResult): ReadonlyArray<string> =>
  series.panels.filter(({ title }) => title === panelOfKept).flatMap(({ lines }) => lines.map(({ name }) => name))

const listNotes = (result: SoakResult, checked: ReadonlyArray<CheckedTrend>): ReadonlyArray<string> => [
  `${result.what}; ended runs are retained for ${Math.round(result.retentionMs / 1000)} s`,
  ...(checked.length === 0
    ? [`growth is checked from ${minutesChecked} minutes on`]
    : [
        `growth: Theil–Sen slope over the last three quarters, if the Mann–Kendall test exceeds ${certain} standard deviations`,
        ...checked.map(
          ({ figure, trend }) =>
            `${describeFigure(figure)}: ${signed(trend.growth)} with a median of ${show(trend.median)}, at most ${show(trend.allowed)} allowed; significance ${show(trend.certainty)}`
        )
      ]),
  ...listRetainedTables(result).map((table) => `table \`${table}\` is not checked: ${kept.get(table)}`)
]
