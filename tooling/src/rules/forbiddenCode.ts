/** Escapes from the compiler, and reads of the world outside the edges. */
import { Visitor } from "oxc-parser"
import type { Finding } from "../Finding.ts"
import { edges, isDevelopment, isTest } from "../Layout.ts"
import type { Repository } from "../Repository.ts"
import type { Source } from "../Source.ts"

export const forbiddenCode = (repository: Repository): ReadonlyArray<Finding> =>
  [...repository.sources.values()].flatMap((source) => [
    ...compilerComments(source),
    ...casts(source),
    ...(isDevelopment(source.path) || edges.some((edge) => source.path.startsWith(edge)) ? [] : worldReads(source))
  ])

const found = (source: Source, node: { readonly start: number }, message: string): Finding => ({
  file: source.path,
  line: source.lineOf(node.start),
  rule: "forbidden-code",
  message
})

const compilerComments = (source: Source): ReadonlyArray<Finding> => {
  const pattern = isTest(source.path) ? /^\W*@ts-(ignore|nocheck)/ : /^\W*@ts-(ignore|nocheck|expect-error)/
  return source.comments
    .filter((comment) => pattern.test(comment.value))
    .map((comment) => found(source, comment, "silences the compiler by a comment"))
}

const casts = (source: Source): ReadonlyArray<Finding> => {
  const findings: Array<Finding> = []
  new Visitor({
    TSAnyKeyword: (node) => {
      findings.push(found(source, node, "any switches the compiler off; use unknown and check"))
    },
    TSAsExpression: (node) => {
      const inner = node.expression
      if (inner.type === "TSAsExpression" && inner.typeAnnotation.type === "TSUnknownKeyword") {
        findings.push(found(source, node, "a cast through unknown claims what nobody checked"))
      }
    }
  }).visit(source.program)
  return findings
}

const world: ReadonlyMap<string, string> = new Map([
  ["Date.now", "take the time from Clock"],
  ["Math.random", "take randomness from effect/crypto"],
  ["process.env", "take settings as options"]
])

const worldReads = (source: Source): ReadonlyArray<Finding> => {
  const findings: Array<Finding> = []
  new Visitor({
    MemberExpression: (node) => {
      if (node.computed || node.object.type !== "Identifier" || node.property.type !== "Identifier") return
      const name = `${node.object.name}.${node.property.name}`
      const advice = world.get(name)
      if (advice !== undefined) findings.push(found(source, node, `${name} outside the edges: ${advice}`))
    }
  }).visit(source.program)
  return findings
}
