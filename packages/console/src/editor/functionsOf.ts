/** Finds the exported functions of a source, with the names by which they are called. */
import { typescriptLanguage } from "@codemirror/lang-javascript"
import type { SyntaxNode } from "@lezer/common"

/** Values that may be functions. */
const callable = new Set(["ArrowFunction", "FunctionExpression", "CallExpression"])

/** Returns the names as `ns/var`: functions of an exported object have its name as `ns`, the others `main`. */
export const functionsOf = (source: string): ReadonlyArray<string> => {
  const names: Array<string> = []
  const textOf = ({ from, to }: SyntaxNode) => source.slice(from, to)
  for (const statement of typescriptLanguage.parser.parse(source).topNode.getChildren("ExportDeclaration")) {
    const declared = statement.getChild("FunctionDeclaration")?.getChild("VariableDefinition")
    if (declared) names.push(`main/${textOf(declared)}`)
    const variable = statement.getChild("VariableDeclaration")
    const definition = variable?.getChild("VariableDefinition")
    const value = variable?.getChild("Equals")?.nextSibling
    if (!definition || !value) continue
    if (callable.has(value.name)) names.push(`main/${textOf(definition)}`)
    for (const property of value.name === "ObjectExpression" ? value.getChildren("Property") : []) {
      const key = property.getChild("PropertyDefinition")
      if (key) names.push(`${textOf(definition)}/${textOf(key)}`)
    }
  }
  return names
}
