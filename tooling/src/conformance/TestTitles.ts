/** Finds test titles that are literals or templates in a source file. */
import { type Expression, Visitor } from "oxc-parser"
import type { Source } from "../Source.ts"

const runners = new Set(["it", "test", "check"])

/** True if the file has a test with this title. An expression in a template matches any text. */
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

/** Returns the leftmost name of a call: `it` for `it.effect(…)` and for `it.each([…])(…)`. */
const rootOf = (node: Expression): string => {
  if (node.type === "MemberExpression") return rootOf(node.object)
  if (node.type === "CallExpression") return rootOf(node.callee)
  return node.type === "Identifier" ? node.name : ""
}
