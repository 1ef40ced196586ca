/** TypeScript types of schemas. */
import { Schema, SchemaAST } from "effect"
import { GuestJson } from "../src/runtime/svc/GuestFace.ts"

const guestJson = Schema.toEncoded(GuestJson).ast

/** Returns the type of the JSON that a schema decodes. */
export const encodedType = (schema: Schema.Top): string => typeOf(Schema.toEncoded(schema).ast)

/** Returns the type of the values that a schema decodes to. */
export const decodedType = (schema: Schema.Top): string => typeOf(Schema.toType(schema).ast)

/** Returns the interface of a struct; `ast` is that of either side. */
export const interfaceOf = (name: string, ast: SchemaAST.AST): string => {
  if (ast._tag !== "Objects") throw new Error(`${name} is not a struct`)
  return `export interface ${name} {\n${fieldsOf(ast, true).join("\n")}\n}`
}

const typeOf = (ast: SchemaAST.AST): string => {
  if (ast === guestJson) return "unknown"
  switch (ast._tag) {
    case "String":
    case "Number":
    case "Boolean":
    case "Null":
    case "Void":
      return ast._tag.toLowerCase()
    case "Literal":
      return JSON.stringify(ast.literal)
    case "Union":
      return ast.types.map(typeOf).join(" | ")
    case "Arrays": {
      const [rest] = ast.rest
      if (rest === undefined || ast.elements.length > 0) throw new Error("Tuples have no type here")
      return `ReadonlyArray<${typeOf(rest)}>`
    }
    case "Objects": {
      const [index] = ast.indexSignatures
      if (index !== undefined) return `Readonly<Record<string, ${typeOf(index.type)}>>`
      return ast.propertySignatures.length === 0 ? "object" : `{ ${fieldsOf(ast, false).join("; ")} }`
    }
    default:
      throw new Error(`A schema of ${ast._tag} has no type here`)
  }
}

const fieldsOf = (ast: SchemaAST.Objects, withDocs: boolean): ReadonlyArray<string> =>
  ast.propertySignatures.map(({ name, type }) => {
    const description = withDocs ? SchemaAST.resolveDescription(type) : undefined
    const comment = description === undefined ? "" : `/** ${description} */\n`
    return `${comment}readonly ${String(name)}${SchemaAST.isOptional(type) ? "?" : ""}: ${typeOf(type)}`
  })
