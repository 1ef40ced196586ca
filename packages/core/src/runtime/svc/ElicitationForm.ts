/**
 * Forms that functions ask the user of an MCP client to complete: flat objects of primitive fields, as the protocol
 * defines them. They have no patterns, so checking an answer takes linear time.
 */
import { Schema } from "effect"

/** Maximum fields of a form, and maximum choices of a field. */
const fieldsMax = 64
const choicesMax = 256

const label = {
  title: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.String)
}

const Choices = Schema.Array(Schema.String).check(Schema.isMinLength(1), Schema.isMaxLength(choicesMax))
const TitledChoices = Schema.Array(Schema.Struct({ const: Schema.String, title: Schema.String })).check(
  Schema.isMinLength(1),
  Schema.isMaxLength(choicesMax)
)

const TextField = Schema.Struct({
  type: Schema.Literal("string"),
  ...label,
  minLength: Schema.optionalKey(Schema.Int),
  maxLength: Schema.optionalKey(Schema.Int),
  format: Schema.optionalKey(Schema.Literals(["email", "uri", "date", "date-time"])),
  enum: Schema.optionalKey(Choices),
  enumNames: Schema.optionalKey(Choices),
  oneOf: Schema.optionalKey(TitledChoices),
  default: Schema.optionalKey(Schema.String)
})

const NumberField = Schema.Struct({
  type: Schema.Literals(["number", "integer"]),
  ...label,
  minimum: Schema.optionalKey(Schema.Finite),
  maximum: Schema.optionalKey(Schema.Finite),
  default: Schema.optionalKey(Schema.Finite)
})

const BooleanField = Schema.Struct({
  type: Schema.Literal("boolean"),
  ...label,
  default: Schema.optionalKey(Schema.Boolean)
})

const ChoicesField = Schema.Struct({
  type: Schema.Literal("array"),
  ...label,
  minItems: Schema.optionalKey(Schema.Int),
  maxItems: Schema.optionalKey(Schema.Int),
  items: Schema.Struct({
    type: Schema.optionalKey(Schema.Literal("string")),
    enum: Schema.optionalKey(Choices),
    anyOf: Schema.optionalKey(TitledChoices)
  }),
  default: Schema.optionalKey(Schema.Array(Schema.String))
})

const Field = Schema.Union([TextField, NumberField, BooleanField, ChoicesField])
type Field = typeof Field.Type

export const ElicitationForm = Schema.Struct({
  type: Schema.Literal("object"),
  properties: Schema.Record(Schema.String, Field).check(
    Schema.makeFilter((fields) => Object.keys(fields).length <= fieldsMax, {
      expected: `at most ${fieldsMax} fields`
    })
  ),
  required: Schema.optionalKey(Schema.Array(Schema.String).check(Schema.isMaxLength(fieldsMax)))
})
export type ElicitationForm = typeof ElicitationForm.Type

export const ElicitedValue = Schema.Union([
  Schema.String,
  Schema.Finite,
  Schema.Boolean,
  Schema.Array(Schema.String).check(Schema.isMaxLength(choicesMax))
])
export type ElicitedValue = typeof ElicitedValue.Type

/** Returns what is wrong with the answer to a form, or null. */
export const findFormFault = (
  { properties, required = [] }: ElicitationForm,
  content: Readonly<Record<string, ElicitedValue>>
): string | null => {
  const missing = required.find((name) => !Object.hasOwn(content, name))
  if (missing !== undefined) return `${JSON.stringify(missing)} is missing`
  for (const [name, value] of Object.entries(content)) {
    const field = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (field === undefined) return `${JSON.stringify(name.slice(0, 64))} is not a field of the form`
    if (!accepts(field, value)) return `${JSON.stringify(name)} does not match its field`
  }
  return null
}

const accepts = (field: Field, value: ElicitedValue): boolean => {
  switch (field.type) {
    case "string":
      return typeof value === "string" && acceptsText(field, value)
    case "boolean":
      return typeof value === "boolean"
    case "array":
      return (
        typeof value === "object" &&
        isWithin(value.length, field.minItems, field.maxItems) &&
        value.every((item) => isChoice(item, field.items.enum, field.items.anyOf))
      )
    default:
      return (
        typeof value === "number" &&
        (field.type === "number" || Number.isInteger(value)) &&
        isWithin(value, field.minimum, field.maximum)
      )
  }
}

const acceptsText = (field: typeof TextField.Type, value: string): boolean =>
  isWithin(value.length, field.minLength, field.maxLength) && isChoice(value, field.enum, field.oneOf)

const isWithin = (value: number, min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY): boolean =>
  value >= min && value <= max

const isChoice = (
  value: string,
  choices: ReadonlyArray<string> | undefined,
  titled: ReadonlyArray<{ readonly const: string }> | undefined
): boolean =>
  (choices === undefined || choices.includes(value)) &&
  (titled === undefined || titled.some((choice) => choice.const === value))
