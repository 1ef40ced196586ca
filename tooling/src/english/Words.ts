/** The words of `tooling/english/patterns.yml` in any text. */
import { fileURLToPath } from "node:url"
import { fromYAMLFilePath } from "prh"

/** Path of the one list of patterns. */
export const patternsFile = fileURLToPath(new URL("../../english/patterns.yml", import.meta.url))

/** A match of a pattern. */
export interface WordMatch {
  readonly at: number
  readonly found: string
  readonly say: string
}

const engine = fromYAMLFilePath(patternsFile)

/** Returns all matches of the patterns in a text. */
export const findWords = (text: string): ReadonlyArray<WordMatch> =>
  engine.makeChangeSet("", text).diffs.map(({ index, matches, expected }) => ({
    at: index,
    found: (matches[0] ?? "").replace(/\s+/g, " "),
    say: expected ?? ""
  }))
