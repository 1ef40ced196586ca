/** `english-ok: reason` on the same line, or on the line above a line, a comment or a paragraph. */
import type { EnglishFinding } from "./Finding.ts"

const mark = /(?:\/\/|<!--|\/\*|#)\s*english-ok:(?:[ \t]*(.*?))?\s*(?:-->|\*\/|$)/

/** The findings without the excepted ones, plus those about exceptions that have no reason or no effect. */
export const withoutExceptions = (
  file: string,
  text: string,
  findings: ReadonlyArray<EnglishFinding>
): ReadonlyArray<EnglishFinding> => {
  if (!text.includes("english-ok:")) return findings
  const lines = text.split("\n")
  let left = findings
  for (const [index, source] of lines.entries()) {
    const marked = mark.exec(source)
    if (marked === null) continue
    const alone = source.slice(0, marked.index).trim() === ""
    const first = alone ? index + 2 : index + 1
    const last = alone ? endOfBlock(lines, index + 1) : index + 1
    const kept = left.filter(({ line }) => line < first || line > last)
    const place = { file, line: index + 1, column: marked.index + 1, rule: "exception" }
    if (kept.length === left.length) {
      left = [...left, { ...place, message: "english-ok excepts nothing", say: "delete it" }]
    } else if ((marked[1] ?? "") === "") {
      left = [...kept, { ...place, message: "english-ok without a reason", say: "english-ok: why this is right" }]
    } else left = kept
  }
  return left
}

/** The last line, from 1, of the comment or paragraph that begins at a line's index; of a statement, its first line. */
const endOfBlock = (lines: ReadonlyArray<string>, index: number): number => {
  const first = lines[index] ?? ""
  const continues = /^\s*#/.test(first)
    ? (line: string) => /^\s*#/.test(line)
    : /^\s*\/\//.test(first)
      ? (line: string) => /^\s*\/\//.test(line)
      : /^\s*\/\*/.test(first)
        ? (line: string) => /^\s*\*/.test(line)
        : /^\s*[A-Za-z*_`[]/.test(first) && /^[^(){};=]*$/.test(first)
          ? (line: string) => line.trim() !== "" && !/^\s*(?:[-*+|]|\d+\.)\s/.test(line)
          : () => false
  let end = index
  while (end + 1 < lines.length && continues(lines[end + 1] ?? "")) end++
  return end + 1
}
