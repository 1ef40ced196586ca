/** The page `docs/reliability.md`, built from the proofs and their recorded outcomes. */
import { writeFileSync } from "node:fs"
import type { Proof } from "../Proof.ts"
import { type Outcome, outcomesFolder, recordedOutcomes } from "./Outcome.ts"
import { drawPanels } from "./Picture.ts"

export const page = new URL("../../../docs/reliability.md", import.meta.url)

export const pictureUrl = (name: string): URL => new URL(`${name}.svg`, outcomesFolder)

const introduction = `# Reliability

Experiments that try to break Weft, and their results. Each section has the date of its run. \`npm run proof -- NAME\`
repeats an experiment for \`--minutes\` or \`--seeds\`, and \`--record\` writes its outcome to this page. Short forms run as
tests with every change. A revision with a \`+\` had uncommitted changes.`

/** Returns the table of all proofs, with date, duration and result. */
const summary = (names: ReadonlyArray<string>, proofs: Proofs, outcomes: Outcomes): string =>
  [
    "| | date | duration | held |",
    "| --- | --- | ---: | --- |",
    ...names.map((name) => {
      const title = `[${proofs.get(name)?.title ?? name}](#${toAnchor(proofs.get(name)?.title ?? name)})`
      const outcome = outcomes.get(name)
      if (outcome === undefined) return `| ${title} | not recorded yet | | |`
      return `| ${title} | ${outcome.date} | ${time(outcome.minutes)} | ${held(outcome)} |`
    })
  ].join("\n")

const held = ({ failures = [] }: Outcome): string => (failures.length === 0 ? "yes" : `**no**: ${failures.length}`)

const time = (minutes: number): string => (minutes < 1 ? `${Math.round(minutes * 60)} s` : `${minutes.toFixed(1)} min`)

/** Returns the anchor that GitHub derives from a heading. */
const toAnchor = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replace(/\s/g, "-")

const cell = (text: string): string => text.replace(/[|<]/g, (sign) => `\\${sign}`).replace(/\s+/g, " ")

const shown = (value: number): string => value.toLocaleString("en-US", { maximumFractionDigits: 2 })

const section = (name: string, proof: Proof | undefined, outcome: Outcome | undefined): string => {
  const parts = [`## ${proof?.title ?? name}`]
  if (proof !== undefined) parts.push(proof.does)
  if (outcome === undefined) parts.push(`No outcome is recorded yet: \`npm run proof -- ${name} --record\`.`)
  else {
    parts.push(`${outcome.date}, ${time(outcome.minutes)}, revision ${outcome.revision}: \`${outcome.command}\``)
    if (outcome.panels !== undefined) parts.push(`![${proof?.title ?? name}, over time](reliability/${name}.svg)`)
    const rows = outcome.figures.map(([label, value]) => `| ${cell(label)} | ${shown(value)} |`)
    parts.push(["| | |", "| --- | ---: |", ...rows].join("\n"))
    if (outcome.table !== undefined) parts.push(drawTable(outcome.table))
    const { failures = [], notes } = outcome
    if (failures.length > 0) parts.push(`Violations:\n\n${failures.map((text) => `- ${cell(text)}`).join("\n")}`)
    if (notes.length > 0) parts.push(notes.map((text) => `- ${cell(text)}`).join("\n"))
  }
  if (proof !== undefined) parts.push(`**Shows:** ${proof.shows}\n\n**Does not show:** ${proof.doesNotShow}`)
  return parts.join("\n\n")
}

/** Columns whose cells are all numbers are aligned right. */
const drawTable = ({ columns, rows }: NonNullable<Outcome["table"]>): string => {
  const line = (cells: ReadonlyArray<string>): string => `| ${cells.join(" | ")} |`
  const isNumeric = (index: number): boolean => rows.every((row) => typeof row[index] === "number")
  return [
    line(columns.map(cell)),
    line(columns.map((_, index) => (isNumeric(index) ? "---:" : "---"))),
    ...rows.map((row) => line(row.map((value) => (typeof value === "number" ? shown(value) : cell(value)))))
  ].join("\n")
}

type Proofs = ReadonlyMap<string, Proof>
type Outcomes = ReadonlyMap<string, Outcome>

/** Builds the page: proofs in their order, then recorded outcomes of removed proofs. */
export const buildPage = (proofs: Proofs, outcomes: Outcomes): string => {
  const names = [...new Set([...proofs.keys(), ...outcomes.keys()])]
  const sections = names.map((name) => section(name, proofs.get(name), outcomes.get(name)))
  return `${[introduction, summary(names, proofs, outcomes), ...sections].join("\n\n")}\n`
}

/** Draws the pictures of recorded outcomes, by name. */
export const drawPictures = (outcomes: Outcomes): ReadonlyMap<string, string> =>
  new Map(
    [...outcomes].flatMap(([name, { panels }]) => (panels === undefined ? [] : [[name, drawPanels(name, panels)]]))
  )

export const writePage = (proofs: Proofs): void => {
  const outcomes = recordedOutcomes()
  writeFileSync(page, buildPage(proofs, outcomes))
  for (const [name, picture] of drawPictures(outcomes)) writeFileSync(pictureUrl(name), picture)
}
