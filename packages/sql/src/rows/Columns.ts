/** Columns of a table, with SQL types that are derived from the schema of the record that they store. */
import { Record as Records, type Schema, SchemaAST } from "effect"
import type { ColumnType, Value } from "../Dialect.ts"

/** Columns by name, in their order. */
export type Columns<Name extends string> = Readonly<Record<Name, ColumnType>>

/** A field with values that a column stores as they are. */
type PlainField = Schema.Top & { readonly Type: Value }

/** Returns a column for each field of a record. Throws if a field is neither text nor a number. */
export const deriveColumns = <Name extends string>(fields: Readonly<Record<Name, PlainField>>): Columns<Name> =>
  Records.map(fields, ({ ast }, name) => {
    const type = toColumnType(ast)
    if (type === undefined) throw new Error(`No column type stores the field ${name}: encode it as text or as a number`)
    return type
  })

/** Returns the type for values of the schema; null values need none. Undefined if no type stores all of them. */
const toColumnType = (ast: SchemaAST.AST): ColumnType | undefined => {
  if (SchemaAST.isString(ast)) return "text"
  if (SchemaAST.isNumber(ast)) return ast.checks?.some(isIntegerCheck) === true ? "integer" : "real"
  if (SchemaAST.isLiteral(ast)) return typeof ast.literal === "string" ? "text" : undefined
  if (!SchemaAST.isUnion(ast)) return undefined
  const types = new Set(ast.types.filter((member) => !SchemaAST.isNull(member)).map(toColumnType))
  const [type] = types
  return types.size === 1 ? type : undefined
}

const isIntegerCheck = ({ annotations }: SchemaAST.Check<never>): boolean =>
  annotations?.representation?.id === "effect/schema/isInt"
