/** Titles of the tests in a file, as far as its text tells. */
import { type Expression, Visitor } from "oxc-parser"
import type { Source } from "../Source.ts"

const runners = new Set(["it", "test", "check"])

/** Whether the file has a test with this title. Pieces of a template that are computed may be anything. */
export const hasTest = (source: Source, title: string): boolean => {
  let isFound = false
  new Visitor({
    CallExpression: ({ callee, arguments: [first] }) => {
      if (first === undefined || !runners.has(rootOf(callee))) return
      if (first.type === "Literal" && first.value === title) isFound = true
      if (first.type === "TemplateLiteral" && patternOf(first.quasis.map(({ value }) => value.raw)).test(title)) {
        isFound = true
      }
    }
  }).visit(source.program)
  return isFound
}

const patternOf = (pieces: ReadonlyArray<string>): RegExp =>
  new RegExp(`^${pieces.map((piece) => piece.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join(".+")}$`)

/** The name that a call begins with: `it` of `it.effect(…)` and of `it.each([…])(…)`. */
const rootOf = (node: Expression): string => {
  if (node.type === "MemberExpression") return rootOf(node.object)
  if (node.type === "CallExpression") return rootOf(node.callee)
  return node.type === "Identifier" ? node.name : ""
}
