/** The code blocks of a page, each with what the comment before it says of it. */
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

export const root = fileURLToPath(new URL("../../..", import.meta.url))

export type Note =
  /** `<!-- not run: reason -->` */
  | { readonly kind: "not run"; readonly reason: string }
  /** `<!-- run by FILE -->`: a test that does more with it than those here; `all run by FILE` for the whole page. */
  | { readonly kind: "run by"; readonly file: string }
  /** `<!-- output -->`: what the commands before it print, with `…` for whatever differs. */
  | { readonly kind: "output" }
  /** `<!-- runs -->`: a program that is also run, not only checked. */
  | { readonly kind: "runs" }

export interface Block {
  /** From the root of the repository. */
  readonly page: string
  /** Of the first line of code, from 1. */
  readonly line: number
  readonly language: string
  readonly code: string
  /** In a comment of the page: it prepares what the blocks after it need. */
  readonly isHidden: boolean
  readonly note: Note | null
}

const notes: ReadonlyArray<readonly [pattern: RegExp, note: (said: string) => Note]> = [
  [/^not run: (\S[\s\S]*)$/, (reason) => ({ kind: "not run", reason: reason.replace(/\s+/g, " ") })],
  [/^run by (\S+)$/, (file) => ({ kind: "run by", file })],
  [/^output$/, () => ({ kind: "output" })],
  [/^runs$/, () => ({ kind: "runs" })]
]

const noteOf = (comment: string): Note | null => {
  for (const [pattern, note] of notes) {
    const match = pattern.exec(comment.trim())
    if (match !== null) return note(match[1] ?? "")
  }
  return null
}

/** A fence, whose indentation is that of the list it stands in, or a comment. */
const parts = /^( *)(```+)([^\n`]*)\n([\s\S]*?)^\1\2 *$|^<!--([\s\S]*?)-->$/gm

/** Hidden code is a comment whose first line is nothing but its language. */
const hidden = /^ *(sh|ts|js)\n([\s\S]*)$/

export const blocksIn = (page: string, text: string): ReadonlyArray<Block> => {
  const blocks: Array<Block> = []
  const [, file] = /^<!-- all run by (\S+) -->$/m.exec(text) ?? []
  const ofPage: Note | null = file === undefined ? null : { kind: "run by", file }
  let note: Note | null = null
  let noteEnd = 0
  for (const match of text.matchAll(parts)) {
    const [whole, indent = "", , info = "", code = "", comment] = match
    const line = text.slice(0, match.index).split("\n").length + 1
    if (comment === undefined) {
      const isNear = text.slice(noteEnd, match.index).trim() === ""
      const unindented = code.replace(new RegExp(`^${indent}`, "gm"), "")
      const language = info.trim()
      blocks.push({ page, line, language, code: unindented, isHidden: false, note: (isNear ? note : null) ?? ofPage })
      note = null
      continue
    }
    const [, language, hiddenCode = ""] = hidden.exec(comment) ?? []
    if (language !== undefined) {
      blocks.push({ page, line, language, code: hiddenCode, isHidden: true, note: null })
    } else {
      note = noteOf(comment)
      noteEnd = match.index + whole.length
    }
  }
  return blocks
}

/** The pages that people read, from the root of the repository. */
export const pages = (): ReadonlyArray<string> => {
  const below = readdirSync(`${root}/docs`, { recursive: true, encoding: "utf8" })
  const written = below.filter((file) => /^(http\/|decisions\/|design\/)?[^./][^/]*\.md$/.test(file)).sort()
  return ["README.md", ...written.map((file) => `docs/${file}`)]
}

export const readPage = (page: string): string => readFileSync(`${root}/${page}`, "utf8")
