/** MIME types as in the standard "MIME Sniffing": parsed, and written in their canonical form. */

export interface MimeType {
  /** `type/subtype`, in lower case. */
  readonly essence: string
  readonly parameters: ReadonlyMap<string, string>
}

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const quotable = /^[\t\x20-\x7e\x80-\xff]*$/
const trim = (text: string): string => text.replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, "")

/** Reads a quoted string whose quote is at `start`. Returns its value and the position after it. */
const readQuoted = (text: string, start: number): readonly [value: string, end: number] => {
  let value = ""
  let at = start + 1
  for (; at < text.length && text[at] !== '"'; at++) {
    if (text[at] === "\\" && at + 1 < text.length) {
      at++
    }
    value += text[at]
  }
  return [value, at + 1]
}

/** Parses a MIME type; null if it is invalid. Invalid parameters are left out. */
export const parseMimeType = (given: string): MimeType | null => {
  const text = trim(given)
  const semicolon = text.indexOf(";")
  const essence = semicolon < 0 ? text : text.slice(0, semicolon)
  const slash = essence.indexOf("/")
  const type = essence.slice(0, Math.max(slash, 0))
  const subtype = trimEnd(essence.slice(slash + 1))
  if (slash < 0 || !token.test(type) || !token.test(subtype)) {
    return null
  }
  const parameters = new Map<string, string>()
  let at = semicolon < 0 ? text.length : semicolon
  while (at < text.length) {
    // `at` is at a semicolon.
    const [name, value, end] = readParameter(text, at + 1)
    at = end
    if (value !== null && token.test(name) && quotable.test(value) && !parameters.has(name)) {
      parameters.set(name, value)
    }
  }
  return { essence: `${type}/${subtype}`.toLowerCase(), parameters }
}

const trimEnd = (text: string): string => text.replace(/[\t\n\r ]+$/, "")

/** Reads a parameter. Returns its name, its value or null, and the position of the next semicolon. */
const readParameter = (text: string, start: number): readonly [name: string, value: string | null, end: number] => {
  const length = text.slice(start).search(/[;=]|$/)
  const name = text
    .slice(start, start + length)
    .replace(/^[\t\n\r ]+/, "")
    .toLowerCase()
  const at = start + length
  if (text[at] !== "=") {
    return [name, null, at]
  }
  if (text[at + 1] === '"') {
    const [value, end] = readQuoted(text, at + 1)
    const next = text.indexOf(";", end)
    return [name, value, next < 0 ? text.length : next]
  }
  const next = text.indexOf(";", at)
  const end = next < 0 ? text.length : next
  const value = trimEnd(text.slice(at + 1, end))
  return [name, value === "" ? null : value, end]
}

export const writeMimeType = ({ essence, parameters }: MimeType): string =>
  essence +
  [...parameters]
    .map(([name, value]) => {
      const isQuoted = value === "" || !token.test(value)
      return `;${name}=${isQuoted ? `"${value.replace(/["\\]/g, "\\$&")}"` : value}`
    })
    .join("")

/** Returns the canonical form; an empty text if the type is invalid. */
export const canonicalMimeType = (text: string): string => {
  const type = parseMimeType(text)
  return type === null ? "" : writeMimeType(type)
}

/** Extracts the MIME type of a Content-Type header, whose last valid value counts; null if no value is valid. */
export const extractMimeType = (header: string): MimeType | null => {
  let charset: string | null = null
  let found: MimeType | null = null
  for (const value of splitHeader(header)) {
    const type = parseMimeType(value)
    if (type === null || type.essence === "*/*") {
      continue
    }
    if (type.essence !== found?.essence) {
      charset = type.parameters.get("charset") ?? null
    } else if (!type.parameters.has("charset") && charset !== null) {
      found = { ...type, parameters: new Map([...type.parameters, ["charset", charset]]) }
      continue
    }
    found = type
  }
  return found
}

/** Splits the values of a header at commas outside of quotes. */
const splitHeader = (header: string): ReadonlyArray<string> => {
  const values: Array<string> = []
  let start = 0
  for (let at = 0; at < header.length; at++) {
    if (header[at] === '"') {
      at = readQuoted(header, at)[1] - 1
    } else if (header[at] === ",") {
      values.push(header.slice(start, at))
      start = at + 1
    }
  }
  return [...values, header.slice(start)]
}
