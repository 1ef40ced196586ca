/** Parses the specification: each row of its tables and each item of its numbered lists, with the tests that it cites. */
import { type Citation, citationsIn } from "./Citation.ts"
import { type Block, blocksOf, type Row } from "./Markdown.ts"

export const specificationFile = "docs/specification.md"

export interface Requirement {
  readonly line: number
  /** Text that messages name the row by, such as `GET /status` or `rule 2 of "Authentication"`. */
  readonly name: string
  /** True if the row describes an endpoint, whose name is its method and path. */
  readonly isEndpoint: boolean
  /** Null if a citation has the wrong form. */
  readonly tests: ReadonlyArray<Citation> | null
}

export interface Specification {
  readonly requirements: ReadonlyArray<Requirement>
  /** Lines of tables whose last column is not `Test`. */
  readonly untested: ReadonlyArray<number>
}

export const parseSpecification = (text: string): Specification => {
  const blocks = blocksOf(text)
  return {
    requirements: blocks.flatMap((block) => block.rows.map((row, index) => toRequirement(block, row, index))),
    untested: blocks.filter(({ kind, header }) => kind === "table" && header.at(-1) !== "Test").map(({ line }) => line)
  }
}

const toRequirement = (block: Block, { line, cells }: Row, index: number): Requirement => ({
  line,
  name: block.kind === "list" ? `rule ${index + 1} of "${block.heading}"` : (cells[0] ?? "").replaceAll("`", ""),
  isEndpoint: block.header[0] === "Endpoint",
  tests: citationsIn(specificationFile, cells.at(-1) ?? "")
})
