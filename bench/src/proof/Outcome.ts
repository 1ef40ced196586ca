/** What came of a proof, as it is kept: a file for each in `docs/reliability`, which the page is made of. */
import { execFileSync } from "node:child_process"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { Schema } from "effect"

const Pair = Schema.Tuple([Schema.String, Schema.Finite])
const Line = Schema.Struct({ name: Schema.String, points: Schema.Array(Schema.Tuple([Schema.Finite, Schema.Finite])) })
const Texts = Schema.Array(Schema.String)

export const Outcome = Schema.Struct({
  name: Schema.NonEmptyString,
  /** `2026-11-22`, in UTC. */
  date: Schema.String,
  /** That does it again. */
  command: Schema.String,
  /** Short hash of the commit; with a `+` where files differed from it. */
  revision: Schema.String,
  minutes: Schema.Finite,
  figures: Schema.Array(Pair),
  notes: Texts,
  /** What was not as it must; none where it is left out. */
  failures: Schema.optionalKey(Texts),
  panels: Schema.optionalKey(Schema.Array(Schema.Struct({ title: Schema.String, lines: Schema.Array(Line) })))
})
export type Outcome = typeof Outcome.Type

export const outcomesFolder = new URL("../../../docs/reliability/", import.meta.url)

export const thisRevision = (): string =>
  execFileSync("git", ["describe", "--always", "--exclude=*", "--dirty=+"], {
    cwd: new URL(".", import.meta.url),
    encoding: "utf8"
  }).trim()

/** Four digits say all that can be said of a figure. */
const rounded = (_: string, value: unknown): unknown =>
  typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value

/** A point of a line takes one line. */
const asText = (outcome: Outcome): string =>
  JSON.stringify(outcome, rounded, 2).replace(
    /\[\s+([^[\]{}]+?)\s+\](?=,?\n)/g,
    (_, inner: string) => `[${inner.replace(/\n\s+/g, " ")}]`
  )

export const write = (file: string | URL, outcome: Outcome): void => writeFileSync(file, `${asText(outcome)}\n`)

export const keep = (outcome: Outcome): URL => {
  mkdirSync(outcomesFolder, { recursive: true })
  const file = new URL(`${outcome.name}.json`, outcomesFolder)
  write(file, outcome)
  return file
}

/** By name. A file that is none of these ends it with a word about which. */
export const keptOutcomes = (folder: URL = outcomesFolder): ReadonlyMap<string, Outcome> => {
  const files = readdirSync(folder).filter((file) => file.endsWith(".json"))
  return new Map(
    files.sort().map((file) => {
      const outcome = read(file, readFileSync(new URL(file, folder), "utf8"))
      if (`${outcome.name}.json` !== file) throw new Error(`${file} is of ${outcome.name}`)
      return [outcome.name, outcome]
    })
  )
}

const read = (file: string, text: string): Outcome => {
  try {
    return Schema.decodeUnknownSync(Schema.fromJsonString(Outcome))(text)
  } catch (error) {
    throw new Error(`${file} is no outcome of a proof`, { cause: error })
  }
}
