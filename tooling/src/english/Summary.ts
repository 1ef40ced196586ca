import type { EnglishFinding } from "./Finding.ts"

/** Counts of findings: a row per top folder, a column per rule. */
export const summarize = (findings: ReadonlyArray<EnglishFinding>): string => {
  const rules = [...new Set(findings.map(({ rule }) => rule))].sort()
  const folders = Map.groupBy(findings, ({ file }) => folderOf(file))
  const rows = [...folders]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([folder, found]) => row(folder, rules, found))
  return [["", ...rules, "all"].map(pad).join(""), ...rows, row("all", rules, findings)].join("\n")
}

const row = (name: string, rules: ReadonlyArray<string>, findings: ReadonlyArray<EnglishFinding>): string =>
  [name, ...rules.map((rule) => findings.filter((one) => one.rule === rule).length), findings.length].map(pad).join("")

const pad = (cell: string | number, column: number): string =>
  column === 0 ? String(cell).padEnd(24) : String(cell).padStart(10)

const folderOf = (file: string): string => {
  const [first = "", second = ""] = file.split("/")
  return /^(?:packages|adapters|examples|bench|proof|tooling)$/.test(first) ? `${first}/${second}` : first
}
