/** What `docs/conformance.md` says: the test of each row of the specification, or that it is planned. */
import { blocksOf } from "./Markdown.ts"

export const conformanceFile = "docs/conformance.md"

export interface TestName {
  readonly file: string
  readonly title: string
}

export interface Evidence {
  readonly id: string
  readonly line: number
  /** Null for a row that belongs to a later part of the product. */
  readonly tests: ReadonlyArray<TestName> | null
  /** What stands in the column of tests and is no name of one. */
  readonly unreadable: string | null
}

const header = ["Row", "Specification", "Test"]

/** Rows of the tables with the columns Row, Specification and Test. */
export const evidenceIn = (text: string): ReadonlyArray<Evidence> =>
  blocksOf(text)
    .filter((block) => header.every((name, index) => block.header[index] === name))
    .flatMap(({ rows }) => rows)
    .map(({ line, cells: [id = "", , test = ""] }) => {
      if (test === "planned") return { id, line, tests: null, unreadable: null }
      const tests: Array<TestName> = []
      for (const name of test.split("<br>")) {
        const [file = "", title = "", ...rest] = name.split(" › ")
        if (title === "" || rest.length > 0) return { id, line, tests: [], unreadable: name }
        tests.push({ file: file.trim(), title: title.trim() })
      }
      return { id, line, tests, unreadable: null }
    })
