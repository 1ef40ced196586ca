/** Schemas in words, and tables in Markdown. */
import { type JsonSchema, nameIn, resolved } from "./OpenApi.ts"

export const table = (header: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const line = (cells: ReadonlyArray<string>): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|").replaceAll("\n", " ")).join(" | ")} |`
  return [line(header), `|${header.map(() => "---|").join("")}`, ...rows.map(line)].join("\n")
}

/** Link to the description of a record. */
const linkTo = (name: string): string => `[${name}](records.md#${name.toLowerCase()})`

/** True if the page of records lists the schema. Envelopes and errors are described elsewhere. */
export const isRecord = (name: string): boolean =>
  !/(Response(_\d+)?|List|Error)$/.test(name) && !["Meta", "Pagination", "FileListMeta"].includes(name)

const bounds = ({ minimum, maximum }: JsonSchema): string => {
  const low = minimum === undefined || minimum < -1e15 ? "" : `from ${minimum}`
  const high = maximum === undefined || maximum > 1e15 ? "" : `to ${maximum}`
  return [low, high].filter((bound) => bound !== "").join(" ")
}

const scalar = (schema: JsonSchema): string => {
  const kind = schema.type === "string" ? (schema.format ?? "string") : (schema.type ?? "any JSON")
  const known = { "date-time": "timestamp", uuid: "uuid", binary: "bytes" }[kind] ?? kind
  return [known, bounds(schema)].filter((part) => part !== "").join(" ")
}

/** The type of a field, short. */
export const typeOf = (schema: JsonSchema): string => {
  const name = nameIn(schema)
  if (name !== null) return isRecord(name) ? linkTo(name) : name
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${value}\``).join(", ")
  if (schema.anyOf !== undefined) {
    const numbers = schema.anyOf.filter(({ enum: values }) => values?.includes("NaN") !== true)
    return [...new Set(numbers.map(typeOf))].join(" or ")
  }
  if (schema.type === "array") return `list of ${typeOf(schema.items ?? {})}`
  if (schema.additionalProperties !== undefined) return `map to ${typeOf(schema.additionalProperties)}`
  return scalar(schema)
}

const descriptionOf = (schema: JsonSchema): string => {
  const said = schema.description ?? ""
  return schema.default === undefined ? said : `${said}${said === "" ? "" : "; "}${String(schema.default)} by default`
}

/** A row for each field, and for the fields of fields. */
const fieldRows = (schema: JsonSchema, before = ""): ReadonlyArray<ReadonlyArray<string>> =>
  Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const need = schema.required?.includes(name) === true ? "" : "may be absent"
    const about = [descriptionOf(field), need].filter((part) => part !== "").join("; ")
    const row = [`\`${before}${name}\``, typeOf(field), about]
    return [row, ...fieldRows(field.contentSchema ?? field, `${before}${name}.`)]
  })

/** A schema's fields as a table; kinds of a union one after the other. */
export const fieldsOf = (schema: JsonSchema): string => {
  const whole = resolved(schema)
  if (whole.anyOf !== undefined) return whole.anyOf.map(fieldsOf).join("\n\nor\n\n")
  const rows = fieldRows(whole)
  return rows.length === 0 ? `${typeOf(whole)}.` : table(["Field", "Type", ""], rows)
}
