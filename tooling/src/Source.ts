/** A TypeScript file, parsed once for all rules. */
import { type Comment, type Program, parseSync, Visitor } from "oxc-parser"
import type { Finding } from "./Finding.ts"

export interface Import {
  readonly specifier: string
  readonly line: number
  /** `import type` and `export type` statements, which leave nothing behind at run time. */
  readonly typeOnly: boolean
}

export interface Source {
  readonly path: string
  readonly text: string
  readonly program: Program
  readonly comments: ReadonlyArray<Comment>
  readonly imports: ReadonlyArray<Import>
  /** The line, from 1, of an offset into `text`. */
  readonly lineOf: (offset: number) => number
}

/** The parsed file, or the first place where it is not TypeScript. */
export const parseSource = (path: string, text: string): Source | Finding => {
  const parsed = parseSync(path, text, { sourceType: "module", lang: languageOf(path) })
  const lineOf = lineCounter(text)
  const [error] = parsed.errors
  if (error !== undefined) {
    return { file: path, line: lineOf(error.labels[0]?.start ?? 0), rule: "syntax", message: error.message }
  }

  const imports: Array<Import> = []
  const add = (specifier: string, statement: { readonly start: number }, typeOnly: boolean) =>
    imports.push({ specifier, line: lineOf(statement.start), typeOnly })

  new Visitor({
    ImportDeclaration: (node) => add(node.source.value, node, node.importKind === "type"),
    ExportNamedDeclaration: (node) => {
      if (node.source !== null) add(node.source.value, node, node.exportKind === "type")
    },
    ExportAllDeclaration: (node) => add(node.source.value, node, node.exportKind === "type"),
    TSImportType: (node) => add(node.source.value, node, true),
    ImportExpression: (node) => {
      if (node.source.type === "Literal" && typeof node.source.value === "string") add(node.source.value, node, false)
    }
  }).visit(parsed.program)

  return { path, text, program: parsed.program, comments: parsed.comments, imports, lineOf }
}

const languageOf = (path: string): "dts" | "tsx" | "ts" =>
  path.endsWith(".d.ts") ? "dts" : path.endsWith(".tsx") ? "tsx" : "ts"

const lineCounter = (text: string): ((offset: number) => number) => {
  const starts = [0]
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1)
  return (offset) => {
    let low = 0
    let high = starts.length
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if ((starts[middle] ?? 0) <= offset) low = middle
      else high = middle
    }
    return low + 1
  }
}
