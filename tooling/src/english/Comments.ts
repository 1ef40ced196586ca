/** The prose of comments: paragraphs, list items and tags, without asterisks, examples and directives. */
import type { Comment } from "oxc-parser"
import { blank, maskCode, type Passage } from "./Passage.ts"

const directive =
  /^\s*(?:biome-|eslint-|@ts-|ts-|v8 |c8 |istanbul |#|\/\s*<|@__|__PURE__|@vitest|english-ok|SPDX-|\*?\s*@license)/

/** Starts of a passage, besides blank lines. */
const listItem = /^\s*(?:[-*]\s|\d+[.)]\s|--?\w)\s*/
const tag = /^\s*@(\w+)(?:\s+\{[^}]*\})?(?:\s+(?:\[[^\]]*\]|[\w.$]+)\s*(?:-\s)?)?/

export const passagesInComments = (text: string, comments: ReadonlyArray<Comment>): ReadonlyArray<Passage> =>
  joinLines(text, comments).flatMap(({ start, end, docstring }) => {
    const source = text.slice(start, end)
    if (directive.test(source.replace(/^\/[/*]+/, ""))) return []
    return split(stripped(source), start, docstring)
  })

interface Block {
  readonly start: number
  end: number
  readonly docstring: boolean
  readonly line: boolean
}

/** Joins line comments that follow each other to one block. */
const joinLines = (text: string, comments: ReadonlyArray<Comment>): ReadonlyArray<Block> => {
  const blocks: Array<Block> = []
  for (const { type, start, end, value } of comments) {
    const last = blocks.at(-1)
    const line = type === "Line"
    if (line && last?.line === true && !directive.test(value) && /^\n[ \t]*$/.test(text.slice(last.end, start))) {
      const lastLine = text.slice(text.lastIndexOf("\n", last.end - 1) + 1, last.end)
      if (!directive.test(lastLine.replace(/^\s*\/\//, "")) && /^\s*\/\//.test(lastLine)) {
        last.end = end
        continue
      }
    }
    blocks.push({ start, end, docstring: text.startsWith("/**", start) && end - start > 5, line })
  }
  return blocks
}

const stripped = (source: string): string => {
  const bare = source
    .replace(/^\/\*+|\*+\/$/g, blank)
    .replace(/^[ \t]*\*(?=\s|$)/gm, blank)
    .replace(/^[ \t]*\/\/+/gm, blank)
    // The cells of a table are sentences.
    .replace(/^[ \t]*\|.*$/gm, (row) => row.replace(/\|/g, "."))
  return maskCode(bare.replace(/```[\s\S]*?(?:```|$)/g, blank).replace(/@example[\s\S]*?(?=\n\s*@\w|$)/g, blank))
}

const split = (text: string, start: number, docstring: boolean): ReadonlyArray<Passage> => {
  const passages: Array<Passage> = []
  const kind = docstring ? "docstring" : "comment"
  let from = 0
  let to = 0
  let opens = docstring
  const flush = () => {
    const prose = text.slice(from, to)
    if (/[A-Za-z]/.test(prose)) passages.push({ kind, start: start + from, text: prose, opens })
    else if (!opens) return
    opens = opens && passages.length === 0 && docstring
  }
  for (const line of text.split(/(?<=\n)/)) {
    const tagged = docstring ? tag.exec(line) : null
    const item = listItem.exec(line)
    if (line.trim() === "" || tagged !== null || item !== null) {
      flush()
      from = to + (tagged ?? item ?? [""])[0].length
      if (tagged !== null) opens = tagged[1] !== "see"
    }
    to += line.length
  }
  flush()
  return passages
}
