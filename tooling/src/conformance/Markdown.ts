/** The tables and numbered lists of a Markdown text, with the headings that they stand under. */

export interface Block {
  readonly kind: "table" | "list"
  /** The heading of the second level, and the last one of any level. */
  readonly section: string
  readonly heading: string
  /** Of the heading row or the first item; from 1. */
  readonly line: number
  /** Empty for a list. */
  readonly header: ReadonlyArray<string>
  readonly rows: ReadonlyArray<Row>
}

export interface Row {
  readonly line: number
  /** Text of the cells, code ticks taken off; the one cell of a list's item is its text. */
  readonly cells: ReadonlyArray<string>
}

const cellsOf = (line: string): ReadonlyArray<string> =>
  line
    .trim()
    .replace(/^\||\|$/g, "")
    .split("|")
    .map((cell) => cell.trim().replaceAll("`", ""))

export const blocksOf = (text: string): ReadonlyArray<Block> => {
  const blocks: Array<Block> = []
  let section = ""
  let heading = ""
  let open: { kind: Block["kind"]; header: ReadonlyArray<string>; rows: Array<Row>; line: number } | null = null
  const close = () => {
    if (open !== null) blocks.push({ section, heading, ...open })
    open = null
  }
  text.split("\n").forEach((content, index) => {
    const line = index + 1
    const title = /^(#{2,6}) (.*)$/.exec(content)
    const item = /^\d+\. (.*)$/.exec(content)
    if (title !== null) {
      close()
      heading = title[2] ?? ""
      if (title[1] === "##") section = heading
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
    } else {
      close()
    }
  })
  close()
  return blocks
}
