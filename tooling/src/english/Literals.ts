/** The prose among string and template literals, and the titles of tests. */
import { type CallExpression, type Expression, type Program, type TemplateLiteral, Visitor } from "oxc-parser"
import { blank, maskCode, oneWord, type Passage } from "./Passage.ts"

const testFunctions = new Set(["it", "test", "check", "describe", "suite"])

export const passagesInLiterals = (text: string, program: Program): ReadonlyArray<Passage> => {
  const passages: Array<Passage> = []
  const titles = new Set<number>()
  const skipped = new Set<number>()
  const add = (start: number, end: number, prose: string) => {
    if (skipped.has(start)) return
    const title = titles.has(start)
    if (title || isProse(prose)) {
      passages.push({ kind: title ? "title" : "string", start: start + 1, text: prose, opens: title })
    }
    skipped.add(end)
  }
  new Visitor({
    CallExpression: (node) => {
      const [title] = node.arguments
      if (title !== undefined && testFunctions.has(calledName(node))) titles.add(title.start)
    },
    ImportDeclaration: (node) => void skipped.add(node.source.start),
    ExportAllDeclaration: (node) => void skipped.add(node.source.start),
    TaggedTemplateExpression: (node) => void skipped.add(node.quasi.start),
    Literal: (node) => {
      if (typeof node.value === "string") add(node.start, node.end, unescaped(text.slice(node.start + 1, node.end - 1)))
    },
    TemplateLiteral: (node) => add(node.start, node.end, templateProse(text, node))
  }).visit(program)
  return passages
}

/** The leftmost name of `it`, `it.effect`, `test.each(...)` or `describe.concurrent.for(...)`. */
const calledName = (node: CallExpression): string => {
  let callee: Expression = node.callee
  for (;;) {
    if (callee.type === "Identifier") return callee.name
    if (callee.type === "MemberExpression") callee = callee.object
    else if (callee.type === "CallExpression") callee = callee.callee
    else if (callee.type === "TaggedTemplateExpression") callee = callee.tag
    else return ""
  }
}

/** The template without its expressions, which count as one word each. */
const templateProse = (text: string, node: TemplateLiteral): string => {
  let prose = ""
  let at = node.start + 1
  for (const { start, end } of node.expressions) {
    const opened = text.lastIndexOf("${", start)
    const closed = text.indexOf("}", end) + 1
    prose += unescaped(text.slice(at, opened)) + oneWord(text.slice(opened, closed))
    at = closed
  }
  return prose + unescaped(text.slice(at, node.end - 1))
}

const unescaped = (raw: string): string => maskCode(raw.replace(/\\./g, blank))

const sql =
  /\b(?:SELECT|INSERT|UPDATE|DELETE|FROM|WHERE|VALUES|RETURNING|CREATE|ALTER|JOIN|ORDER BY|PRAGMA|INDEX|TABLE|ON CONFLICT)\b/g
const code =
  /=>|[;{]\s*\n|\b(?:const|let|var|import|export|return|await|function|new)\s+[\w{(*]+.*[=({;]|<\/\w|^\s*[{[<#@.]|\w\(\)|===/

/** True if a literal reads like a sentence or a part of one: words with spaces, neither SQL nor code. */
const isProse = (text: string): boolean =>
  /[A-Za-z]{2,},?\s+[A-Za-z]/.test(text) && (text.match(sql) ?? []).length < 2 && !code.test(text)
