/** What a soak came to, for readers. */

import type { Found } from "../proof/Proof.ts"
import { show } from "../Report.ts"
import type { Judged } from "./Series.ts"
import type { Soaked } from "./Soak.ts"
import { certain } from "./Trend.ts"
import { kept, own, panelOfKept } from "./Watch.ts"

/** Of the requests that were to be made; more that are left out are another load than the one that is told. */
const shareSkippedMost = 0.01

/** Of less, the last three quarters are what comes after a start. */
const minutesJudged = 20

export const verdictOf = (soaked: Soaked): Found => {
  const { tally, chores, findings, series, minutes } = soaked
  const judged = minutes >= minutesJudged ? series.judged() : []
  const growing = judged.filter(({ trend }) => trend.grows)
  const choresDone = [...chores.done.values()].reduce((sum, count) => sum + count, 0)
  const answered = [...soaked.latencies.counts.values()].reduce((sum, count) => sum + count, 0)
  return {
    figures: [
      ["load, requests/s", soaked.rate],
      ...(soaked.capacity === null
        ? []
        : [["capacity that was found before, requests/s", soaked.capacity.perSecond] as const]),
      ["requests acknowledged", tally.acknowledged],
      ["requests of unknown outcome", tally.unknown],
      ["requests not made, as 400 waited for answers", tally.skipped],
      ["events stored, each looked at", tally.events],
      ["runs stored, each looked at", tally.runs],
      ["runs succeeded", tally.succeeded],
      ["runs failed as they had to", tally.failedAsPlanned],
      ["ticks fired", tally.ticks],
      ["ticks that fired as one, as the machine stood still", tally.ticksJoined],
      ["streams followed to their end", tally.streamsFollowed],
      ["facts that watchers had to be told", tally.factsWatched],
      ...[...chores.done].map(([kind, count]): readonly [string, number] => [`done: ${kind}`, count]),
      ["answers measured", answered],
      ["until all of a round had ended, at most, s", tally.settledMsMost / 1000],
      [
        "how late the timers of the load's own process were at most, s",
        series.summary(own.panel, own.name).most / 1000
      ],
      ...headlines(soaked),
      ["figures judged for growth", judged.length],
      ["figures that grow", growing.length],
      ["chores that failed", chores.failures.length],
      ["acknowledged and missing, or otherwise not as it must", findings.total]
    ],
    failures: [
      ...growing.map(tellGrowth),
      ...findings.all.flatMap(({ what, count, samples }) =>
        count === 0 ? [] : [`${what}: ${count}, such as ${samples[0] ?? "nothing that could be told"}`]
      ),
      ...chores.failures.slice(0, 20),
      ...(tally.skipped > shareSkippedMost * (tally.acknowledged + tally.skipped)
        ? [`${tally.skipped} requests were not made, as 400 waited for answers`]
        : []),
      ...(choresDone === 0 ? ["no chore was done"] : []),
      ...(tally.events === 0 ? ["no event was looked at"] : [])
    ],
    notes: notesOf(soaked, judged),
    panels: series.panels
  }
}

const headlines = ({ series }: Soaked): ReadonlyArray<readonly [string, number]> => {
  const panels = new Map(series.panels.map(({ title, lines }) => [title, lines.map(({ name }) => name)]))
  const wanted = ["memory of a node", "heap of a node", "memory of a node's runners", "descriptors", "median", "99th"]
  return [...panels]
    .filter(([title]) => wanted.some((word) => title.startsWith(word)))
    .flatMap(([title, names]) =>
      names.flatMap((name): ReadonlyArray<readonly [string, number]> => {
        const { median, most } = series.summary(title, name)
        return [
          [`${title}: ${name}, median`, median],
          [`${title}: ${name}, most`, most]
        ]
      })
    )
}

const signed = (value: number): string => `${value < 0 ? "−" : "+"}${show(Math.abs(value))}`

const tellGrowth = ({ figure, trend }: Judged): string =>
  `${figure.panel}, ${figure.name}: ${signed(trend.growth)} in the last three quarters, at a median of ${show(trend.median)}; ${show(trend.allowed)} are allowed`

const tablesKept = ({ series }: Soaked): ReadonlyArray<string> =>
  series.panels.filter(({ title }) => title === panelOfKept).flatMap(({ lines }) => lines.map(({ name }) => name))

const notesOf = (soaked: Soaked, judged: ReadonlyArray<Judged>): ReadonlyArray<string> => [
  `${soaked.what}; ended runs are kept for ${Math.round(soaked.retentionMs / 1000)} s`,
  ...(judged.length === 0
    ? [`growth is judged of ${minutesJudged} minutes and more`]
    : [
        `growth: the slope of Theil and Sen over the last three quarters, when the rank test of Mann and Kendall is sure of it by more than ${certain} standard deviations`,
        ...judged.map(
          ({ figure, trend }) =>
            `${figure.panel}, ${figure.name}: ${signed(trend.growth)} at a median of ${show(trend.median)}, up to ${show(trend.allowed)} allowed; sure by ${show(trend.certainty)}`
        )
      ]),
  ...tablesKept(soaked).map((table) => `table ${table} is not judged: ${kept.get(table)}`)
]
