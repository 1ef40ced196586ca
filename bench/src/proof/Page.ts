/** `docs/reliability.md`: all of it is made of what the proofs are, and of what is kept of them. */
import { writeFileSync } from "node:fs"
import { keptOutcomes, type Outcome, outcomesFolder } from "./Outcome.ts"
import { pictureOfPanels } from "./Picture.ts"
import type { Proof } from "./Proof.ts"

export const page = new URL("../../../docs/reliability.md", import.meta.url)

export const pictureOf = (name: string): URL => new URL(`${name}.svg`, outcomesFolder)

const introduction = `# Reliability

What was done to Weft to see whether it breaks, how often, and what came of it. The figures are of the runs that the dates
name; \`npm run proof -- NAME\` does any of them again, for as long as \`--minutes\` or \`--seeds\` say, and \`--keep\` writes
what came of it here. Short forms of them are tests, which run with every change. A revision with a \`+\` had changes
that were not committed yet.`

/** What somebody who reads one table wants: how much of what, and whether it held. */
const summary = (names: ReadonlyArray<string>, proofs: Proofs, outcomes: Outcomes): string =>
  [
    "| | when | how long | held |",
    "| --- | --- | ---: | --- |",
    ...names.map((name) => {
      const title = `[${proofs.get(name)?.title ?? name}](#${anchorOf(proofs.get(name)?.title ?? name)})`
      const outcome = outcomes.get(name)
      if (outcome === undefined) return `| ${title} | not kept yet | | |`
      return `| ${title} | ${outcome.date} | ${time(outcome.minutes)} | ${held(outcome)} |`
    })
  ].join("\n")

const held = ({ failures = [] }: Outcome): string => (failures.length === 0 ? "yes" : `**no**: ${failures.length}`)

const time = (minutes: number): string => (minutes < 1 ? `${Math.round(minutes * 60)} s` : `${minutes.toFixed(1)} min`)

/** As GitHub makes it. */
const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replace(/\s/g, "-")

const cell = (text: string): string => text.replace(/[|<]/g, (sign) => `\\${sign}`).replace(/\s+/g, " ")

const shown = (value: number): string => value.toLocaleString("en-US", { maximumFractionDigits: 2 })

const section = (name: string, proof: Proof | undefined, outcome: Outcome | undefined): string => {
  const parts = [`## ${proof?.title ?? name}`]
  if (proof !== undefined) parts.push(proof.does)
  if (outcome === undefined) parts.push(`Nothing is kept of it yet: \`npm run proof -- ${name} --keep\`.`)
  else {
    parts.push(`${outcome.date}, ${time(outcome.minutes)}, revision ${outcome.revision}: \`${outcome.command}\``)
    if (outcome.panels !== undefined) parts.push(`![${proof?.title ?? name}, over time](reliability/${name}.svg)`)
    const rows = outcome.figures.map(([label, value]) => `| ${cell(label)} | ${shown(value)} |`)
    parts.push(["| | |", "| --- | ---: |", ...rows].join("\n"))
    const { failures = [], notes } = outcome
    if (failures.length > 0) parts.push(`What did not hold:\n\n${failures.map((text) => `- ${cell(text)}`).join("\n")}`)
    if (notes.length > 0) parts.push(notes.map((text) => `- ${cell(text)}`).join("\n"))
  }
  if (proof !== undefined) parts.push(`It shows: ${proof.shows}\n\nIt does not show: ${proof.doesNotShow}`)
  return parts.join("\n\n")
}

type Proofs = ReadonlyMap<string, Proof>
type Outcomes = ReadonlyMap<string, Outcome>

/** Proofs in their order, then what is kept of others. */
export const pageOf = (proofs: Proofs, outcomes: Outcomes): string => {
  const names = [...new Set([...proofs.keys(), ...outcomes.keys()])]
  const sections = names.map((name) => section(name, proofs.get(name), outcomes.get(name)))
  return `${[introduction, summary(names, proofs, outcomes), ...sections].join("\n\n")}\n`
}

/** Pictures of what is kept, by name. */
export const picturesOf = (outcomes: Outcomes): ReadonlyMap<string, string> =>
  new Map(
    [...outcomes].flatMap(([name, { panels }]) => (panels === undefined ? [] : [[name, pictureOfPanels(name, panels)]]))
  )

export const writePage = (proofs: Proofs): void => {
  const outcomes = keptOutcomes()
  writeFileSync(page, pageOf(proofs, outcomes))
  for (const [name, picture] of picturesOf(outcomes)) writeFileSync(pictureOf(name), picture)
}
