/** Parses the tables and numbered lists of a Markdown text, with their headings. */

export interface Block {
  readonly kind: "table" | "list"
  /** The preceding heading. */
  readonly heading: string
  /** Line of the heading row or of the first item, from 1. */
  readonly line: number
  /** Empty for a list. */
  readonly header: ReadonlyArray<string>
  readonly rows: ReadonlyArray<Row>
}

export interface Row {
  readonly line: number
  /** Markdown of each cell; an item of a list has one cell, with its lines joined by spaces. */
  readonly cells: ReadonlyArray<string>
}

export const blocksOf = (text: string): ReadonlyArray<Block> => {
  const blocks: Array<Block> = []
  let heading = ""
  let open: { kind: Block["kind"]; header: ReadonlyArray<string>; rows: Array<Row>; line: number } | null = null
  const close = () => {
    if (open !== null) blocks.push({ heading, ...open })
    open = null
  }
  text.split("\n").forEach((content, index) => {
    const line = index + 1
    const title = /^#{1,6} (.*)$/.exec(content)
    const item = /^\d+\. (.*)$/.exec(content)
    if (title !== null) {
      close()
      heading = title[1] ?? ""
    } else if (content.startsWith("|")) {
      if (open?.kind !== "table") {
        close()
        open = { kind: "table", header: cellsOf(content), rows: [], line }
      } else if (!/^\|[\s|:-]*-[\s|:-]*$/.test(content)) {
        open.rows.push({ line, cells: cellsOf(content) })
      }
    } else if (item !== null) {
      if (open?.kind !== "list") {
        close()
        open = { kind: "list", header: [], rows: [], line }
      }
      open.rows.push({ line, cells: [item[1] ?? ""] })
    } else if (open?.kind === "list" && /^ +\S/.test(content)) {
      const last = open.rows.pop()
      if (last !== undefined) open.rows.push({ ...last, cells: [`${last.cells.join("")} ${content.trim()}`] })
    } else {
      close()
    }
  })
  close()
  return blocks
}

/** A pipe after a backslash does not end a cell. */
const cellsOf = (line: string): ReadonlyArray<string> =>
  line
    .trim()
    .replace(/^\||\|$/g, "")
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim())
