/** A test that does not run says why on the line above. */
import { type Expression, Visitor } from "oxc-parser"
import type { Finding } from "../Finding.ts"
import { isTest } from "../Layout.ts"
import type { Repository } from "../Repository.ts"
import type { Source } from "../Source.ts"

export const idleTests = (repository: Repository): ReadonlyArray<Finding> =>
  [...repository.sources.values()].filter(({ path }) => isTest(path)).flatMap(idleIn)

const idle = new Set(["skip", "only", "todo", "skipIf", "runIf", "fails"])
const runners = new Set(["it", "test", "describe", "suite"])

const idleIn = (source: Source): ReadonlyArray<Finding> => {
  const reasons = new Set(source.comments.map((comment) => source.lineOf(comment.end)))
  const findings: Array<Finding> = []
  new Visitor({
    MemberExpression: (node) => {
      if (node.computed || node.property.type !== "Identifier" || !idle.has(node.property.name)) return
      const line = source.lineOf(node.property.start)
      if (!runners.has(rootOf(node)) || reasons.has(line - 1)) return
      findings.push({
        file: source.path,
        line,
        rule: "idle-test",
        message: `.${node.property.name} without a comment on the line above that says why`
      })
    }
  }).visit(source.program)
  return findings
}

const rootOf = (node: Expression): string => {
  if (node.type === "MemberExpression") return rootOf(node.object)
  if (node.type === "CallExpression") return rootOf(node.callee)
  return node.type === "Identifier" ? node.name : ""
}
