/** Recorded outcomes of proofs: one file per proof in `docs/reliability`, the source of the page. */
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
  /** Command that repeats it. */
  command: Schema.String,
  /** Short hash of the commit, with a `+` if files differed from it. */
  revision: Schema.String,
  minutes: Schema.Finite,
  figures: Schema.Array(Pair),
  notes: Texts,
  /** Violations; missing if everything held. */
  failures: Schema.optionalKey(Texts),
  table: Schema.optionalKey(
    Schema.Struct({
      columns: Texts,
      rows: Schema.Array(Schema.Array(Schema.Union([Schema.String, Schema.Finite])))
    })
  ),
  panels: Schema.optionalKey(Schema.Array(Schema.Struct({ title: Schema.String, lines: Schema.Array(Line) })))
})
export type Outcome = typeof Outcome.Type

export const outcomesFolder = new URL("../../../docs/reliability/", import.meta.url)

export const readRevision = (): string =>
  execFileSync("git", ["describe", "--always", "--exclude=*", "--dirty=+"], {
    cwd: new URL(".", import.meta.url),
    encoding: "utf8"
  }).trim()

/** Rounds to four significant digits. */
const rounded = (_: string, value: unknown): unknown =>
  typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value

/** Formats an outcome with one line for each point and figure. */
const asText = (outcome: Outcome): string =>
  JSON.stringify(outcome, rounded, 2).replace(
    /\[\s+([^[\]{}]+?)\s+\](?=,?\n)/g,
    (_, inner: string) => `[${inner.replace(/\n\s+/g, " ")}]`
  )

export const write = (file: string | URL, outcome: Outcome): void => writeFileSync(file, `${asText(outcome)}\n`)

export const record = (outcome: Outcome): URL => {
  mkdirSync(outcomesFolder, { recursive: true })
  const file = new URL(`${outcome.name}.json`, outcomesFolder)
  write(file, outcome)
  return file
}

/** Reads all outcomes by name; throws for a file that is not a valid outcome. */
export const recordedOutcomes = (folder: URL = outcomesFolder): ReadonlyMap<string, Outcome> => {
  const files = readdirSync(folder).filter((file) => file.endsWith(".json"))
  return new Map(
    files.sort().map((file) => {
      const outcome = read(file, readFileSync(new URL(file, folder), "utf8"))
      if (`${outcome.name}.json` !== file)
        throw new Error(`${file} contains the outcome of ${outcome.name}; rename it to ${outcome.name}.json`)
      return [outcome.name, outcome]
    })
  )
}

const read = (file: string, text: string): Outcome => {
  try {
    return Schema.decodeUnknownSync(Schema.fromJsonString(Outcome))(text)
  } catch (error) {
    throw new Error(`${file} is not a valid outcome of a proof`, { cause: error })
  }
}
