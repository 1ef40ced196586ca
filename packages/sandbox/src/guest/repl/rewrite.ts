/**
 * Rewrites one input of a session: names that it declares at its top level become globals, and its last expression its
 * value.
 *
 * Lines of the input stay lines of the script, one line lower.
 */
import {
  type AnyNode,
  type ClassDeclaration,
  type ExportDefaultDeclaration,
  type ExportNamedDeclaration,
  type FunctionDeclaration,
  type ImportDeclaration,
  type ModuleDeclaration,
  type Program,
  parse,
  type Statement,
  type VariableDeclaration
} from "acorn"
import { collectNames, countLines, type Edit, isNode, renderEdits } from "./edits.ts"

export interface Rewritten {
  /** Script whose value is an async function of the session's helpers. */
  readonly script: string
  /** Scripts that assign hoisted functions to their names, which run first. */
  readonly functions: ReadonlyArray<string>
  /** Names that the input declares. */
  readonly names: ReadonlyArray<string>
  /** Names to which the input assigns without a declaration. */
  readonly assigned: ReadonlyArray<string>
}

/** Name of the parameter with the helpers of the session. */
const helpers = "weft$"
const strict = '"use strict";'

const parseOptions = {
  ecmaVersion: 2025,
  sourceType: "module",
  allowAwaitOutsideFunction: true,
  allowReturnOutsideFunction: true
} as const

/** Rewrites an input of JavaScript. Throws a `SyntaxError` with the position of the fault. */
export const rewrite = (source: string): Rewritten => new Rewriting(source).rewrite()

class Rewriting {
  readonly #source: string
  readonly #program: Program
  readonly #edits: Array<Edit> = []
  readonly #hoisted: Array<FunctionDeclaration> = []
  readonly #names = new Set<string>()
  readonly #assigned = new Set<string>()

  constructor(source: string) {
    this.#source = source
    this.#program = parse(source, parseOptions)
  }

  rewrite(): Rewritten {
    const { body } = this.#program
    for (const [index, node] of body.entries()) {
      this.#statement(node, index === body.length - 1)
      this.#nested(node, false)
    }
    const functions = this.#hoisted.map((node) => this.#functionScript(node))
    for (const { start, end } of this.#hoisted) this.#replace(start, end, ";")
    const text = renderEdits(this.#source, this.#edits, 0, this.#source.length)
    return {
      script: `${strict}(async(${helpers})=>{\n${text}\n})`,
      functions,
      names: [...this.#names],
      assigned: [...this.#assigned].filter((name) => !this.#names.has(name))
    }
  }

  #statement(node: Statement | ModuleDeclaration, isLast: boolean): void {
    switch (node.type) {
      case "VariableDeclaration":
        this.#variables(node)
        return
      case "FunctionDeclaration":
        this.#names.add(node.id.name)
        this.#hoisted.push(node)
        return
      case "ClassDeclaration":
        this.#class(node.start, node)
        return
      case "ExpressionStatement":
        this.#assignments(node.expression)
        if (isLast) this.#value(node.start, node.end, node.expression)
        return
      case "ImportDeclaration":
        this.#import(node)
        return
      case "ExportAllDeclaration":
        this.#replace(node.start, node.end, `await ${helpers}.load(${JSON.stringify(node.source.value)});`)
        return
      case "ExportNamedDeclaration":
        this.#exported(node, isLast)
        return
      case "ExportDefaultDeclaration":
        this.#exportedDefault(node, isLast)
        return
    }
  }

  #exported(node: ExportNamedDeclaration, isLast: boolean): void {
    const { declaration, source } = node
    if (declaration !== null && declaration !== undefined) {
      this.#replace(node.start, declaration.start, "")
      this.#statement(declaration, isLast)
    } else if (source !== null && source !== undefined) {
      this.#replace(node.start, node.end, `await ${helpers}.load(${JSON.stringify(source.value)});`)
    } else {
      this.#replace(node.start, node.end, ";")
    }
  }

  #exportedDefault(node: ExportDefaultDeclaration, isLast: boolean): void {
    const { declaration } = node
    if (declaration.type === "FunctionDeclaration" && declaration.id !== null) {
      this.#replace(node.start, declaration.start, "")
      this.#names.add(declaration.id.name)
      this.#hoisted.push({ ...declaration, id: declaration.id })
    } else if (declaration.type === "ClassDeclaration" && declaration.id !== null) {
      this.#class(node.start, { ...declaration, id: declaration.id })
    } else {
      this.#replace(node.start, declaration.start, isLast ? "return (" : "void (")
      this.#replace(declaration.end, node.end, ");")
    }
  }

  #class(start: number, node: ClassDeclaration): void {
    const { name } = node.id
    this.#names.add(name)
    this.#replace(start, node.start, `void (${name}=`)
    this.#replace(node.end, node.end, ");")
  }

  /** Converts declarations to assignments. `void` keeps them from continuing the statement before them. */
  #variables(node: VariableDeclaration): void {
    const [first] = node.declarations
    if (first === undefined) return
    const names = node.declarations.flatMap(({ id }) => collectNames(id))
    for (const name of names) this.#names.add(name)
    this.#replace(node.start, first.start, "void (")
    for (const { id, init, start, end } of node.declarations) {
      if (init !== null && init !== undefined) {
        this.#replace(start, start, "(")
        this.#replace(end, end, ")")
      } else if (id.type === "Identifier") {
        // `var a` keeps a value that `a` has.
        this.#replace(start, end, node.kind === "var" ? id.name : `${id.name}=void 0`)
      }
    }
    const last = node.declarations.at(-1)?.end ?? node.end
    const constant = node.kind === "const" ? `,${helpers}.constant(${JSON.stringify(names)})` : ""
    this.#replace(last, node.end, `${constant});`)
  }

  #import(node: ImportDeclaration): void {
    const parts: Array<string> = []
    const names: Array<string> = []
    let target = ""
    for (const specifier of node.specifiers) {
      const { name } = specifier.local
      names.push(name)
      this.#names.add(name)
      if (specifier.type === "ImportNamespaceSpecifier") target = name
      else if (specifier.type === "ImportDefaultSpecifier") parts.push(`default:${name}`)
      else {
        const { imported } = specifier
        parts.push(`${JSON.stringify(imported.type === "Identifier" ? imported.name : imported.value)}:${name}`)
      }
    }
    const loaded = `await ${helpers}.load(${JSON.stringify(node.source.value)})`
    const whole = target === "" ? "" : `${target}=`
    const pattern = parts.length === 0 ? "" : `({${parts.join()}}=`
    const text = `void (${pattern}${whole}${loaded}${pattern === "" ? "" : ")"},${helpers}.constant(${JSON.stringify(names)}));`
    this.#replace(node.start, node.end, text)
  }

  #assignments(expression: AnyNode): void {
    let each = expression
    while (each.type === "AssignmentExpression" && each.operator === "=" && each.left.type === "Identifier") {
      this.#assigned.add(each.left.name)
      each = each.right
    }
  }

  #value(start: number, end: number, expression: AnyNode): void {
    this.#replace(start, expression.start, "return (")
    this.#replace(expression.end, end, ");")
  }

  /** Rewrites what is nested in a statement: `import()`, and `var` outside of functions. */
  #nested(node: AnyNode, isInFunction: boolean): void {
    if (node.type === "ImportExpression") this.#replace(node.start, node.start + "import".length, `${helpers}.load`)
    const isFunction = /Function|^StaticBlock$|^PropertyDefinition$/.test(node.type)
    for (const value of Object.values(node)) {
      for (const child of Array.isArray(value) ? value : [value]) {
        if (!isNode(child)) continue
        if (!isInFunction && !isFunction && child.type === "VariableDeclaration" && child.kind === "var")
          this.#nestedVar(node, child)
        this.#nested(child, isInFunction || isFunction)
      }
    }
  }

  #nestedVar(parent: AnyNode, node: VariableDeclaration): void {
    const isHead =
      (parent.type === "ForStatement" && parent.init === node) ||
      ((parent.type === "ForInStatement" || parent.type === "ForOfStatement") && parent.left === node)
    if (parent.type === "ExportNamedDeclaration") return
    if (!isHead) {
      this.#variables(node)
      return
    }
    for (const { id, init, start, end } of node.declarations) {
      for (const name of collectNames(id)) this.#names.add(name)
      if (init !== null && init !== undefined && id.type === "ObjectPattern") {
        this.#replace(start, start, "(")
        this.#replace(end, end, ")")
      }
    }
    this.#replace(node.start, node.declarations[0]?.start ?? node.end, "")
  }

  /** Returns a script that assigns the function to its name. Without a name of its own, it uses the global one. */
  #functionScript(node: FunctionDeclaration): string {
    const { id, start, end } = node
    const before = this.#source.slice(0, start)
    const line = countLines(before)
    const column = start - (before.lastIndexOf("\n") + 1)
    const prefix = `${id.name}=`
    const unnamed: Edit = { start: id.start, end: id.end, text: " ".repeat(id.name.length) }
    const inner = this.#edits.filter((edit) => edit.start > start && edit.end < end)
    const text = renderEdits(this.#source, [...inner, unnamed], start, end)
    return `${strict}\n${"\n".repeat(line)}${" ".repeat(Math.max(0, column - prefix.length))}${prefix}${text}`
  }

  /** Replaces a range. The lines of the range stay. */
  #replace(start: number, end: number, text: string): void {
    this.#edits.push({ start, end, text: text + "\n".repeat(countLines(this.#source.slice(start, end))) })
  }
}
