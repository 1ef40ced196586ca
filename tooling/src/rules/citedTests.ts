/** The threat model must name an existing test file for each defence. */
import type { Finding } from "../Finding.ts"
import type { Repository } from "../Repository.ts"

const page = "SECURITY.md"

export const citedTests = ({ texts }: Repository): ReadonlyArray<Finding> => {
  const text = texts.get(page)
  return text === undefined ? [] : text.split("\n").flatMap((line, index) => faults(line, texts).map(at(index + 1)))
}

const at =
  (line: number) =>
  (message: string): Finding => ({ file: page, line, rule: "cited-test", message })

const faults = (line: string, texts: Repository["texts"]): ReadonlyArray<string> => {
  const paths = [...line.matchAll(/`([\w./-]+\.ts)`/g)].flatMap(([, path]) => (path === undefined ? [] : [path]))
  const missing = paths.filter((path) => !texts.has(path)).map((path) => `${path} does not exist`)
  // A row of the table is a threat, its defence and its test.
  const cells = line.split("|").length
  return isRow(line) && cells === 5 && paths.length === 0 ? [...missing, "a defence without a test"] : missing
}

const isRow = (line: string): boolean =>
  line.startsWith("|") && !/^\|[\s|:-]*\|$/.test(line) && !/^\| *threat *\|/.test(line)
