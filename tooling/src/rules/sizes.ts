/** Limits the length of files and functions. */
import { type Node, Visitor } from "oxc-parser"
import type { Finding } from "../Finding.ts"
import { linesOfFileMax, linesOfFunctionMax } from "../Layout.ts"
import type { Repository } from "../Repository.ts"
import type { Source } from "../Source.ts"

export const sizes = (repository: Repository): ReadonlyArray<Finding> =>
  [...repository.sources.values()].flatMap((source) => [...fileSize(source), ...functionSizes(source)])

/** Nobody edits generated files, and their length follows from the API. */
const generated = /\/generated\//

const fileSize = (source: Source): ReadonlyArray<Finding> => {
  if (generated.test(source.path)) return []
  const lines = source.text.replace(/\n$/, "").split("\n").length
  return lines <= linesOfFileMax
    ? []
    : [
        {
          file: source.path,
          line: linesOfFileMax + 1,
          rule: "file-size",
          message: `has ${lines} lines, more than ${linesOfFileMax}`
        }
      ]
}

/**
 * Counts a function's own lines. Lines of inner functions count only for these. So a service's layer or a `describe` block
 * may contain any number of members.
 */
const functionSizes = (source: Source): ReadonlyArray<Finding> => {
  const open: Array<{ readonly start: number; nested: number }> = []
  const findings: Array<Finding> = []
  const enter = (node: Node) => open.push({ start: source.lineOf(node.start), nested: 0 })
  const exit = (node: Node) => {
    const self = open.pop()
    if (self === undefined) return
    const total = source.lineOf(node.end) - self.start + 1
    const own = total - self.nested
    const outer = open.at(-1)
    // The first and last line of a nested function are also its owner's.
    if (outer !== undefined) outer.nested += Math.max(0, total - 2)
    if (own <= linesOfFunctionMax) return
    findings.push({
      file: source.path,
      line: self.start,
      rule: "function-size",
      message: `a function has ${own} lines of its own, more than ${linesOfFunctionMax}`
    })
  }
  new Visitor({
    FunctionDeclaration: enter,
    "FunctionDeclaration:exit": exit,
    FunctionExpression: enter,
    "FunctionExpression:exit": exit,
    ArrowFunctionExpression: enter,
    "ArrowFunctionExpression:exit": exit
  }).visit(source.program)
  return findings
}
